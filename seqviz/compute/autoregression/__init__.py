"""Autoregression: the process, its correlations, estimation, replication and forecasting.

Importing this package costs numpy only; scipy is imported inside the few functions that need it.
"""

from seqviz.compute.autoregression.correlation import (
    Correlogram,
    correlogram,
    shuffled,
    theoretical_acf,
    theoretical_pacf,
)
from seqviz.compute.autoregression.estimation import (
    METHODS,
    Estimate,
    OrderSelection,
    fit,
    one_step_errors,
    select_order,
)
from seqviz.compute.autoregression.forecasting import (
    Forecast,
    HorizonErrors,
    errors_by_horizon,
    forecast_direct,
    forecast_recursive,
)
from seqviz.compute.autoregression.process import (
    LARGEST,
    Path,
    coefficients_from_partial,
    is_stationary,
    partial_from_coefficients,
    psi_weights,
    roots,
    simulate,
    stationary_variance,
)
from seqviz.compute.autoregression.replication import (
    Replications,
    fit_paths,
    replicate,
    replicate_paths,
)

__all__ = [
    "LARGEST",
    "METHODS",
    "Correlogram",
    "Estimate",
    "Forecast",
    "HorizonErrors",
    "OrderSelection",
    "Path",
    "Replications",
    "coefficients_from_partial",
    "correlogram",
    "errors_by_horizon",
    "fit",
    "fit_paths",
    "forecast_direct",
    "forecast_recursive",
    "is_stationary",
    "one_step_errors",
    "partial_from_coefficients",
    "psi_weights",
    "replicate",
    "replicate_paths",
    "roots",
    "select_order",
    "shuffled",
    "simulate",
    "stationary_variance",
    "theoretical_acf",
    "theoretical_pacf",
]
