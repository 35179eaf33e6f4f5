"""Quantiles for 95% intervals; `seqviz.stats.estimate` builds the intervals."""

from __future__ import annotations

from math import comb
from typing import Any

NORMAL_95 = 1.959963984540054
"""Half-width of the two-sided 95% interval of the standard normal distribution."""


def student_t_95(degrees_of_freedom: Any) -> Any:
    """Return the half-width of a two-sided 95% interval of Student's t, elementwise."""
    from scipy.special import stdtrit  # imported here: it takes 0.2 s

    return stdtrit(degrees_of_freedom, 0.975)


def median_rank(n: int) -> int | None:
    """Return the rank k of the distribution-free 95% interval of the median.

    The k-th smallest and the k-th largest of n independent values enclose the median of their
    distribution, whatever its shape. The number B of values below the median is binomial with
    probability 1/2, so the interval misses the median with probability 2 P(B < k); k is the largest
    rank for which this is at most 5%. For discrete distributions the coverage is at least as high.

    Args:
        n: number of values.

    Returns:
        The rank from 1, or None for fewer than six values: even their range, from smallest to
        largest, encloses the median with less than 95% probability.

    References:
        David and Nagaraja, 2003, Order Statistics, section 7.1.
    """
    below, k = 0, 0
    while 2 * (below + comb(n, k)) <= 0.05 * 2**n:
        below += comb(n, k)
        k += 1
    return k or None
