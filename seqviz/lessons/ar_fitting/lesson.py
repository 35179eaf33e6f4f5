"""Declaration of the lesson "AR fitting"."""

from __future__ import annotations

from seqviz.compute import ar_fitting as ar
from seqviz.lessons.ar_fitting import estimation, forecast, measured_series, series, training
from seqviz.lessons.framework.lesson import Lesson

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

lesson.question("decay", "process", at={"phi": -0.8}, veils=False)
lesson.question("bias", "fit", at={"view": "sampling", "intercept": True})
lesson.question("epochs", "networks")
lesson.question("far", "forecast", at={"horizon": 50})
