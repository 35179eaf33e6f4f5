"""Declaration of the lesson "AR fitting"."""

from __future__ import annotations

from seqviz.compute import ar_fitting as ar
from seqviz.lessons.ar_fitting import estimation, forecast, measured_series, series, training
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.steps import Trace

lesson = Lesson("ar_fitting", code=(ar.simulate, ar.fit, ar.forecast_recursive))

process = lesson.bench("process", series.ProcessParams, leads=True)(series.process)
fit_by_hand = lesson.bench("by_hand", estimation.FitByHandParams, after=("process",))(
    estimation.fit_by_hand
)
fit = lesson.bench(
    "fit", estimation.FitParams, after=("process",), replicate=estimation.class_estimates
)(estimation.fit)
networks = lesson.bench("networks", training.NetworksParams, after=("process",))(training.networks)
nonlinear = lesson.bench("nonlinear", training.NonlinearParams)(training.nonlinear)
ahead = lesson.bench("forecast", forecast.AheadParams, after=("process",))(forecast.ahead)
real = lesson.bench("real", measured_series.MeasuredSeriesParams)(measured_series.real)

PHIS = (0.5, 0.7, 0.8, 0.9, 0.95)


def steps_to_a_tenth(phi: float) -> float:
    """Return the number of steps after which an AR(1)'s correlation is below a tenth."""
    correlations = ar.theoretical_acf((phi,), 60)
    return next(lag for lag, correlation in enumerate(correlations) if correlation < 0.1)


lesson.exercise("memory", cases=[{"phi": phi} for phi in PHIS], answer=steps_to_a_tenth, within=0.5)

# x_t = 0.9 x_{t-1} - 0.5 x_{t-2} + noise has complex roots, so the correlations oscillate.
lesson.sketch(
    "waves", kind="bar", bench="process", values={"order": 2, "n": 5000}, panel=("x2", "y2"),
    answer=(1, 2), visible=(3, 4),
)  # fmt: skip

SAMPLE_ACF, THEORY_ACF = Trace("figure.sample", "y2"), Trace("figure.theory", "y2")
lesson.step(
    "process", "flip", {"view": "correlations", "order": 1, "phi": -0.8}, (SAMPLE_ACF, THEORY_ACF)
)
lesson.step("process", "unit_root", {"phi": 1.0}, (SAMPLE_ACF,))
lesson.step("process", "shuffle", {"shuffle": True}, (SAMPLE_ACF, Trace("figure.band", "y2")))
