"""Fitting a line by hand: to all pairs of neighbors (Plotly), and to a few at a time (Vega)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.ar_fitting import WindowSlopes, slope_error
from seqviz.core import lazy_import
from seqviz.plotting import STYLE, Figure, Sheet, Style, axis
from seqviz.plotting.style import FONT, LIVE, ROLES

if TYPE_CHECKING:
    alt = lazy_import.import_or_retry("altair", "jsonschema")

POINTS = 400


def colored(chart: alt.Chart, role: str, style: Style) -> alt.Chart:
    """Return the chart in the color of a role.

    Streamlit gives Vega the theme's colors as the default range of categories. On a page a role is
    therefore named by its index among all roles and follows the reader's theme; in files it is the
    plain color.

    Args:
        chart: an Altair chart.
        role: role in the palette.
        style: style of the chart.
    """
    alt = lazy_import.import_or_retry("altair", "jsonschema")

    if style.palette != LIVE:
        return chart.encode(color=alt.value(getattr(style.palette, role)))
    # The order of the domain is that of `chartCategoricalColors`.
    scale = alt.Scale(domain=list(ROLES))
    color = alt.Color("role:N", scale=scale, legend=None)
    return chart.transform_calculate(role=f"'{role}'").encode(color=color)


def template(style: Style) -> dict[str, Any]:
    """Return the Altair configuration with the type, grid and frames of the Plotly template."""
    axis = {"labelFontSize": 13, "titleFontSize": 14, "titleFontWeight": "normal",
            "domain": False, "ticks": False}  # fmt: skip
    if style.palette != LIVE:
        axis["gridColor"] = style.palette.grid
    # "~g", because an explosive series has values of twelve digits.
    return {"font": FONT, "axis": axis, "view": {"stroke": None}, "numberFormat": "~g"}


def _altair() -> Any:
    """Import Altair on first use, because it takes half a second.

    Pandas is imported first: Altair inspects it even while another thread is importing it.
    """
    lazy_import.import_or_retry("pandas")
    return lazy_import.import_or_retry("altair", "jsonschema")


def fit_by_hand(
    values: Float[np.ndarray, "time"], slope: float = 0.0, style: Style = STYLE
) -> Figure:
    """Plot the pairs (x_{t-1}, x_t), a line through the origin, and its distance from each pair.

    At most `POINTS` pairs, evenly chosen, are drawn, but the errors are those of all pairs.

    Args:
        values: values, shape (time,).
        slope: slope of the line.
        style: language, theme and scale of the figure.
    """
    text, palette = style.text, style.palette
    before, now = np.asarray(values[:-1], float), np.asarray(values[1:], float)
    ends = np.array([before.min(), before.max()])
    chosen = np.unique(np.linspace(0, len(now) - 1, min(POINTS, len(now))).astype(int))
    # A single path along the line: with gaps, Plotly would draw one element for each pair.
    ordered = chosen[np.argsort(before[chosen], kind="stable")]
    along = slope * before[ordered]
    misses = np.stack([along, now[ordered], along], axis=1)
    room = 0.06 * (now.max() - now.min())
    sheet = Sheet(style)
    # A fixed range, so that the points stay in place while the line turns.
    panel = sheet.panel(
        axis(text("figure.before")),
        axis(text("figure.now"), range=[now.min() - room, now.max() + room]),
    )
    panel.reference(np.repeat(before[ordered], 3), misses.ravel(), text("figure.misses"), width=1,
                    dash="solid", opacity=0.45)  # fmt: skip
    panel.points(before[chosen], now[chosen], text("figure.pairs"), palette.truth, size=5,
                 opacity=0.5)  # fmt: skip
    panel.line(ends, slope * ends, text("figure.your_line"), palette.prediction, width=4)
    result = slope_error(values, slope)
    return sheet.described("alt.by_hand", n=len(now), slope=slope, mse=result.mse)


def slopes_by_window(
    values: Float[np.ndarray, "time"], windows: WindowSlopes, style: Style = STYLE
) -> alt.LayerChart:
    """Plot all pairs (x_{t-1}, x_t) and, for the run that a slider of the chart chooses, its line.

    The slider runs in the browser.

    Args:
        values: values, shape (time,).
        windows: slope of each run.
        style: language, theme and scale of the figure.
    """
    alt = _altair()
    text, last = style.text, len(windows.slopes)
    before, now = values[:-1], values[1:]
    low, high, top = float(before.min()), float(before.max()), float(now.max())
    data = {
        "pairs": _rows(before=before.tolist(), now=now.tolist(), pair=[*range(1, len(now) + 1)]),
        "slopes": _rows(run=[*range(1, last + 1)], slope=windows.slopes.tolist()),
    }
    pairs, slopes = map(alt.NamedData, data)
    first = alt.param(
        name="first",
        value=1,
        bind=alt.binding_range(
            min=1, max=last, step=1, name=text("figure.first_pair", width=windows.width) + " "
        ),
    )
    x = alt.X("before:Q", title=text("figure.before_plain"), axis=alt.Axis(tickCount=8, grid=False))
    y = alt.Y("now:Q", title=text("figure.now_plain"), axis=alt.Axis(tickCount=6))
    inside = f"datum.pair >= first && datum.pair < first + {windows.width}"
    chosen = alt.Chart(slopes).transform_filter("datum.run == first")
    layers = (
        (alt.Chart(pairs).mark_circle(size=22, opacity=0.25).encode(x=x, y=y), "baseline"),
        (
            alt.Chart(pairs).transform_filter(inside).mark_circle(size=45, opacity=0.9)
            .encode(x=x, y=y),
            "truth",
        ),
        (
            chosen.transform_calculate(low=f"{low!r}", high=f"{high!r}")
            .transform_fold(["low", "high"], as_=["end", "before"])
            .transform_calculate(now="datum.slope * datum.before")
            .mark_line(strokeWidth=4, clip=True)
            .encode(x=x, y=y),
            "prediction",
        ),
        (
            chosen.transform_calculate(before=f"{low!r}", now=f"{top!r}",
                                       words=_spoken(text("figure.slope_of_run"), "datum.slope"))
            .mark_text(align="left", baseline="top", fontSize=round(17 * style.scale),
                       fontWeight="bold")
            .encode(x=x, y=y, text=alt.Text("words:N")),
            "prediction",
        ),
    )  # fmt: skip
    smallest, largest = windows.extremes
    # One constructor call, because Altair copies all layers at each further step.
    return alt.LayerChart(
        layer=[colored(chart, role, style) for chart, role in layers],
        datasets=data,
        params=[first.param],
        config=template(style),
        width="container",
        height=style.height - 70,
        description=text("alt.slopes_by_window", n=len(now), width=windows.width, low=smallest,
                         high=largest),
    )  # fmt: skip


def _rows(**columns: list[Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _spoken(sentence: str, value: str) -> str:
    """Return a Vega expression for a sentence with one number in place of `{}`."""
    before, after = sentence.split("{}")
    return f"'{before}' + format({value}, '.3g') + '{after}'"
