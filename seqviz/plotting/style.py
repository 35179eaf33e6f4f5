"""One palette and one chart template, for Plotly and for Altair, in every lesson.

A colour stands for a role (the LSTM, the truth, the noise floor), never for a position in a list,
so that the LSTM is the same blue in all lessons. Contrasts on the page background are at least
4.5 : 1 in both themes (`tests/plotting/test_style.py` computes them), and the categories stay apart
for colour-blind readers; dashes and markers repeat what colour says.

Streamlit replaces ten reserved colours (#000001 ... #000010) in the browser by the theme's
`chartCategoricalColors`. `LIVE` uses them, so the server sends one figure whatever the reader's
theme is; `LIGHT` and `DARK` are the same roles for notebooks and files.
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
    """A colour for each role; `band` is the tint behind `prediction`, `grid` the quiet lines."""

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
        """Colors of a first to a fourth series that stand for no network."""
        return self.prediction, self.rnn, self.gru, self.mlp

    def colors(self) -> tuple[str, ...]:
        """The ten colours in the order of Streamlit's `chartCategoricalColors`."""
        return tuple(getattr(self, f.name) for f in fields(self))


_COLORS = {  # on a light page, on a dark one
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
# From nothing to all, for weights and shares; also where colors are hard to tell apart.
WEIGHTS = get_colorscale("Cividis")
ROLES = tuple(f.name for f in fields(Palette))


@dataclass(frozen=True)
class Style:
    """How a figure is to look: its colors, its language, its height in pixels, its type.

    scale: 1 for reading at a desk; larger for the back row of a lecture hall.
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
        """Return the words of one figure as a function: `label(key)` is the text `prefix + key`."""

        def label(key: str, **values: object) -> str:
            return self.text(prefix + key, **values)

        return label


STYLE = Style()  # of a figure that is asked for without one


def layout(style: Style) -> dict[str, Any]:
    """The house template as layout keys: 14 px type, light grid, no frame, legend on top left."""
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
        # None of Plotly's own: importing Streamlit changes that one for the whole process, and a
        # file would then carry colors that only Streamlit understands.
        "template": {},
        "height": style.height,
        "font": {"family": FONT, "size": 14 * style.scale, "color": style.palette.truth},
        # On the right there is room for half of the last label: where Plotly must make that room
        # itself, a chart that is updated and the same chart drawn anew differ by a pixel.
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
    """One axis of the template, for figures with several panels; `more` overrides."""
    axis = layout(style)["xaxis"]
    return {**axis, **more, "title": {**axis["title"], **more.get("title", {})}}


def recolored(figure: Figure, source: Palette, target: Palette) -> Figure:
    """The same figure in another palette (for a file: the live colours mean nothing outside)."""
    written = figure.to_json()
    for old, new in zip(source.colors(), target.colors(), strict=True):
        written = written.replace(old, new)
    return read(written)


def opaque(figure: Figure, palette: Palette) -> Figure:
    """A figure on the theme's own background, for files that leave the page."""
    background = "#FFFFFF" if palette == LIGHT else "#11161D"
    return Figure(
        figure.traces, {**figure.page, "paper_bgcolor": background, "plot_bgcolor": background}
    )
