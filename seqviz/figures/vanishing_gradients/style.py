"""Shared parts of the gradient figures: cell colors, lines over many decades, a diamond."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqviz.compute.vanishing_gradients import MatrixSpectrum
from seqviz.core.i18n import format_log10
from seqviz.plotting import NAMED, Panel
from seqviz.plotting.panel import Values
from seqviz.plotting.style import Palette


def cell_color(cell: str, palette: Palette) -> str:
    """Return the color of a cell; the linear and the ReLU network use colors of other roles."""
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
    """Draw a line on a log axis; the hover text has its number, even below float64 (a gap).

    Args:
        panel: panel to draw in.
        x: x values.
        log10: log10 of the y values.
        name: name of the trace.
        color: CSS color.
        dash: Plotly dash style.
        width: line width in pixels.
        over: symbol of x in the hover text.
        legend: as in `Panel.trace`.
    """
    panel.line(
        x, panel.powers(log10), name, color, dash=dash, width=width, legend=legend,
        customdata=[format_log10(value) for value in log10.tolist()],
        hover=f"{over} = %{{x}}: %{{customdata}}{NAMED}",
    )  # fmt: skip


def diamond(
    panel: Panel, x: float, y: float, name: str, color: str, size: float = 13, legend: bool = False
) -> None:
    """Draw a diamond that marks a chosen or computed point of a line."""
    edge = {"color": panel.style.palette.truth, "width": 1.2}
    panel.points(
        [x], [y], name, color, size=size, symbol="diamond", edge=edge, hover=False, legend=legend,
        cliponaxis=False,
    )  # fmt: skip


def bounds(spectrum: MatrixSpectrum) -> tuple[tuple[str, float, str], ...]:
    """Return name, value and dash of the bound and of the asymptotic rate of a plain Jacobian.

    The bound is the largest singular value, the asymptotic rate the spectral radius.
    """
    return ("sigma_max", spectrum.sigma_max, "dash"), ("radius", spectrum.radius, "dot")


def log10(values: Float[np.ndarray, "values"] | float) -> Float[np.ndarray, "..."]:
    """Return log10, with -inf for zero and no warning."""
    with np.errstate(divide="ignore"):
        return np.log10(np.asarray(values, float))
