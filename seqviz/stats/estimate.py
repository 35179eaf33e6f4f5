"""Estimates with 95% intervals: `mean_ci`, differences, `share_ci` and `ratio_ci`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

import numpy as np
from jaxtyping import Float, Int, Shaped

from seqviz.core.units import Unit
from seqviz.stats.intervals import NORMAL_95, student_t_95

if TYPE_CHECKING:  # scalar or array; mypy cannot tell which from the use
    Number: TypeAlias = Any
    Count: TypeAlias = Any
else:
    Number = Float[np.ndarray, "*rows"] | float
    Count = Int[np.ndarray, "*rows"] | int
E = TypeVar("E", bound="Estimate")


@dataclass(frozen=True)
class Estimate:
    """Estimate from a sample with its 95% confidence interval; scalar or array.

    Attributes:
        mean: the estimate, in the unit of the values.
        low: lower end of the interval; nan where the sample is too small for one.
        high: upper end of the interval, likewise.
        n: sample size.
        source: sampled units, over which the interval generalizes: "sentences", "seeds", ...
    """

    mean: Number
    low: Number
    high: Number
    n: Count
    source: str = "cases"

    @property
    def ci(self) -> tuple[Number, Number]:
        """Ends of the interval."""
        return self.low, self.high

    @property
    def margin(self) -> Number:
        """Half of a symmetric interval."""
        return self.high - self.mean

    @property
    def is_significant(self) -> Any:
        """True where the interval excludes 0."""
        return (self.low > 0) | (self.high < 0)

    @property
    def verdict(self) -> Literal["more", "less", "null"]:
        """Side of 0 on which the interval of a scalar lies; "null" where it contains 0."""
        return "more" if self.low > 0 else "less" if self.high < 0 else "null"

    def __getitem__(self: E, index: Any) -> E:
        n = self.n[index] if np.ndim(self.n) else self.n
        mean, low, high = (_number(part[index]) for part in (self.mean, *self.ci))
        return replace(self, mean=mean, low=low, high=high, n=_number(n))

    def __rmul__(self: E, factor: float) -> E:
        """Return the estimate in another unit; the factor must be positive."""
        return replace(
            self, mean=factor * self.mean, low=factor * self.low, high=factor * self.high
        )

    def __abs__(self: E) -> E:
        """Return the scalar estimate with a positive mean, for sentences that say "less"."""
        if not self.mean < 0:
            return self
        return replace(self, mean=-self.mean, low=-self.high, high=-self.low)

    def clip(self: E, low: float, high: float) -> E:
        """Return the estimate with the ends of its interval clipped to the possible values.

        Args:
            low: smallest possible value.
            high: largest possible value.
        """
        lower, upper = (_number(np.clip(end, low, high)) for end in self.ci)
        return replace(self, low=lower, high=upper)


ShareEstimate = Annotated[Estimate, Unit("share", 1)]


def stack(estimates: Iterable[Estimate]) -> Estimate:
    """Return estimates of one source stacked along a new first axis."""
    items = tuple(estimates)
    mean, low, high, n = (
        np.array([getattr(item, name) for item in items]) for name in ("mean", "low", "high", "n")
    )
    return Estimate(mean, low, high, n, items[0].source)


def mean_ci(
    values: Shaped[np.ndarray, "..."], axis: int = 0, source: str = Estimate.source
) -> Estimate:
    """Return the mean along an axis with its Student's t interval.

    Args:
        values: independent cases along `axis`; nan is left out.
        axis: axis of the cases.
        source: what the cases are.

    Returns:
        Estimate over the other axes; its ends are nan where there are fewer than two cases.
    """
    n, mean, deviation = _moments(values, axis)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = student_t_95(np.maximum(n - 1, 1)) * deviation / np.sqrt(n)
    return _symmetric(mean, np.where(n > 1, half, np.nan), n, source)


def standard_error(values: Shaped[np.ndarray, "..."], axis: int = 0) -> Float[np.ndarray, "*shape"]:
    """Return the standard error of the mean along an axis.

    Args:
        values: independent cases along `axis`; nan is left out.
        axis: axis of the cases.
    """
    n, _, deviation = _moments(values, axis)
    return np.asarray(deviation / np.sqrt(n))


def paired_difference(
    a: Shaped[np.ndarray, "..."], b: Shaped[np.ndarray, "..."], source: str = Estimate.source
) -> Estimate:
    """Return the mean paired difference `a - b` with its Student's t interval.

    Args:
        a: cases along the first axis.
        b: the same cases under the other condition, in the same order.
        source: what the cases are.
    """
    return mean_ci(np.asarray(a, float) - np.asarray(b, float), source=source)


def crossed_difference(
    a: Shaped[np.ndarray, "x y"], b: Shaped[np.ndarray, "x y"], source: str = "rows and columns"
) -> Estimate:
    """Return the mean of `a - b` with an interval over both rows and columns as samples.

    The samples are crossed: each row occurs with each column. The squared standard error is that of
    the mean of the row means plus that of the mean of the column means, and the degrees of freedom
    are those of the smaller sample. The interval is conservative, as the variation of single
    entries enters both terms. With a single row or column it generalizes over the other axis only.

    Args:
        a: values [row, column].
        b: values under the other condition, same shape.
        source: what rows and columns are.

    References:
        Owen, 2007, The pigeonhole bootstrap.
    """
    each = np.asarray(a, float) - np.asarray(b, float)
    margins = [each.mean(axis) for axis in (0, 1) if each.shape[1 - axis] > 1]
    n = min((len(margin) for margin in margins), default=1)
    variance = sum(margin.var(ddof=1) / len(margin) for margin in margins)
    half = student_t_95(n - 1) * np.sqrt(variance) if n > 1 else np.nan
    return _symmetric(each.mean(), half, n, source)


def share_ci(share: Number, n: Count, source: str = Estimate.source) -> Estimate:
    """Return a share of n cases with its Wilson interval; nan where the share is nan or n is 0.

    Unlike the normal interval it stays within [0, 1] and keeps its coverage near 0 and 1.

    Args:
        share: observed share in [0, 1].
        n: number of cases.
        source: what the cases are.

    References:
        Wilson, 1927.
    """
    z, trials = NORMAL_95, np.maximum(n, 1)
    right = np.where(np.asarray(n) > 0, share, np.nan)
    middle = (right + z * z / (2 * trials)) / (1 + z * z / trials)
    spread = right * (1 - right) / trials + z * z / (4 * trials * trials)
    half = z * np.sqrt(spread) / (1 + z * z / trials)
    low, high = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
    cases = np.where(np.isnan(right), 0, n)
    return Estimate(_number(right), _number(low), _number(high), _number(cases), source)


def ratio_ci(
    parts: Shaped[np.ndarray, "cases"],
    wholes: Shaped[np.ndarray, "cases"],
    source: str = Estimate.source,
) -> Estimate:
    """Return the ratio of two sums over cases with its interval by linearization.

    An example is the character error rate: wrong characters over all characters, by sentence. The
    standard error is a large-sample approximation. Cases with a zero denominator are not counted in
    `n`; their numerators are still part of the ratio.

    Args:
        parts: numerator of each case.
        wholes: denominator of each case.
        source: what the cases are.

    References:
        Cochran, 1977, Sampling Techniques, section 6.4.
    """
    value, n = parts.sum() / wholes.sum(), int((wholes > 0).sum())
    rest = parts - value * wholes
    half = NORMAL_95 * np.sqrt((rest**2).sum() * n / max(n - 1, 1)) / wholes.sum()
    return _symmetric(value, half, n, source)


def _moments(values: Shaped[np.ndarray, "..."], axis: int) -> tuple[Any, Any, Any]:
    """Return count, mean and standard deviation along an axis, without nan."""
    each = np.asarray(values, float)
    there = ~np.isnan(each)
    n = there.sum(axis, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(there, each, 0.0).sum(axis, keepdims=True) / n
        squares = np.where(there, (each - mean) ** 2, 0.0).sum(axis, keepdims=True)
        deviation = np.sqrt(squares / (n - 1))
    return n.squeeze(axis), mean.squeeze(axis), deviation.squeeze(axis)


def _symmetric(mean: Number, half: Number, n: Any, source: str) -> Estimate:
    low, high = _number(mean - half), _number(mean + half)
    return Estimate(_number(mean), low, high, _number(n), source)


def _number(value: Any) -> Any:
    """Return an array without axes as a Python number."""
    array = np.asarray(value)
    return array if array.ndim else array.item()
