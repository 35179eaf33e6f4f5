"""Palette and chart template for Plotly and Altair: `Style`.

A color stands for a role (LSTM, ground truth, noise floor), not for a position in a list, so the
LSTM has the same blue in all lessons. Contrast with the page background is at least 4.5:1 in both
themes (computed in `tests/plotting/test_style.py`), and categories are distinguishable for
color-blind readers; dashes and markers repeat the information of color.

In the browser, Streamlit replaces ten reserved colors (#000001 ... #000010) by the theme's
`chartCategoricalColors`. `LIVE` uses them, so the server sends the same figure for both themes;
`LIGHT` and `DARK` are the same roles for notebooks and files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from plotly.colors import get_colorscale

from seqviz.core.i18n import Text
from seqviz.core.languages import matching
from seqviz.plotting.figure import Figure, read

FONT = "'Source Sans', 'Source Sans 3', 'Source Sans Pro', 'Noto Sans SC', \
'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif"


@dataclass(frozen=True)
class Palette:
    """Color of each role.

    Attributes:
        rnn: vanilla RNN.
        lstm: LSTM.
        gru: GRU.
        mlp: multilayer perceptron.
        truth: ground truth and text.
        prediction: predictions.
        baseline: baselines and bounds.
        highlight: selection.
        band: tint behind `prediction`.
        grid: grid lines.
    """

    rnn: str
    lstm: str
    gru: str
    mlp: str
    truth: str
    prediction: str
    baseline: str
    highlight: str
    band: str
    grid: str

    @property
    def series(self) -> tuple[str, str, str, str]:
        """Colors of up to four series that are no networks."""
        return self.prediction, self.rnn, self.gru, self.mlp

    def colors(self) -> tuple[str, ...]:
        """Return the ten colors in the order of Streamlit's `chartCategoricalColors`."""
        return tuple(getattr(self, f.name) for f in fields(self))


_COLORS = {  # light theme, dark theme
    "rnn": ("#C2410C", "#F2935C"),
    "lstm": ("#0B6BAF", "#5CB3F0"),
    "gru": ("#0A7F5C", "#3CCB9E"),
    "mlp": ("#8B2A66", "#F3B0D8"),
    "truth": ("#1B2430", "#E6EAF0"),
    "prediction": ("#2457A7", "#7FB0F5"),
    "baseline": ("#66707C", "#93A0AE"),
    "highlight": ("#B7791F", "#F0C05A"),
    "band": ("#D5E1F3", "#22375A"),
    "grid": ("#DFE4EA", "#2C3643"),
}
LIGHT, DARK = (
    Palette(**{role: colors[page] for role, colors in _COLORS.items()}) for page in (0, 1)
)
LIVE = Palette(*(f"#{slot:06d}" for slot in range(1, 11)))
# Sequential scale for weights and shares, suitable for color-blind readers.
WEIGHTS = get_colorscale("Cividis")
ROLES = tuple(f.name for f in fields(Palette))


@dataclass(frozen=True)
class Style:
    """Appearance and language of a figure.

    Attributes:
        palette: colors.
        lang: language code; a regional tag is reduced to an available language.
        height: height in pixels.
        scale: factor of type and line widths: 1 for a desk, larger for a lecture hall.
        text: translations of `lang`.
    """

    palette: Palette = LIGHT
    lang: str = "en"
    height: int = 420
    scale: float = 1.0
    text: Text = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lang", matching(self.lang) or self.lang)  # zh-CN is zh
        object.__setattr__(self, "text", Text(self.lang))

    def labels(self, prefix: str) -> Callable[..., str]:
        """Return a function that looks up the translations of one figure under `prefix + key`."""

        def label(key: str, **values: object) -> str:
            return self.text(prefix + key, **values)

        return label


STYLE = Style()  # default style


def layout(style: Style) -> dict[str, Any]:
    """Return the template as Plotly layout: 14 px type, light grid, no frame, legend top left."""
    axis = {
        "gridcolor": style.palette.grid,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "ticklabelstandoff": 5,
        "tickfont": {"size": 13 * style.scale},
        "title": {"font": {"size": 14 * style.scale}, "standoff": 8},
        "automargin": True,
        "exponentformat": "power",
    }
    return {
        # Not Plotly's default template: importing Streamlit changes it for the whole process, and
        # files would contain colors that only Streamlit resolves.
        "template": {},
        "height": style.height,
        "font": {"family": FONT, "size": 14 * style.scale, "color": style.palette.truth},
        # The right margin fits half of the last tick label. Where Plotly's automargin adds it, an
        # updated chart and a new one differ by a pixel.
        "margin": {"l": 10, "r": 24, "t": 44, "b": 10},
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 1.02,
            "yanchor": "bottom",
            "font": {"size": 13 * style.scale},
            "bgcolor": "rgba(0,0,0,0)",
            "title": {"text": ""},
        },
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "bargap": 0.35,
        "xaxis": axis,
        "yaxis": axis,
    }


def axis_layout(style: Style, **more: Any) -> dict[str, Any]:
    """Return one axis of the template, for figures with several panels.

    Args:
        style: style of the figure.
        **more: Plotly axis keys, which override the template.
    """
    axis = layout(style)["xaxis"]
    return {**axis, **more, "title": {**axis["title"], **more.get("title", {})}}


def recolored(figure: Figure, source: Palette, target: Palette) -> Figure:
    """Return the figure in another palette; files need it, as live colors only work in the app.

    Args:
        figure: the figure, which is not modified.
        source: its palette.
        target: palette of the result.
    """
    written = figure.to_json()
    for old, new in zip(source.colors(), target.colors(), strict=True):
        written = written.replace(old, new)
    return read(written)


def opaque(figure: Figure, palette: Palette) -> Figure:
    """Return the figure on the background color of the palette's theme, for files.

    Args:
        figure: the figure, which is not modified.
        palette: `LIGHT` for a white background, any other for a dark one.
    """
    background = "#FFFFFF" if palette == LIGHT else "#11161D"
    return Figure(
        figure.traces, {**figure.page, "paper_bgcolor": background, "plot_bgcolor": background}
    )
