"""Validation of a series before anything is estimated from it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqviz.core.errors import UserError


def checked(values: Float[np.ndarray, "time"], at_least: int) -> Float[np.ndarray, "time"]:
    """Return a series as float64, shape (time,), after validation.

    Args:
        values: the series.
        at_least: smallest number of values.

    Raises:
        ValueError: if the series is too short, contains a value that is not finite or too large to
            be squared, or does not vary (up to rounding, as after subtracting a mean).
    """
    values = np.asarray(values, dtype=float)
    if values.size < at_least:
        raise UserError(
            "few_values",
            f"The series has {values.size} values; this needs at least {at_least}.",
            found=values.size,
            limit=at_least,
        )
    if not np.isfinite(values).all():
        raise ValueError("The series holds a value that is not a finite number.")
    with np.errstate(over="ignore"):
        largest = float(np.abs(values).max(initial=0.0))
        spread = float(np.ptp(values)) if values.size else 0.0
        power = spread * spread
    if not power < 1e300:
        raise UserError(
            "large_values", "The values are too large to be squared: divide the series by its size."
        )
    # A spread below four rounding errors of the largest value is rounding alone; a spread whose
    # square is subnormal leaves no digits for a sum of squares.
    if spread <= 4.0 * np.finfo(float).eps * largest or power < np.finfo(float).tiny:
        raise UserError("no_variation", "The series is constant: there is no variation to model.")
    return values
