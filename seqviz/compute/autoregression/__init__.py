"""Autoregression: the process, its correlations, estimation, replication and forecasting.

Importing this package costs numpy only; scipy is imported inside the few functions that need it.
"""

from seqviz.compute.autoregression.correlation import (
    Correlogram,
    correlogram,
    sample_variance,
    shuffled,
    theoretical_acf,
    theoretical_pacf,
)
from seqviz.compute.autoregression.estimation import (
    METHODS,
    Estimate,
    OneStep,
    OrderSelection,
    covering,
    fit,
    one_step,
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
    largest_root,
    long_run_mean,
    partial_from_coefficients,
    psi_weights,
    roots,
    simulate,
    stationary_variance,
    steps_remembered,
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
    "OneStep",
    "OrderSelection",
    "Path",
    "Replications",
    "coefficients_from_partial",
    "correlogram",
    "covering",
    "errors_by_horizon",
    "fit",
    "fit_paths",
    "forecast_direct",
    "forecast_recursive",
    "is_stationary",
    "largest_root",
    "long_run_mean",
    "one_step",
    "one_step_errors",
    "partial_from_coefficients",
    "psi_weights",
    "replicate",
    "replicate_paths",
    "roots",
    "sample_variance",
    "select_order",
    "shuffled",
    "simulate",
    "stationary_variance",
    "steps_remembered",
    "theoretical_acf",
    "theoretical_pacf",
]
