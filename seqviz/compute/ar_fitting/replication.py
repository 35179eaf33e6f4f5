"""Replications of an AR(1) experiment: distribution and coverage of an estimator of phi."""

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

_HALVINGS = 52  # of (-1, 1), down to rounding error
_ROUNDS = 40  # of mean and coefficient in turn; each reduces the error to about 1/n of it
_STEP = 1e-4  # of a central difference of the score


@dataclass(frozen=True)
class Replications:
    """Estimates of phi from independent paths of one AR(1) process.

    Attributes:
        estimates: phi-hat of each path by `method`, shape (replication,).
        holds: True where the 95% interval of a path contains phi.
        n: values per path.
        phi: phi of the series that are fitted; 0 when shuffled.
        mean_bias: mean of the estimates minus phi.
        standard_error_of_bias: Monte Carlo error of `mean_bias`.
        theory_bias: -2 phi / n without an intercept, -(1 + 3 phi) / n with one, to order 1/n; by
            Yule-Walker minus another phi / n. It is nan when |phi| >= 1, and for shuffled paths
            without an intercept: they keep the mean that the dependence gave them, which passes for
            a phi above 0.
        standard_deviation: standard deviation of the estimates.
        theory_sd: sqrt((1 - phi^2) / n); nan as `theory_bias`.
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
        """Share of the intervals that contain the true value."""
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
    """Simulate AR(1) paths and estimate phi in all of them at once.

    The theoretical bias to order 1/n and the asymptotic standard deviation are those of least
    squares and maximum likelihood. Yule-Walker divides by one square more, which takes another phi
    / n away.

    Args:
        phi: coefficient; unit and explosive values are allowed.
        n: values per path, at least 4.
        replications: number of paths, at least 2.
        sigma: standard deviation of the noise.
        seed: as in `replicate_paths`.
        intercept: True to estimate one (the process has mean 0 in any case).
        method: as in `fit`, with the same coefficients and intervals.
        noise: as in `simulate`.
        df: as in `simulate`.
        shuffle: True to shuffle each path in time.

    Raises:
        ValueError: if an argument is out of range or an explosive path overflows.

    References:
        Marriott & Pope, 1954, and Kendall, 1954, for the bias; Mann & Wald, 1943, for the standard
            deviation.
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
    """Return the bias of an estimate of phi to order 1/n, and its asymptotic standard deviation.

    Args:
        phi: coefficient.
        n: values per path.
        intercept: True where one is estimated.
        method: as in `fit`.
        shuffle: True for shuffled paths; see `Replications`.
    """
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
    """Return phi-hat of an AR(1) in the series of each seed, as `simulate` and `fit` give it.

    Args:
        seeds: seeds of the series.
        phi: coefficient of the process.
        intercept: True to estimate one.
        method: as in `fit`.
        shuffle: True to fit the series `shuffled` with the same seed.
        **rendered: n, sigma, burn_in, noise, df of `simulate`.

    Raises:
        ValueError: as these do.
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
    """Simulate independent paths of x_t = phi x_{t-1} + eps_t, shape (replication, time).

    A path starts in its stationary distribution when |phi| < 1, and at 0 otherwise: with Gaussian
    noise x_0 ~ N(0, sigma^2 / (1 - phi^2)), with other noise after as many steps as leave less than
    1e-8 of the start.

    Args:
        phi: coefficient.
        n: values per path.
        replications: number of paths.
        sigma: standard deviation of eps_t.
        seed: seed of numpy's RandomState; a longer n continues the same paths.
        noise: distribution of eps_t, as in `simulate`.
        df: degrees of freedom of Student's t.
        shuffle: True to return each path in random order, without dependence.

    Raises:
        ValueError: if an argument is out of range or a path overflows.
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
    """Return phi-hat of every path and half the width of its 95% interval.

    Args:
        paths: the paths.
        intercept: True to estimate one.
        method: as in `fit`.
    """
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
    # From the residuals: a difference of squares would lose those of an explosive path.
    residual = now - phi[:, None] * past
    nobs = now.shape[1]
    degrees = nobs - 1 - int(intercept)
    divisor, quantile = (degrees, student_t_95(degrees)) if method == "ols" else (nobs, NORMAL_95)
    variance = np.einsum("rt,rt->r", residual, residual) / divisor
    return phi, quantile * np.sqrt(variance / square)


def _exact(
    paths: Float[np.ndarray, "replication time"], intercept: bool
) -> tuple[Float[np.ndarray, "replication"], Float[np.ndarray, "replication"]]:
    """Estimate the AR(1) of every path by exact maximum likelihood (Beach & MacKinnon 1978).

    The score of phi, with sigma concentrated out, has one zero in (-1, 1), found by bisection. The
    mean has a closed form given phi, so the two are found in turn. The observed information is the
    slope of the score with the mean following.
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
