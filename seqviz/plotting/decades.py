"""Quantities that span many decades, beyond the range of float64."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

# Hover template for maps of log10. The browser formats the numbers it already has: ten thousand
# formatted texts took longer than the computation and were most of the payload.
POWER = "10<sup>%{z:.2f}</sup>"


def powers(log10: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """Return 10 to each power; nan, a gap in a line, where float64 has no normal number."""
    with np.errstate(over="ignore", under="ignore"):
        values = np.power(10.0, log10)
    return np.where(np.isfinite(values) & (values >= np.finfo(float).tiny), values, np.nan)
