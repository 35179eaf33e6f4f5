"""Bench on measured series and the student's: correlations, order, residuals, forecast."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute import ar_fitting as ar
from seqviz.core.errors import MessageError
from seqviz.data import series, upload
from seqviz.figures.ar_fitting import estimation
from seqviz.figures.ar_fitting.diagnosis import residual_check
from seqviz.figures.ar_fitting.series import series_and_correlations
from seqviz.lessons.ar_fitting.forecast import draw_fan
from seqviz.lessons.ar_fitting.series import Series
from seqviz.lessons.framework.controls import choice, on, slider, toggle, view
from seqviz.lessons.framework.show import Show
from seqviz.plotting.tokens import escape, short

SEASONS = {"co2": 12, "elnino": 12, "macro_inflation": 4, "macro_unemployment": 4}


@dataclass(frozen=True)
class MeasuredSeriesParams:
    """Controls of the bench on measured series."""

    view: str = view(("fan", "correlations", "order", "residuals"), "fan")
    source: str = choice((*series.BUNDLED, "csv"), "sunspots", menu=True)
    difference: bool = toggle(False, more=True)
    seasonal: bool = toggle(False, when=on(source=(*SEASONS, "csv")), more=True)
    period: int = slider(2, 52, 12, more=True, when=on(source="csv", seasonal=True), unit="steps")
    model: int = slider(1, 12, 2, when=on(view=("fan", "residuals")))
    horizon: int = slider(1, 50, 20, when=on(view="fan"), unit="steps", more=True)


def own_column(show: Show) -> tuple[Series, str] | None:
    """Return a column of the student's file, oldest first, and its name; None without a file.

    Notes above the figure report signs in the file against equal steps forward in time.
    """
    content = show.upload("csv")
    if content is None:
        show.hint("csv")
        return None
    table = show.read_upload(upload.parse, content)
    name = show.pick("column", table.numeric_columns, upload.likely(table))
    values = upload.column(table, name)
    code = f'column(parse(Path("your.csv").read_bytes()), {name!r})'
    for remark in upload.remarks(table, name):
        if remark.code == "newest_first":
            values, code = values[::-1], f"{code}[::-1]"
        show.notice(f"own_{remark.code}", **remark.details)
    show.trace.define("values", code, values, upload.column, upload.parse)
    return values, escape(short(name))


def real(p: MeasuredSeriesParams, show: Show) -> None:
    index, source = None, ""
    if p.source == "csv":
        own = own_column(show)
        if own is None:
            return
        values, unit = own
    else:
        chosen = show.run(series.bundled, p.source, name="chosen")
        values, index, source = chosen.values, chosen.labels, chosen.source
        unit = show.words(f"unit.{p.source}")
    season = (p.period if p.source == "csv" else SEASONS[p.source]) if p.seasonal else 0
    steady = values
    if p.difference or season:
        if len(values) < season + 21:
            raise MessageError("too_short_to_difference", steps=len(values))
        steady = show.run(ar.differenced, values, p.difference, season, name="steady")
    if p.view == "fan":
        draw_fan(show, values, p.model, True, p.horizon, p.difference, season, index, unit)
        check = show.run(ar.diagnose, steady, p.model, name="check")
        if check.refused:
            show.note("fan_refused", check=check)
    elif p.view == "correlations":
        correlogram = show.run(ar.correlogram, steady, min(40, len(steady) // 4))
        show.figure(series_and_correlations, steady, correlogram, index, unit)
        outside, bars = correlogram.outside
        show.note("bars", outside=outside, bars=bars, chance=bars / 20)
    elif p.view == "order":
        draw_real_orders(show, steady)
    else:
        check = show.run(ar.diagnose, steady, p.model, name="check")
        show.figure(residual_check, check, index, unit)
        tell_diagnosis(show, check)
    if p.source == "sunspots" and steady is values and p.view in ("fan", "residuals"):
        show.target("white", not check.refused, q=check.q, limit=check.q_limit)
    if source:
        show.caption(source)
        if p.source == "sunspots":
            show.caption(show.words("note.yule"))


def tell_diagnosis(show: Show, check: ar.Diagnosis) -> None:
    """State the Ljung-Box test in numbers and in a sentence."""
    limit = show.words("metric.q.limit", limit=check.q_limit)
    show.readouts(check, "q", "q_p", "strongest", caption={"q": limit})
    show.readout("left_over", check.correlations.outside_acf)
    show.note("refused" if check.refused else "accepted", check=check,
              degrees=int(check.tested) - check.order)  # fmt: skip


def draw_real_orders(show: Show, values: Series) -> None:
    """Show AIC and BIC of orders up to 12, and test the residuals of AIC's choice."""
    chosen = show.run(ar.select_order, values, min(12, len(values) // 4), True, name="chosen")
    show.figure(estimation.order_criteria, chosen)
    show.readouts(chosen, aic_order="chosen_aic", bic_order="chosen_bic")
    check = show.run(ar.diagnose, values, max(1, chosen.chosen_aic), name="check")
    show.note("order_refused" if check.refused else "order_accepted", check=check, chosen=chosen,
              highest=len(chosen.orders) - 1)  # fmt: skip
