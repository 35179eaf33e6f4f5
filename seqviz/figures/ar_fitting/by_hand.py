"""Fitting a line by hand: a Vega chart whose slope slider runs in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from seqviz.core import lazy_import
from seqviz.plotting import STYLE, Style
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
    label, title = round(13 * style.scale), round(14 * style.scale)
    axis = {"labelFontSize": label, "titleFontSize": title, "titleFontWeight": "normal",
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


def fit_by_hand(values: Float[np.ndarray, "time"], style: Style = STYLE) -> alt.LayerChart:
    """Plot the pairs (x_{t-1}, x_t), a line with a slope slider, and the error of that slope.

    At most `POINTS` pairs, evenly chosen, are drawn, but the error is that of all pairs. It is a
    parabola, mse(phi) = mse(phi-hat) + m (phi - phi-hat)^2 with m the mean of x_{t-1}^2, so the
    browser computes it exactly for any slope.
    """
    alt = _altair()
    text = style.text
    before, now = values[:-1], values[1:]
    m = float(np.mean(before**2))
    best = float(np.mean(before * now) / m)
    floor = float(np.mean((now - best * before) ** 2))
    chosen = np.unique(np.linspace(0, len(now) - 1, min(POINTS, len(now))).astype(int))
    low, high = float(before.min()), float(before.max())
    bottom, highest = float(now.min()), float(now.max())
    top = highest + 0.25 * (highest - bottom)  # room for two lines of text above the points
    data = {
        "pairs": _rows(before=before[chosen].tolist(), now=now[chosen].tolist()),
        "ends": _rows(before=[low, high]),
        "corner": _rows(before=[low], now=[top]),
    }
    pairs, ends, corner = map(alt.NamedData, data)

    slope = alt.param(
        name="slope",
        value=0,
        bind=alt.binding_range(min=-1.2, max=1.2, step=0.01, name=text("figure.your_slope") + " "),
    )
    x = alt.X("before:Q", title=text("figure.before_plain"), axis=alt.Axis(tickCount=8, grid=False))
    y = alt.Y(
        "now:Q", title=text("figure.now_plain"), axis=alt.Axis(tickCount=6),
        scale=alt.Scale(domain=[bottom, top], nice=True),
    )  # fmt: skip
    misses = colored(
        alt.Chart(pairs)
        .transform_calculate(line="slope * datum.before")
        .mark_rule(strokeWidth=1, opacity=0.35, clip=True)
        .encode(x=x, y=y, y2=alt.Y2("line:Q")),
        "baseline",
        style,
    )
    points = colored(
        alt.Chart(pairs).mark_circle(size=30, opacity=0.55).encode(x=x, y=y), "truth", style
    )
    line = colored(
        alt.Chart(ends)
        .transform_calculate(now="slope * datum.before")
        .mark_line(strokeWidth=4, clip=True)
        .encode(x=x, y=y),
        "prediction",
        style,
    )
    error = f"({m!r} * (slope - ({best!r})) * (slope - ({best!r})))"
    least_found = _spoken(text("figure.found_least"), f"{best!r}")
    summary = f"abs(slope - ({best!r})) < 0.006 ? {least_found} : " + _spoken(
        text("figure.above_least"), error
    )
    total = f"'{text('figure.your_error')} ' + format({floor!r} + {error}, '.3g')"
    size = {"fontSize": round(17 * style.scale), "lineHeight": round(23 * style.scale)}
    readout = colored(
        alt.Chart(corner)
        .transform_calculate(words=f"[{total}, {summary}]")
        .mark_text(align="left", baseline="top", fontWeight="bold", **size)
        .encode(x=x, y=y, text=alt.Text("words:N")),
        "prediction",
        style,
    )
    # One constructor call, because Altair copies all layers at each further step.
    return alt.LayerChart(
        layer=[misses, points, line, readout],
        datasets=data,
        params=[slope.param],
        config=template(style),
        width="container",
        height=style.height - 70,
        description=text("alt.by_hand", best=best, floor=floor, n=len(now)),
    )


def _rows(**columns: list[float]) -> list[dict[str, float]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _spoken(sentence: str, value: str) -> str:
    """Return a Vega expression for a sentence with one number in place of `{}`."""
    before, after = sentence.split("{}")
    return f"'{before}' + format({value}, '.3g') + '{after}'"
