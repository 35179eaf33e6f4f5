"""95 % intervals: quantiles, and the interval of a ratio of two sums."""

from __future__ import annotations

import numpy as np
from jaxtyping import Shaped

NORMAL_95 = 1.959963984540054
"""Half-width of a two-sided 95 % interval of the standard normal distribution."""


def student_t_95(degrees_of_freedom: int) -> float:
    """Half-width of a two-sided 95 % interval of Student's t distribution."""
    from scipy.special import stdtrit  # 0.2 s of import, needed only for an interval

    return float(stdtrit(degrees_of_freedom, 0.975))


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
