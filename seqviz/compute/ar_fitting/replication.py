"""The same AR(1) experiment many times over: how an estimator of phi, and its interval, behave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, nan, sqrt
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from seqviz.compute.ar_fitting.correlation import shuffled
from seqviz.compute.ar_fitting.estimation import Method, fit
from seqviz.compute.ar_fitting.process import Noise, drawn_noise, read_only, simulate
from seqviz.core.errors import UserError
from seqviz.core.units import TwoDigits
from seqviz.stats.intervals import NORMAL_95, student_t_95
from seqviz.stats.proportions import Proportion, proportion

_HALVINGS = 52  # of (-1, 1): what is left is a rounding error
_ROUNDS = 40  # of mean and coefficient in turn; each leaves about 1/n of the error
_STEP = 1e-4  # of a central difference of the score


@dataclass(frozen=True)
class Replications:
    """Estimates of phi from independent paths of one AR(1) process.

    estimates: phi-hat of each path by `method`, shape (replication,). holds: whether its 95%
    interval holds phi. n: values per path. phi: of the series that are fitted; 0 when shuffled.
    mean_bias: mean of the estimates minus phi; standard_error_of_bias: its Monte Carlo error.
    theory_bias: -2 phi / n without an intercept, -(1 + 3 phi) / n with one, to order 1/n; by
        Yule-Walker phi / n more; nan when |phi| >= 1, and of shuffled paths without an intercept:
        they keep the mean that the dependence gave them, and it passes for a phi above 0.
    standard_deviation: of the estimates; theory_sd: sqrt((1 - phi^2) / n), nan as theory_bias.
    """

    estimates: Float[np.ndarray, "replication"]
    holds: Bool[np.ndarray, "replication"]
    method: Method
    n: int
    phi: float
    mean_bias: TwoDigits
    standard_error_of_bias: float
    theory_bias: TwoDigits
    standard_deviation: float
    theory_sd: float

    @property
    def coverage(self) -> Proportion:
        """Of the intervals, how many hold the truth."""
        return proportion(self.holds)


def replicate(
    phi: float,
    n: int,
    replications: int = 500,
    sigma: float = 1.0,
    seed: int = 1,
    intercept: bool = False,
    method: Method = "ols",
    noise: Noise = "gaussian",
    df: float = 5.0,
    shuffle: bool = False,
) -> Replications:
    """Simulate AR(1) paths and estimate phi in each, all together.

    phi: coefficient, unit and explosive values allowed. n: values per path, at least 4.
    replications: number of paths, at least 2. intercept: whether one is estimated (the process has
    mean 0 in any case). method: as of `fit`, coefficients and intervals the same. sigma, seed,
    noise, df, shuffle: as in `replicate_paths`.

    Theory: bias to order 1/n of least squares and maximum likelihood (Marriott & Pope 1954; Kendall
    1954), and their asymptotic standard deviation (Mann & Wald 1943). Yule-Walker divides by one
    square more, which takes another phi / n away.
    Raises ValueError when an argument is out of range or an explosive path overflows.
    """
    paths = replicate_paths(phi, n, replications, sigma, seed, noise, df, shuffle)
    truth = 0.0 if shuffle else phi
    estimates, half_width = fit_paths(paths, intercept, method)
    spread = float(estimates.std(ddof=1))
    bias, deviation = in_theory(phi, n, intercept, method, shuffle)
    return Replications(
        estimates=read_only(estimates),
        holds=read_only(np.abs(estimates - truth) <= half_width),
        method=method,
        n=n,
        phi=truth,
        mean_bias=float(estimates.mean()) - truth,
        standard_error_of_bias=spread / float(np.sqrt(replications)),
        theory_bias=bias,
        standard_deviation=spread,
        theory_sd=deviation,
    )


def in_theory(
    phi: float, n: int, intercept: bool = False, method: Method = "ols", shuffle: bool = False
) -> tuple[float, float]:
    """Bias of an estimate of phi to order 1/n, and its standard deviation; see `Replications`."""
    truth = 0.0 if shuffle else phi
    if abs(truth) >= 1.0 or (shuffle and not intercept):
        return nan, nan
    squares = 3.0 if intercept else 2.0
    bias = -(float(intercept) + (squares + (method == "yule_walker")) * truth) / n
    return bias, sqrt((1.0 - truth**2) / n)


def estimate_each(
    seeds: Sequence[int],
    phi: float,
    intercept: bool = False,
    method: Method = "ols",
    shuffle: bool = False,
    **rendered: Any,
) -> Float[np.ndarray, "seed"]:
    """phi-hat of an AR(1) in the series of each seed: what `simulate` and `fit` give there.

    shuffle: the series is `shuffled` with the same seed. rendered: n, sigma, burn_in, noise, df of
    `simulate`. Raises ValueError as these do.
    """
    results = []
    for seed in seeds:
        values = simulate((phi,), seed=seed, **rendered).values
        values = shuffled(values, seed) if shuffle else values
        results.append(fit(values, 1, method, intercept).first)
    return read_only(np.array(results))


def replicate_paths(
    phi: float,
    n: int,
    replications: int = 500,
    sigma: float = 1.0,
    seed: int = 1,
    noise: Noise = "gaussian",
    df: float = 5.0,
    shuffle: bool = False,
) -> Float[np.ndarray, "replication time"]:
    """Independent paths of x_t = phi x_{t-1} + eps_t, shape (replication, time).

    sigma: standard deviation of eps_t; noise, df: its distribution, as of `simulate`. seed: of
    numpy's RandomState; a longer n continues the same paths. shuffle: each path in random order, so
    that nothing depends on anything.

    A path starts in its stationary distribution when |phi| < 1, and at 0 otherwise: with Gaussian
    noise x_0 ~ N(0, sigma^2 / (1 - phi^2)), with other noise after as many steps as leave less than
    1e-8 of the start. Raises ValueError when an argument is out of range or a path overflows.
    """
    if n < 4 or replications < 2 or not sigma > 0.0:
        raise ValueError("Replications need n >= 4, 2 paths or more and sigma > 0.")
    gaussian, stationary = noise == "gaussian", abs(phi) < 1.0
    before = ceil(log(1e-8) / log(abs(phi))) if stationary and phi and not gaussian else 0
    # One row per time: every step of the recursion reads and writes contiguous memory.
    paths = sigma * drawn_noise(noise, (before + n, replications), seed, df)
    if gaussian or not stationary:
        paths[0] *= 1.0 / np.sqrt(1.0 - phi**2) if stationary else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for time in range(1, len(paths)):
            paths[time] += phi * paths[time - 1]
    # The estimate needs squares; sums of squares up to 1e300 stay finite.
    if not np.abs(paths[-1]).max() < 1e145:
        raise UserError(
            "explodes", "The process explodes: choose fewer values or a phi closer to 1."
        )
    retained = paths[before:].T
    return np.random.default_rng(seed).permuted(retained, axis=1) if shuffle else retained


def fit_paths(
    paths: Float[np.ndarray, "replication time"], intercept: bool = False, method: Method = "ols"
) -> tuple[Float[np.ndarray, "replication"], Float[np.ndarray, "replication"]]:
    """phi-hat of every path by a method of `fit`, and half the width of its 95% interval."""
    if method == "exact_ml":
        return _exact(paths, intercept)
    if method == "yule_walker":
        centered = paths - paths.mean(axis=1, keepdims=True) if intercept else paths
        square = np.einsum("rt,rt->r", centered, centered)
        phi = np.einsum("rt,rt->r", centered[:, :-1], centered[:, 1:]) / square
        # sigma^2 / (n gamma_0) with sigma^2 = gamma_0 (1 - phi^2)
        return phi, NORMAL_95 * np.sqrt((1.0 - phi**2) / paths.shape[1])
    past, now = paths[:, :-1], paths[:, 1:]
    if intercept:
        past = past - past.mean(axis=1, keepdims=True)
        now = now - now.mean(axis=1, keepdims=True)
    square = np.einsum("rt,rt->r", past, past)
    phi = np.einsum("rt,rt->r", past, now) / square
    # Of the residuals themselves: a difference of squares would lose those of an explosive path.
    residual = now - phi[:, None] * past
    nobs = now.shape[1]
    degrees = nobs - 1 - int(intercept)
    divisor, quantile = (degrees, student_t_95(degrees)) if method == "ols" else (nobs, NORMAL_95)
    variance = np.einsum("rt,rt->r", residual, residual) / divisor
    return phi, quantile * np.sqrt(variance / square)


def _exact(
    paths: Float[np.ndarray, "replication time"], intercept: bool
) -> tuple[Float[np.ndarray, "replication"], Float[np.ndarray, "replication"]]:
    """Exact maximum likelihood of an AR(1) in every path (Beach & MacKinnon 1978).

    The score of phi, sigma concentrated out, has one zero in (-1, 1), found by halving; the mean
    that belongs to a phi is known, so both are found in turn. The observed information is the slope
    of the score, the mean following.
    """
    n = paths.shape[1]

    def mean(phi: np.ndarray) -> np.ndarray:
        if not intercept:
            return np.zeros_like(phi)
        ends, inner = paths[:, 0] + paths[:, -1], paths[:, 1:-1].sum(axis=1)
        return np.asarray((ends + (1 - phi) * inner) / (2 + (n - 2) * (1 - phi)))

    def sums(level: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = paths - level[:, None]
        inside = np.einsum("rt,rt->r", x[:, 1:-1], x[:, 1:-1])
        product = np.einsum("rt,rt->r", x[:, 1:], x[:, :-1])
        return inside + x[:, 0] ** 2 + x[:, -1] ** 2, product, inside

    def score(phi: np.ndarray, sums: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
        full, product, inside = sums  # S(phi) = whole - 2 phi product + phi^2 inside
        square = full - 2 * phi * product + phi**2 * inside
        return np.asarray(n * (product - phi * inside) / square - phi / (1 - phi**2))

    phi = np.zeros(len(paths))
    for _ in range(_ROUNDS if intercept else 1):
        before, parts = phi, sums(mean(phi))
        low, high = np.full_like(phi, -1.0), np.ones_like(phi)
        for _ in range(_HALVINGS):
            phi = (low + high) / 2
            rising = score(phi, parts) > 0
            low, high = np.where(rising, phi, low), np.where(rising, high, phi)
        if np.abs(phi - before).max() < 1e-12:
            break
    step = np.minimum(_STEP, (1 - np.abs(phi)) / 2)
    slope = [score(at, sums(mean(at))) for at in (phi + step, phi - step)]
    information = np.maximum((slope[1] - slope[0]) / (2 * step), np.finfo(float).tiny)
    return phi, NORMAL_95 / np.sqrt(information)
