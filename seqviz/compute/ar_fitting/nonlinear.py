"""Nonlinear autoregressions of order 1: a threshold, and the logistic map with noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from seqviz.compute.ar_fitting.estimation import OneStep
from seqviz.compute.ar_fitting.least_squares import lag_matrix, regress
from seqviz.compute.ar_fitting.process import read_only

Kind = Literal["threshold", "logistic"]
RULE_KINDS: tuple[Kind, ...] = get_args(Kind)
LARGEST_R = 3.7  # up to here the noise below cannot push the logistic map out of (0, 1)
_REACH = 0.05  # half-width of the uniform noise of the logistic map


@dataclass(frozen=True)
class Rule:
    """Rule x_t = f(x_{t-1}) + eps_t.

    "threshold" (Tong & Lim 1980): f(x) = below x for x <= 0 and above x for x > 0, Gaussian noise
    with standard deviation 1; a line where both slopes are equal. Stationary for slopes below 1
    whose product is below 1 (Petruccelli & Woolford 1984).

    "logistic" (May 1976): f(x) = r x (1 - x) in (0, 1), uniform noise on +-0.05, which for r <= 3.7
    cannot leave the interval.

    Attributes:
        below: slope for x <= 0.
        above: slope for x > 0.
        r: growth rate of the logistic map.

    Raises:
        ValueError: for a rule whose series could run away.
    """

    kind: Kind = "threshold"
    below: float = -0.8
    above: float = 0.8
    r: float = LARGEST_R

    def __post_init__(self) -> None:
        slopes = self.below, self.above
        if self.kind == "threshold" and not (max(slopes) < 1 and np.prod(slopes) < 1):
            raise ValueError(f"A threshold rule with slopes {slopes} is not stationary.")
        if self.kind == "logistic" and not 1 <= self.r <= LARGEST_R:
            raise ValueError(f"r must lie between 1 and {LARGEST_R}, not {self.r}.")

    @property
    def noise_variance(self) -> float:
        """Variance of eps_t: the mean squared error of the rule itself."""
        return _REACH**2 / 3 if self.kind == "logistic" else 1.0

    def next(self, x: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
        """Return f(x), the best forecast one step ahead."""
        if self.kind == "logistic":
            return np.asarray(self.r * x * (1.0 - x))
        return np.where(x > 0, self.above * x, self.below * x)


@dataclass(frozen=True)
class BentPath:
    """Simulated path of a nonlinear rule.

    Attributes:
        values: x_t, shape (time,).
        noise: eps_t, shape (time,); eps_0 is 0.
    """

    values: Float[np.ndarray, "time"]
    noise: Float[np.ndarray, "time"]
    rule: Rule


def simulate_rule(rule: Rule, n: int = 1000, seed: int = 1) -> BentPath:
    """Simulate a path of the rule, from 0 (threshold) or 0.5 (logistic).

    Args:
        rule: the rule.
        n: number of values.
        seed: seed of the RandomState that draws the noise.
    """
    random = np.random.RandomState(seed)
    logistic = rule.kind == "logistic"
    noise = random.uniform(-_REACH, _REACH, n) if logistic else random.normal(size=n)
    noise[0] = 0.0
    values = np.full(n, 0.5 if logistic else 0.0)
    for time in range(1, n):
        values[time] = rule.next(values[time - 1 : time])[0] + noise[time]
    return BentPath(read_only(values), read_only(noise), rule)


def straight(
    x: Float[np.ndarray, "*any"], intercept: float, slope: float
) -> Float[np.ndarray, "*any"]:
    """Return the values of a line.

    Args:
        x: the arguments.
        intercept: its intercept.
        slope: its slope.
    """
    return np.asarray(intercept + slope * x)


def against_rule(path: BentPath, train: float) -> tuple[OneStep, tuple[float, float]]:
    """Compare the best line with intercept and the rule itself on a series, one step ahead.

    Args:
        path: a path of the rule.
        train: share of the targets, from the start, to which the line is fitted.

    Returns:
        The errors of both; intercept and slope of the line.
    """
    rows, targets = lag_matrix(path.values, 1, intercept=True)[:-1], path.values[1:]
    train_end = round(train * targets.size)
    intercept, slope = regress(rows[:train_end], targets[:train_end]).parameters
    line = (targets - intercept - slope * path.values[:-1]) ** 2
    minimum = float(line[:train_end].mean())
    one_step = OneStep(read_only(line), read_only(path.noise[1:] ** 2), minimum)
    return one_step, (float(intercept), float(slope))
