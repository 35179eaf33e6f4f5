"""AR(P) process: x_t = phi_1 x_{t-1} + ... + phi_P x_{t-P} + eps_t.

Partial autocorrelations parametrize the stationary processes one to one: each point of the open
cube (-1, 1)^P is one of them. Most functions here use this map, because it is exact at the border
of the stationary region, where roots are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, log, nan
from operator import mul
from typing import Literal

import numpy as np
from jaxtyping import Complex, Float

from seqviz.core.errors import UserError
from seqviz.core.units import Count

Coefficients = Sequence[float] | Float[np.ndarray, "order"]
"""phi_1 ... phi_P, in this order; empty for white noise."""

Noise = Literal["gaussian", "student_t", "laplace"]

LARGEST = 1e12
"""A simulated path is cut before it leaves this size: float64 still resolves the noise there."""


@dataclass(frozen=True)
class SimulatedPath:
    """Simulated path of an AR(P) process.

    Attributes:
        values: x_t, shape (time,), in the unit of sigma.
        innovations: eps_t, shape (time,); 0 at time 0 without a burn-in.
        coefficients: phi, shape (lag,).
        sigma: standard deviation of the innovations.
    """

    values: Float[np.ndarray, "time"]
    innovations: Float[np.ndarray, "time"]
    coefficients: Float[np.ndarray, "lag"]
    sigma: float


def coefficients_from_partial(partial: Sequence[float]) -> tuple[float, ...]:
    """Return phi_1 ... phi_P of the stationary AR(P) with the given partial autocorrelations.

    Args:
        partial: partial autocorrelations at lags 1 ... P, each strictly between -1 and 1.

    Raises:
        ValueError: if one of them is not inside (-1, 1).

    References:
        Barndorff-Nielsen & Schou, 1973, and Monahan, 1984: the Durbin-Levinson recursion as a
            one-to-one map onto the stationary region.
    """
    phi = np.empty(0)
    for value in partial:
        if not -1.0 < value < 1.0:
            raise ValueError(f"Partial autocorrelations must lie between -1 and 1, not {value}.")
        phi = np.append(phi - value * phi[::-1], value)
    return tuple(phi.tolist())


def partial_from_coefficients(coefficients: Coefficients) -> tuple[float, ...]:
    """Return the partial autocorrelations at lags 1 ... P of a stationary process.

    This is the inverse of `coefficients_from_partial`.

    Raises:
        ValueError: if the coefficients are not stationary.
    """
    phi = as_coefficients(coefficients)
    partial: list[float] = []
    while phi.size:
        last = float(phi[-1])
        if not -1.0 < last < 1.0:
            raise ValueError(
                f"The coefficients {_listed(coefficients)} are not those of a stationary process."
            )
        partial.append(last)
        phi = (phi[:-1] + last * phi[-2::-1]) / (1.0 - last * last)
    return tuple(reversed(partial))


def is_stationary(coefficients: Coefficients) -> bool:
    """Return True where all inverse roots lie strictly inside the unit circle.

    Decided by the step-down recursion, which is exact for a unit root such as phi = (0.5, 0.5).
    """
    try:
        partial_from_coefficients(coefficients)
    except ValueError:
        return False
    return True


def roots(coefficients: Coefficients) -> Complex[np.ndarray, "lag"]:
    """Return the roots z of z^P - phi_1 z^{P-1} - ... - phi_P, largest modulus first.

    These are the "inverse roots": inside the unit circle for a stationary process, whose response
    to a shock is a sum of z^t. (The roots of 1 - phi_1 z - ... - phi_P z^P, which some texts plot,
    are their reciprocals and lie outside.)
    """
    phi = as_coefficients(coefficients)
    result = np.roots(np.concatenate(([1.0], -phi))).astype(complex)
    return result[np.argsort(-np.abs(result), kind="stable")]


def largest_root(coefficients: Coefficients) -> float:
    """Return the largest modulus of the inverse roots, below 1 for a stationary process."""
    return float(np.abs(roots(coefficients)).max(initial=0.0))


def steps_remembered(coefficients: Coefficients, level: float = 0.05) -> Count:
    """Return the steps until the slowest part of the correlation, |z|^k, has fallen to `level`.

    Args:
        coefficients: phi_1 ... phi_P.
        level: share of the correlation that is left.

    Returns:
        A whole number; 0 where nothing is remembered, infinite from a unit root on.
    """
    largest = largest_root(coefficients)
    if largest >= 1.0:
        return inf
    return float(ceil(log(level) / log(largest))) if largest else 0.0


def long_run_mean(coefficients: Coefficients, intercept: float = 0.0) -> float:
    """Return the mean c / (1 - sum_i phi_i) to which forecasts converge.

    It is nan unless the process is stationary, also where the sum rounds to 1 and the largest root
    just below it.

    Args:
        coefficients: phi_1 ... phi_P.
        intercept: c.
    """
    left = 1.0 - float(as_coefficients(coefficients).sum())
    return intercept / left if left > 0 and is_stationary(coefficients) else nan


def psi_weights(coefficients: Coefficients, count: int) -> Float[np.ndarray, "step"]:
    """Return the weights of the MA(infinity) form x_t = sum_j psi_j eps_{t-j}, psi_0 = 1.

    psi_j is the response to a unit shock j steps later. It is defined for explosive processes too.

    Args:
        coefficients: phi_1 ... phi_P.
        count: number of weights.
    """
    phi = as_coefficients(coefficients)
    shock = np.zeros(count)
    shock[:1] = 1.0
    return np.array(_recursion(phi, shock.tolist()))


def stationary_variance(coefficients: Coefficients, sigma: float = 1.0) -> float:
    """Return the variance of the stationary process, sigma^2 / prod_k (1 - partial_k^2).

    This is the solution of the Yule-Walker equations gamma_0 = sum_i phi_i gamma_i + sigma^2 in the
    form in which the Durbin-Levinson recursion gives it.

    Args:
        coefficients: phi_1 ... phi_P.
        sigma: standard deviation of the innovations.

    Raises:
        ValueError: if the coefficients are not stationary.

    References:
        Brockwell & Davis, 1991, section 5.2.
    """
    partial = np.array(partial_from_coefficients(coefficients))
    return float(sigma**2 / np.prod(1.0 - partial**2))


def simulate(
    coefficients: Coefficients,
    sigma: float = 1.0,
    n: int = 500,
    burn_in: int = 0,
    seed: int = 1,
    noise: Noise = "gaussian",
    df: float = 5.0,
) -> SimulatedPath:
    """Simulate x_t = sum_i phi_i x_{t-i} + eps_t from an empty past.

    The very first value is 0 with innovation 0 (the convention x_0 = 0), so with burn_in = 0 the
    path starts at 0. An explosive path is cut before it reaches `LARGEST`, so it has fewer values.

    Args:
        coefficients: phi_1 ... phi_P; unit roots and explosive values are allowed.
        sigma: standard deviation of eps_t, whatever the noise.
        n: number of values returned.
        burn_in: number of values simulated and discarded before them.
        seed: seed of numpy's RandomState, from which eps_1, eps_2, ... are drawn in time order.
        noise: "gaussian", "student_t" or "laplace".
        df: degrees of freedom of Student's t, above 2.

    Raises:
        ValueError: for a sigma, n, burn_in, noise or df out of range, and if the path has left
            `LARGEST` before the burn-in ended.
    """
    phi = as_coefficients(coefficients)
    if not sigma > 0.0:
        raise ValueError(f"The noise standard deviation must be positive, not {sigma}.")
    if n < 1 or burn_in < 0:
        raise ValueError("A path needs at least one value and a burn-in of zero or more.")
    samples = drawn_noise(noise, n + burn_in - 1, seed, df)
    innovations = np.concatenate(([0.0], sigma * samples))
    values = np.array(_recursion(phi, innovations.tolist()))
    too_large = ~(np.abs(values) < LARGEST)
    end = int(np.argmax(too_large)) if too_large.any() else values.size
    if end <= burn_in:
        raise UserError(
            "burn_in_explodes",
            "The process explodes during the burn-in: choose a burn-in of 0.",
        )
    return SimulatedPath(
        values=read_only(values[burn_in:end]),
        innovations=read_only(innovations[burn_in:end]),
        coefficients=read_only(phi),
        sigma=float(sigma),
    )


def as_coefficients(coefficients: Coefficients) -> Float[np.ndarray, "lag"]:
    """Return the coefficients as a new float64 vector.

    Raises:
        ValueError: if one is not finite.
    """
    phi = np.array(coefficients, dtype=float).reshape(-1)
    if not np.isfinite(phi).all():
        raise ValueError("Every coefficient must be a finite number.")
    return phi


def read_only(array: np.ndarray) -> np.ndarray:
    """Make an array read-only and return it, because results are cached and shared by sessions."""
    array.setflags(write=False)
    return array


def drawn_noise(
    noise: Noise, shape: int | tuple[int, ...], seed: int, df: float
) -> Float[np.ndarray, "..."]:
    """Return independent draws with mean 0 and standard deviation 1, row after row of the shape.

    Args:
        noise: the distribution.
        shape: shape of the result.
        seed: seed of numpy's RandomState.
        df: degrees of freedom of Student's t.

    Raises:
        ValueError: for an unknown noise, and for Student's t without a variance.
    """
    random = np.random.RandomState(seed)
    if noise == "gaussian":
        return random.normal(size=shape)
    if noise == "laplace":
        return random.laplace(scale=np.sqrt(0.5), size=shape)
    if noise == "student_t":
        if not df > 2.0:
            raise ValueError(f"Student-t noise has a finite variance only for df > 2, not {df}.")
        return random.standard_t(df, size=shape) * np.sqrt((df - 2.0) / df)
    raise ValueError(f"Unknown noise: {noise}.")


def _recursion(phi: Float[np.ndarray, "lag"], shocks: list[float]) -> list[float]:
    """Return the values of the recursion driven by shocks, with zeros before time 0.

    Python floats are used, because a numpy call per step costs more than the sum, and
    scipy.signal.lfilter costs 0.9 s of import. Their multiplication and addition overflow to inf
    without an error.
    """
    if phi.size == 1:
        only = float(phi[0])
        previous = 0.0
        path = []
        for shock in shocks:
            previous = only * previous + shock
            path.append(previous)
        return path
    order = phi.size
    oldest_first = phi[::-1].tolist()
    values = [0.0] * order
    for time, shock in enumerate(shocks):
        values.append(sum(map(mul, oldest_first, values[time : time + order])) + shock)
    return values[order:]


def _listed(coefficients: Coefficients) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in coefficients) + ")"
