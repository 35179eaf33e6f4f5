"""The same AR(1) experiment many times over: the sampling distribution of phi-hat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.autoregression.process import read_only
from seqviz.refusal import Refusal
from seqviz.units import Rough


@dataclass(frozen=True)
class Replications:
    """Estimates of phi from independent paths of one AR(1) process.

    estimates: OLS phi-hat, shape (replication,). n: values per path.
    mean_bias: mean of the estimates minus phi; standard_error_of_bias: its Monte Carlo error.
    theory_bias: -2 phi / n without an intercept, -(1 + 3 phi) / n with one, to order 1/n; nan when
        |phi| >= 1.
    standard_deviation: of the estimates; theory_sd: sqrt((1 - phi^2) / n), nan when |phi| >= 1.
    """

    estimates: Float[np.ndarray, "replication"]
    n: int
    phi: float
    mean_bias: Rough
    standard_error_of_bias: float
    theory_bias: Rough
    standard_deviation: float
    theory_sd: float


def replicate(
    phi: float,
    n: int,
    replications: int = 500,
    sigma: float = 1.0,
    seed: int = 1,
    intercept: bool = False,
) -> Replications:
    """Simulate AR(1) paths and estimate phi by OLS in each, all together.

    phi: coefficient, unit and explosive values allowed. n: values per path, at least 4.
    replications: number of paths, at least 2. sigma, seed: as in `replicate_paths`.
    intercept: whether the regression has one (the process has mean 0 in any case).

    Theory: bias to order 1/n of the OLS estimate (Marriott & Pope 1954; Kendall 1954), and its
    asymptotic standard deviation (Mann & Wald 1943).
    Raises ValueError when an argument is out of range or an explosive path overflows.
    """
    estimates = fit_paths(replicate_paths(phi, n, replications, sigma, seed), intercept)
    spread = float(estimates.std(ddof=1))
    stationary = abs(phi) < 1.0
    bias = -(1.0 + 3.0 * phi) / n if intercept else -2.0 * phi / n
    return Replications(
        estimates=read_only(estimates),
        n=n,
        phi=phi,
        mean_bias=float(estimates.mean()) - phi,
        standard_error_of_bias=spread / float(np.sqrt(replications)),
        theory_bias=bias if stationary else float("nan"),
        standard_deviation=spread,
        theory_sd=float(np.sqrt((1.0 - phi**2) / n)) if stationary else float("nan"),
    )


def replicate_paths(
    phi: float, n: int, replications: int = 500, sigma: float = 1.0, seed: int = 1
) -> Float[np.ndarray, "replication time"]:
    """Independent paths of x_t = phi x_{t-1} + eps_t, shape (replication, time).

    sigma: standard deviation of eps_t. seed: of numpy's RandomState; a longer n continues the same
    paths.

    A path starts in its stationary distribution, x_0 ~ N(0, sigma^2 / (1 - phi^2)), when |phi| < 1,
    and at 0 otherwise. Raises ValueError when an argument is out of range or a path overflows.
    """
    if n < 4 or replications < 2 or not sigma > 0.0:
        raise ValueError("Replications need n >= 4, 2 paths or more and sigma > 0.")
    # One row per time: every step of the recursion reads and writes contiguous memory.
    paths = np.random.RandomState(seed).normal(scale=sigma, size=(n, replications))
    paths[0] *= 1.0 / np.sqrt(1.0 - phi**2) if abs(phi) < 1.0 else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for time in range(1, len(paths)):
            paths[time] += phi * paths[time - 1]
    # The estimate needs squares; sums of squares up to 1e300 stay finite.
    if not np.abs(paths[-1]).max() < 1e145:
        raise Refusal("explodes", "The process explodes: choose fewer values or a phi closer to 1.")
    return paths.T


def fit_paths(
    paths: Float[np.ndarray, "replication time"], intercept: bool = False
) -> Float[np.ndarray, "replication"]:
    """OLS phi-hat of x_t on x_{t-1} in every path; shape (replication,)."""
    past, now = paths[:, :-1], paths[:, 1:]
    if intercept:
        past = past - past.mean(axis=1, keepdims=True)
        now = now - now.mean(axis=1, keepdims=True)
    return np.einsum("rt,rt->r", past, now) / np.einsum("rt,rt->r", past, past)
