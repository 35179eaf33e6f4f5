"""Quantiles of 95% intervals; `seqviz.stats.estimate` makes the intervals."""

from __future__ import annotations

from math import comb
from typing import Any

NORMAL_95 = 1.959963984540054
"""Half-width of a two-sided 95% interval of the standard normal distribution."""


def student_t_95(degrees_of_freedom: Any) -> Any:
    """Half-width of a two-sided 95% interval of Student's t distribution; of an array, of each."""
    from scipy.special import stdtrit  # 0.2 s of import, needed only for an interval

    return stdtrit(degrees_of_freedom, 0.975)


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
