"""95% intervals: quantiles, and the interval of a ratio of two sums."""

from __future__ import annotations

from math import comb

import numpy as np
from jaxtyping import Shaped

NORMAL_95 = 1.959963984540054
"""Half-width of a two-sided 95% interval of the standard normal distribution."""


def student_t_95(degrees_of_freedom: int) -> float:
    """Half-width of a two-sided 95% interval of Student's t distribution."""
    from scipy.special import stdtrit  # 0.2 s of import, needed only for an interval

    return float(stdtrit(degrees_of_freedom, 0.975))


def median_rank(n: int) -> int | None:
    """k, such that the k-th smallest and the k-th largest of n values hold the median between them.

    That is the median of what the values are independent draws of, whatever its distribution is:
    the number of values below it is binomial with 1/2, so the interval fails with probability
    2 P(B < k) at most, and k is the largest with which this is no more than 5%. The median of a
    distribution with steps is held at least as often. None for fewer than six values: even the
    smallest and the largest hold it less often. David and Nagaraja (2003), section 7.1.
    """
    below, k = 0, 0
    while 2 * (below + comb(n, k)) <= 0.05 * 2**n:
        below += comb(n, k)
        k += 1
    return k or None


def of_ratio(
    parts: Shaped[np.ndarray, "cases"], wholes: Shaped[np.ndarray, "cases"]
) -> tuple[float, float, float]:
    """The sum of the parts over that of the wholes, and the ends of its interval over the cases.

    Such as wrong letters over all letters, by sentence: the standard error is that of the
    linearization (Cochran, 1977, section 6.4). Cases without a whole do not count.
    """
    value, n = parts.sum() / wholes.sum(), int((wholes > 0).sum())
    left = parts - value * wholes
    half = NORMAL_95 * np.sqrt((left**2).sum() * n / max(n - 1, 1)) / wholes.sum()
    return float(value), float(value - half), float(value + half)
