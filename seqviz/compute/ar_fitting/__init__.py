"""Autoregression: the process, its correlations, estimation, replication and forecasting.

Importing this package imports only numpy; scipy is imported in the few functions that need it.
"""

from seqviz.compute.ar_fitting.correlation import (
    Correlogram,
    correlogram,
    sample_variance,
    shuffled,
    theoretical_acf,
)
from seqviz.compute.ar_fitting.diagnosis import (
    Diagnosis,
    diagnose,
    differenced,
    undifferenced,
)
from seqviz.compute.ar_fitting.estimation import (
    METHODS,
    ARFit,
    OrderSelection,
    SlopeError,
    WindowSlopes,
    covering,
    fit,
    one_step,
    orders_found,
    select_order,
    slope_error,
    slope_errors,
    window_slopes,
)
from seqviz.compute.ar_fitting.forecasting import (
    Forecast,
    HorizonErrors,
    error_of_repeating,
    errors_by_horizon,
    forecast_direct,
    forecast_recursive,
)
from seqviz.compute.ar_fitting.nonlinear import (
    Rule,
    against_rule,
    simulate_rule,
    straight,
)
from seqviz.compute.ar_fitting.process import (
    SimulatedPath,
    coefficients_from_partial,
    is_stationary,
    largest_root,
    long_run_mean,
    roots,
    simulate,
    stationary_variance,
    steps_remembered,
)
from seqviz.compute.ar_fitting.replication import (
    Replications,
    estimate_each,
    fit_paths,
    in_theory,
    replicate,
    replicate_paths,
)
