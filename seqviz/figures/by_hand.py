"""Fit a line by hand: a slope slider that lives in the browser (Vega), no trip to the server."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd
from jaxtyping import Float

from seqviz.figures.style import FONT, LIVE, ROLES, Style
from seqviz.text import number

_STYLE = Style()
POINTS = 400


def colored(chart: alt.Chart, role: str, style: Style) -> alt.Chart:
    """The chart in the colour of a role.

    Streamlit gives Vega the theme's colours as the default range of categories, so on a page a
    role is named by its place among all roles and follows the reader's theme; in files it is the
    plain colour.
    """
    if style.palette != LIVE:
        return chart.encode(color=alt.value(getattr(style.palette, role)))
    # The order of the domain is that of `chartCategoricalColors`.
    scale = alt.Scale(domain=list(ROLES))
    color = alt.Color("role:N", scale=scale, legend=None)
    return chart.transform_calculate(role=f"'{role}'").encode(color=color)


def template(chart: alt.TopLevelMixin, style: Style) -> alt.TopLevelMixin:
    """The house template for Altair: the same type, grid and absence of frames as in Plotly."""
    palette = style.palette
    config = {
        "font": FONT,
        "axis": {"labelFontSize": 13, "titleFontSize": 14, "titleFontWeight": "normal",
                 "domain": False, "ticks": False},
        "view": {"stroke": None},
    }  # fmt: skip
    if palette != LIVE:
        config["axis"] |= {"gridColor": palette.grid}  # type: ignore[operator]
    return chart.configure(**config)


def fit_by_hand(
    values: Float[np.ndarray, "time"], style: Style = _STYLE
) -> alt.LayerChart | alt.HConcatChart:
    """Pairs (x_{t-1}, x_t), a line whose slope a slider moves, and the error of that slope.

    values: shape (time,); at most `POINTS` pairs are drawn (evenly chosen), but the error curve on
    the right is that of all pairs. The mean squared error is a parabola in the slope,
    mse(phi) = mse(phi-hat) + m (phi - phi-hat)^2 with m the mean of x_{t-1}^2, so the browser can
    compute it exactly for any slope.
    """
    text = style.text
    before, now = values[:-1], values[1:]
    m = float(np.mean(before**2))
    best = float(np.mean(before * now) / m)
    floor = float(np.mean((now - best * before) ** 2))
    chosen = np.unique(np.linspace(0, len(now) - 1, min(POINTS, len(now))).astype(int))
    pairs = pd.DataFrame({"before": before[chosen], "now": now[chosen]})
    low, high = float(before.min()), float(before.max())

    slope = alt.param(
        name="slope",
        value=0,
        bind=alt.binding_range(min=-1.2, max=1.2, step=0.01, name=text("figure.your_slope") + " "),
    )
    ends = pd.DataFrame({"before": [low, high]})
    x = alt.X("before:Q", title=text("figure.before"))
    y = alt.Y("now:Q", title=text("figure.now"))
    points = colored(
        alt.Chart(pairs).mark_circle(size=26, opacity=0.4).encode(x=x, y=y),
        "truth",
        style,
    )
    line = colored(
        alt.Chart(ends)
        .transform_calculate(now="slope * datum.before")
        .mark_line(strokeWidth=3, clip=True)
        .encode(x=x, y=y),
        "prediction",
        style,
    )
    grid = np.linspace(-1.2, 1.2, 121)
    curve_data = pd.DataFrame({"slope": grid, "mse": floor + m * (grid - best) ** 2})
    top = float(curve_data["mse"].max())
    sx = alt.X("slope:Q", title=text("figure.slope"))
    sy = alt.Y("mse:Q", title=text("figure.mse"), scale=alt.Scale(domain=[0, top]))
    curve = colored(
        alt.Chart(curve_data).mark_line(strokeDash=[3, 3], strokeWidth=2).encode(x=sx, y=sy),
        "baseline",
        style,
    )
    here = colored(
        alt.Chart(pd.DataFrame({"one": [0]}))
        .transform_calculate(
            slope="slope", mse=f"{floor!r} + {m!r} * (slope - ({best!r})) * (slope - ({best!r}))"
        )
        .mark_point(size=170, filled=True, opacity=1)
        .encode(x=sx, y=sy),
        "prediction",
        style,
    )
    value = here.mark_text(dy=-18, fontSize=15, fontWeight="bold").encode(
        text=alt.Text("mse:Q", format=".3f")
    )
    left = alt.layer(points, line).properties(width=420, height=style.height - 110)
    right = alt.layer(curve, here, value).properties(width=260, height=style.height - 110)
    chart = alt.hconcat(left, right).add_params(slope)
    described = chart.properties(
        description=text("alt.by_hand", best=number(best), floor=number(floor), n=len(now))
    )
    return template(described, style)
