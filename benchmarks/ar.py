"""Compute time of the autoregression lesson against statsmodels and plain PyTorch.

Replication: 500 AR(1) paths of 1000 values, simulated and fitted together by
`seqviz.compute.ar_fitting`, against a Python loop over statsmodels' `AutoReg` on the same paths.
Every estimate is compared; the benchmark fails if two differ by more than 1e-8. (`AutoReg` also
computes standard errors, which the figure of the sampling distribution does not need; that is part
of the speedup.)

Training: the textbook's run (1,000 values of an AR(1), `nn.RNN(1, 32)`, 100 epochs of Adam) as the
plain PyTorch loop of the textbook, and as the page runs it: through the job queue, with a thread
that polls the progress every half second.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: one core, as in a shared classroom

import statistics
import threading
import time

import numpy as np

from benchmarks.report import Report, medians, options
from seqviz.compute.ar_fitting import fit_paths, replicate_paths

PHI, N, REPLICATIONS, SEED = 0.8, 1000, 500, 1
RUNS, EPOCHS = 5, 100
TOLERANCE = 1e-8
POLL_SECONDS = 0.5


def replication(report: Report) -> float:
    """Simulate and fit all paths at once and one by one; return the speedup of the fit."""
    paths = replicate_paths(PHI, N, REPLICATIONS, seed=SEED)
    difference = float(np.abs(fit_paths(paths)[0] - _fit_one_by_one(paths)).max())
    if not difference < TOLERANCE:
        raise SystemExit(f"The estimates differ by {difference:.1e}, more than {TOLERANCE}.")
    simulate, simulate_loop, fit, fit_loop = medians(
        RUNS,
        lambda: replicate_paths(PHI, N, REPLICATIONS, seed=SEED),
        _simulate_one_by_one,
        lambda: fit_paths(paths),
        lambda: _fit_one_by_one(paths),
    )
    print(f"{REPLICATIONS} replications of AR(1), phi = {PHI}, n = {N}; median of {RUNS} runs")
    for label, ours, loop in (
        ("simulate", simulate, simulate_loop),
        ("fit the same paths", fit, fit_loop),
        ("simulate and fit", simulate + fit, simulate_loop + fit_loop),
    ):
        report.row(label, ms=1e3 * ours, one_by_one_ms=1e3 * loop, ratio=loop / ours)
    print(f"largest difference of two estimates: {difference:.1e}")
    return fit_loop / fit


def _simulate_one_by_one() -> None:
    """Simulate as statsmodels does: one path at a time, with scipy's filter."""
    from statsmodels.tsa.arima_process import arma_generate_sample

    random = np.random.RandomState(SEED)
    for _ in range(REPLICATIONS):
        arma_generate_sample([1.0, -PHI], [1.0], N, distrvs=random.normal)


def _fit_one_by_one(paths: np.ndarray) -> np.ndarray:
    from statsmodels.tsa.ar_model import AutoReg

    return np.array([AutoReg(path, 1, trend="n").fit().params[0] for path in paths])


def training(report: Report) -> float:
    """Train alternately in both ways on one thread; return the time ratio to plain PyTorch.

    One warm-up of each comes first.
    """
    import torch  # imported only after the replications were timed

    torch.set_num_threads(1)
    pairs = [_pair(seed) for seed in range(RUNS + 1)][1:]
    bare, ours = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
    print(f"textbook run, {EPOCHS} epochs, seconds")
    report.row("training", bare_loop=bare, job_queue=ours, ratio=ours / bare)
    return ours / bare


def _pair(seed: int) -> tuple[float, float]:
    values = replicate_paths(PHI, N, 2, seed=seed)[0]
    bare_seconds, bare_mse = _bare(values, seed)
    ours_seconds, ours_mse = _ours(values, seed)
    if not np.isclose(bare_mse, ours_mse, rtol=1e-4):  # beyond float32 rounding
        raise RuntimeError(f"The two loops trained different networks: {bare_mse}, {ours_mse}.")
    return bare_seconds, ours_seconds


def _bare(values: np.ndarray, seed: int) -> tuple[float, float]:
    """Train as in the textbook, with the predictions that its figure shows."""
    import torch
    from torch import nn

    started = time.perf_counter()
    torch.manual_seed(seed)
    rnn, head = nn.RNN(1, 32, batch_first=True), nn.Linear(32, 1)
    series = torch.tensor(values, dtype=torch.float32)
    inputs, targets = series[:-1].view(1, -1, 1), series[1:].view(1, -1, 1)
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=0.001)
    for _ in range(EPOCHS):
        hidden, _state = rnn(inputs)
        loss = criterion(head(hidden), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        mse = criterion(head(rnn(inputs)[0]), targets).item()
    return time.perf_counter() - started, mse


def _ours(values: np.ndarray, seed: int) -> tuple[float, float]:
    """Run from the press of the button to the result, with a fresh queue that has no results."""
    from seqviz.compute.ar_fitting.network_settings import NetworkSettings
    from seqviz.compute.ar_fitting.networks import fit_network
    from seqviz.jobs import JobQueue

    jobs, ended = JobQueue(), threading.Event()
    started = time.perf_counter()
    settings = NetworkSettings(seed=seed, epochs=EPOCHS)
    job = jobs.submit(fit_network, values, settings, owner="page")

    def poll() -> None:
        while not ended.wait(POLL_SECONDS):
            job.heartbeat("page")
            _seen = (job.state, job.position, job.fraction, job.trail)

    poller = threading.Thread(target=poll, daemon=True)
    poller.start()
    job.wait()
    seconds = time.perf_counter() - started
    ended.set()
    poller.join()
    jobs.close()
    return seconds, job.result.train_mse


def main() -> None:
    options(__doc__)
    report = Report("ar")
    report.values["replications_speedup"] = round(replication(report), 1)
    report.values["training_overhead"] = round(training(report), 3)
    report.finish()


if __name__ == "__main__":
    main()
