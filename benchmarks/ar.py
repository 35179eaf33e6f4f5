"""How fast the autoregression lesson computes.

Replication: 500 AR(1) paths of 1000 values, simulated and fitted together by
`seqviz.compute.ar_fitting`, against a Python loop over statsmodels' `AutoReg` on the same
paths. Every estimate is compared; the benchmark fails when two differ by more than 1e-8. (A fit
by `AutoReg` also brings standard errors, which the picture of the sampling distribution does not
need; that is part of what is saved.)

Training: `benchmarks.ar_training`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: one core, as in a shared classroom

import json
import statistics
from dataclasses import dataclass

import numpy as np

from benchmarks.timing import timed
from seqviz.compute.ar_fitting import fit_paths, replicate_paths

PHI, N, REPLICATIONS, SEED = 0.8, 1000, 500, 1
RUNS = 5
TOLERANCE = 1e-8


@dataclass(frozen=True)
class ReplicationTimes:
    """Median seconds for all replications, and the largest difference of two estimates."""

    simulate_together: float
    simulate_one_by_one: float
    fit_together: float
    fit_one_by_one: float
    largest_difference: float

    @property
    def speedup(self) -> float:
        """Fitting the same given paths."""
        return self.fit_one_by_one / self.fit_together


def replication() -> ReplicationTimes:
    paths = replicate_paths(PHI, N, REPLICATIONS, seed=SEED)
    together, one_by_one = fit_paths(paths)[0], _fit_one_by_one(paths)
    difference = float(np.abs(together - one_by_one).max())
    if not difference < TOLERANCE:
        raise SystemExit(f"The estimates differ by {difference:.1e}, more than {TOLERANCE}.")
    # Alternating, so that a change of clock speed or load meets all of them.
    runs = [
        (
            timed(lambda: replicate_paths(PHI, N, REPLICATIONS, seed=SEED)),
            timed(_simulate_one_by_one),
            timed(lambda: fit_paths(paths)),
            timed(lambda: _fit_one_by_one(paths)),
        )
        for _ in range(RUNS)
    ]
    medians = (statistics.median(seconds) for seconds in zip(*runs, strict=True))
    simulate_together, simulate_one_by_one, fit_together, fit_one_by_one = medians
    return ReplicationTimes(
        simulate_together, simulate_one_by_one, fit_together, fit_one_by_one, difference
    )


def main() -> None:
    times = replication()
    print(f"{REPLICATIONS} replications of AR(1), phi = {PHI}, n = {N}; median of {RUNS} runs")
    print(f"{'':26}{'together':>12}{'one by one':>12}{'ratio':>9}")
    for label, together, one_by_one in (
        ("simulate", times.simulate_together, times.simulate_one_by_one),
        ("fit the same paths", times.fit_together, times.fit_one_by_one),
        (
            "simulate and fit",
            times.simulate_together + times.fit_together,
            times.simulate_one_by_one + times.fit_one_by_one,
        ),
    ):
        ratio = one_by_one / together
        print(f"{label:26}{together * 1e3:9.2f} ms{one_by_one * 1e3:9.1f} ms{ratio:9.0f}")
    print(f"largest difference of two estimates: {times.largest_difference:.1e}")

    from benchmarks.ar_training import training_overhead  # imports torch: not before the timing

    training = training_overhead()
    print(f"training overhead: {training.ratio:.3f}")
    line = {
        "name": "ar",
        "replications_speedup": round(times.speedup, 1),
        "training_overhead": round(training.ratio, 3),
    }
    print(json.dumps(line))


def _simulate_one_by_one() -> None:
    """Simulate as statsmodels does: one path at a time, with scipy's filter behind it."""
    from statsmodels.tsa.arima_process import arma_generate_sample

    random = np.random.RandomState(SEED)
    for _ in range(REPLICATIONS):
        arma_generate_sample([1.0, -PHI], [1.0], N, distrvs=random.normal)


def _fit_one_by_one(paths: np.ndarray) -> np.ndarray:
    from statsmodels.tsa.ar_model import AutoReg

    return np.array([AutoReg(path, 1, trend="n").fit().params[0] for path in paths])


if __name__ == "__main__":
    main()
