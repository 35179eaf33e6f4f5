"""Regression of a series on its own lags, by one QR factorization."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.core.errors import UserError

# Rounding leaves about sqrt(n) * 2e-16 of a column that is a combination of others; an explosive
# path cut at 1e12 leaves about 1e-11 of it.
_NO_NOISE = 1e-13


@dataclass(frozen=True)
class Regression:
    """Least squares of x_t on (intercept if any, x_{t-1}, ..., x_{t-P}), t = P ... n - 1.

    Attributes:
        parameters: intercept first if there is one, shape (regressor,).
        inverse: (X'X)^{-1}, shape (regressor, regressor).
        residual_sum: sum of squared residuals.
        nobs: number of regressed values, n - P.
    """

    parameters: Float[np.ndarray, "regressor"]
    inverse: Float[np.ndarray, "regressor regressor"]
    residual_sum: float
    nobs: int


def lag_matrix(
    values: Float[np.ndarray, "time"], order: int, intercept: bool = False
) -> Float[np.ndarray, "row regressor"]:
    """Return the rows (1 if intercept, x_{t-1}, ..., x_{t-P}) for t = P ... n.

    The last row, one more than can be fitted, holds the newest values, from which the first unknown
    value is forecast.

    Args:
        values: the series.
        order: P.
        intercept: True for a first column of ones.
    """
    windows = np.lib.stride_tricks.sliding_window_view(values, order)[:, ::-1]
    if not intercept:
        return windows
    return np.column_stack((np.ones(len(windows)), windows))


def regress(
    rows: Float[np.ndarray, "row regressor"],
    target: Float[np.ndarray, "row"],
    exact: bool = False,
) -> Regression:
    """Regress target on rows by least squares.

    QR is used instead of the normal equations, because squaring the condition number would lose the
    noise of an explosive path.

    Args:
        rows: the regressors.
        target: the regressed values.
        exact: True where the target may be a combination of the columns.

    Raises:
        ValueError: if a column is a combination of the others, or the target is and may not be.
    """
    triangle = triangular_factor(rows, target, exact)
    k = rows.shape[1]
    root = np.linalg.inv(triangle[:k, :k])
    return Regression(
        parameters=root @ triangle[:k, k],
        inverse=root @ root.T,
        residual_sum=float(triangle[k, k] ** 2),
        nobs=target.size,
    )


def triangular_factor(
    rows: Float[np.ndarray, "row regressor"],
    target: Float[np.ndarray, "row"],
    exact: bool = False,
) -> Float[np.ndarray, "column column"]:
    """Return R of the QR factorization of (rows, target).

    The sum of squares of its last column from row k down is the residual sum of the regression on
    the first k columns, so one factorization serves all nested models.

    Args:
        rows: the regressors.
        target: the regressed values.
        exact: True where the target may be a combination of the columns.

    Raises:
        ValueError: as `regress`.
    """
    together = np.column_stack((rows, target))
    triangle = np.asarray(np.linalg.qr(together, mode="r"))
    size = np.sqrt(np.sum(together**2, axis=0))
    vanishes = np.abs(np.diag(triangle)) <= _NO_NOISE * size
    if vanishes[: rows.shape[1] + (not exact)].any():
        raise UserError(
            "no_noise",
            "The series follows from its own past without any noise at this order: "
            "choose a lower order or another series.",
        )
    return triangle
