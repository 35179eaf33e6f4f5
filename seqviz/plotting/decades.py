"""Quantities that run over many decades, some beyond what float64 holds."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

# What stands over a cell of a map that shows log10: the browser writes it, from the number that is
# there already. Ten thousand numbers in words took longer than computing them, and were most of
# what was sent.
POWER = "10<sup>%{z:.2f}</sup>"


def powers(log10: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """10 to each of these; nan (a gap in the line) where float64 has no full number for it."""
    with np.errstate(over="ignore", under="ignore"):
        values = np.power(10.0, log10)
    return np.where(np.isfinite(values) & (values >= np.finfo(float).tiny), values, np.nan)
