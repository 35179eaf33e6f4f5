"""Quantiles for 95 % intervals."""

from __future__ import annotations

NORMAL_95 = 1.959963984540054
"""Half-width of a two-sided 95 % interval of the standard normal distribution."""


def student_t_95(degrees_of_freedom: int) -> float:
    """Half-width of a two-sided 95 % interval of Student's t distribution."""
    from scipy.special import stdtrit  # 0.2 s of import, needed only for an interval

    return float(stdtrit(degrees_of_freedom, 0.975))
