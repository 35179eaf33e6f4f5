"""What the figures of gradients share: a cell's color, lines over many decades, a diamond."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqviz.compute.vanishing_gradients import MatrixSpectrum
from seqviz.core.i18n import format_log10
from seqviz.plotting import NAMED, Panel
from seqviz.plotting.panel import Values
from seqviz.plotting.style import Palette


def cell_color(cell: str, palette: Palette) -> str:
    """The color of a cell; the linear and the ReLU network are relatives of the RNN."""
    return str(getattr(palette, {"linear": "truth", "relu": "mlp"}.get(cell, cell)))


def decades_line(
    panel: Panel,
    x: Values,
    log10: Float[np.ndarray, "values"],
    name: str,
    color: str,
    *,
    dash: str = "solid",
    width: float = 2.6,
    over: str = "t",
    legend: bool | None = None,
) -> None:
    """A line on a log axis; over a point its number, also where float64 has none (a gap).

    over: the symbol of x.
    """
    panel.line(
        x, panel.powers(log10), name, color, dash=dash, width=width, legend=legend,
        customdata=[format_log10(value) for value in log10.tolist()],
        hover=f"{over} = %{{x}}: %{{customdata}}{NAMED}",
    )  # fmt: skip


def diamond(panel: Panel, x: float, y: float, name: str, color: str, size: float = 13) -> None:
    """A mark on a line: the place that is chosen, or found."""
    edge = {"color": panel.style.palette.truth, "width": 1.2}
    panel.points(
        [x], [y], name, color, size=size, symbol="diamond", edge=edge, hover=False, legend=False,
        cliponaxis=False,
    )  # fmt: skip


def bounds(spectrum: MatrixSpectrum) -> tuple[tuple[str, float, str], ...]:
    """What bounds a plain network's Jacobian and what governs it in the end: name, value, dash."""
    return ("sigma_max", spectrum.sigma_max, "dash"), ("radius", spectrum.radius, "dot")


def log10(values: Float[np.ndarray, "values"] | float) -> Float[np.ndarray, "..."]:
    """log10, and -inf of zero without a warning."""
    with np.errstate(divide="ignore"):
        return np.log10(np.asarray(values, float))
