"""Autoregression: the process, its correlations, estimation, replication and forecasting.

Importing this package costs numpy only; scipy is imported inside the few functions that need it.
"""

from seqviz.compute.autoregression.correlation import (
    Correlogram,
    correlogram,
    sample_variance,
    shuffled,
    theoretical_acf,
)
from seqviz.compute.autoregression.diagnosis import (
    Diagnosis,
    diagnose,
    differenced,
    undifferenced,
)
from seqviz.compute.autoregression.estimation import (
    METHODS,
    Estimate,
    OrderSelection,
    covering,
    fit,
    one_step,
    orders_found,
    select_order,
    slope_errors,
)
from seqviz.compute.autoregression.forecasting import (
    Forecast,
    HorizonErrors,
    error_of_repeating,
    errors_by_horizon,
    forecast_direct,
    forecast_recursive,
)
from seqviz.compute.autoregression.nonlinear import (
    Rule,
    against_rule,
    simulate_rule,
    straight,
)
from seqviz.compute.autoregression.process import (
    Path,
    coefficients_from_partial,
    is_stationary,
    largest_root,
    long_run_mean,
    roots,
    simulate,
    stationary_variance,
    steps_remembered,
)
from seqviz.compute.autoregression.replication import (
    Replications,
    estimate_each,
    fit_paths,
    in_theory,
    replicate,
    replicate_paths,
)
