"""Gradient decomposed by path: one bar for each error, and the backward recursion."""

from __future__ import annotations

import numpy as np

from seqviz.compute.vanishing_gradients import PathContributions, Recursion
from seqviz.core.i18n import TIMES_TEN, number
from seqviz.figures.vanishing_gradients.style import log10
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes
from seqviz.plotting.maps import Map, head_size

_PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_THINNEST, _WIDEST = 1.6, 14.0  # widths of arrows in pixels
_INK = "rgb(17,22,29)"  # text on the highlight color, in both themes


def path_bars(
    path_contributions: PathContributions, printed: bool = False, style: Style = STYLE
) -> Figure:
    """Plot each error's share of the gradient at t (left) and the factors of that share (right).

    A share is the projection of the error's term on the gradient, so the shares add up to the
    gradient's norm. Left: bars, a line for their running sum, and a dotted line for the norm by
    autograd. Right: the largest stretch of each path, and the norm of the error.

    Args:
        path_contributions: terms of the gradient at t.
        printed: True to add the shares with the index as printed in the course text.
        style: language, theme and scale of the figure.
    """
    text, palette, result = style.text, style.palette, path_contributions
    count, shares, length = len(result.terms), result.along(result.terms), result.autograd_length
    later = np.arange(result.moment, result.moment + count)
    edge = [later[0] - 0.6, later[-1] + 0.6]
    sheet, sizes = Sheet(style), log10(np.concatenate([result.stretch, result.error]))
    left, right = sheet.row(
        (axes.axis(text("figure.error_of_step"), range=edge, dtick=1 if count <= 20 else 5),
         axes.axis(text("figure.share_axis"), zeroline=True, zerolinecolor=palette.baseline)),
        (axes.axis(text("figure.error_of_step"), range=edge, dtick=1 if count <= 10 else 5),
         axes.decades(sizes, text("figure.size"))),
        gaps=(0.58, 0.71),
    )  # fmt: skip
    share_bars(left, later, shares, "figure.share", palette.prediction)
    if printed:
        as_printed = result.along(result.printed)
        share_bars(left, later, as_printed, "figure.share_printed", palette.rnn, hatched=True)
    named = text("figure.autograd", value=length)
    left.line(edge, [length, length], named, palette.truth, width=2, dash="dot", hover=False)
    for key, values, color, dash in (
        ("stretch", result.stretch, palette.truth, "solid"),
        ("error", result.error, palette.lstm, "dot"),
    ):
        right.line(
            later, right.powers(log10(values)), text(f"figure.{key}"), color, width=2.2, dash=dash,
            symbol="circle", size=6, hover=f"τ = %{{x}}: %{{y:.3g}}{NAMED}",
        )  # fmt: skip
    return sheet.described(
        "alt.paths", t=result.moment, last=int(later[-1]), nearest=float(shares[0]),
        farthest=float(shares[-1]), total=result.length, autograd=length,
        stretch=float(result.stretch[-1]),
    )  # fmt: skip


def share_bars(
    panel: Panel, later: np.ndarray, values: np.ndarray, key: str, color: str, hatched: bool = False
) -> None:
    """Draw bars with a line for their running sum.

    Args:
        panel: panel to draw in.
        later: time step of each error.
        values: share of each error.
        key: text key of the bars; `{key}_sum` names the line.
        color: CSS color.
        hatched: True for hatched bars and a dashed line.
    """
    text = panel.style.text
    lines = {"fillmode": "overlay", "fgcolor": panel.style.palette.grid}
    pattern = {"shape": "/" if hatched else "", **lines}
    panel.bars(later, values, text(key), color, marker={"color": color, "pattern": pattern},
               hover=f"τ = %{{x}}: %{{y:.3g}}{NAMED}")  # fmt: skip
    line = {"color": color, "width": 2, "shape": "hv", "dash": "dash" if hatched else "solid"}
    panel.line(later, np.cumsum(values), text(f"{key}_sum"), color, line=line, symbol="circle",
               size=6, hover=f"τ ≤ %{{x}}: %{{y:.3g}}{NAMED}")  # fmt: skip


def unrolled_graph(recursion: Recursion, steps_taken: int, style: Style = STYLE) -> Figure:
    """Plot the unrolled network with the gradient after `steps_taken` steps of backpropagation.

    Below each reached state stands the norm of dJ/dh_t, above each output its residual dJ/dyhat_t.
    An arrow that goes back is as wide as the norm of what it carries. The states are a map: a
    reader chooses the one that backpropagation has reached.

    Args:
        recursion: backward recursion with all its numbers.
        steps_taken: number of steps taken back in time.
        style: language, theme and scale of the figure.
    """
    text, last = style.text, len(recursion.total)
    time = list(range(1, last + 1))
    reached = last - steps_taken + 1  # the earliest state whose gradient is known (none: last + 1)
    sizes = np.linalg.norm(recursion.total, axis=1)
    sheet = Sheet(style, margin={"l": 4, "r": 4, "t": 4, "b": 4})
    panel = sheet.panel(
        axes.axis(text("figure.steps"), visible=False, range=[-0.75, last + 0.5]),
        axes.axis(text("figure.value_now"), visible=False, range=[-0.75, 1.6]),
    )
    states = Map(panel, "taken", steps_taken)
    _nodes(panel, time, reached)
    _arrows(panel, recursion, reached)
    for t in time:
        ink = _INK if t == reached else None
        size = number(sizes[t - 1]) if t >= reached else "?"
        residual = number(float(recursion.residuals[t - 1, 0]))
        spoken = f"h_{t}: ‖∂J/∂h_{t}‖ = {size}"
        states.declare(last - t + 1, (t - 0.3, t + 0.3, -0.25, 0.25), spoken, style.palette.truth)
        over, summary = f"‖∂J/∂h<sub>{t}</sub>‖ = {size}", f"∂J/∂ŷ<sub>{t}</sub> = {residual}"
        panel.words(f"h<sub>{t}</sub>", t, 0, size=17, color=ink, hovertext=over)
        panel.words(f"ŷ<sub>{t}</sub>", t, 1, size=14, hovertext=summary)
        panel.words(residual, t, 1.36)
        if t >= reached:
            panel.words(f"<b>{size}</b>", t, -0.42)
    for key, values, since, height in (
        ("figure.gradient_length", sizes, reached, -0.42),
        ("figure.residual", recursion.residuals[:, 0], 1, 1.36),
    ):
        panel.words(text(key), 0.35, height, xanchor="right")
        if since <= last:  # invisible: numbers for the data table of the figure
            panel.unseen(time[since - 1 :], values[since - 1 :], text(key))
    existing = [f"t = {t}: {number(sizes[t - 1])}" for t in time[::-1] if t >= reached]
    return sheet.described("alt.recursion", last=last, taken=steps_taken,
                           known="; ".join(existing) or "–")  # fmt: skip


def _nodes(panel: Panel, time: list[int], reached: int) -> None:
    """Draw states below and outputs above; the latest state is highlighted."""
    palette, scale = panel.style.palette, panel.style.scale
    fills = [palette.highlight if t == reached else palette.band if t > reached else palette.grid
             for t in time]  # fmt: skip
    for height, color, size, symbol in ((0, fills, 46, "circle"), (1, palette.band, 34, "square")):
        panel.points(time, np.full(len(time), height), "", color, size=size * scale, symbol=symbol,
                     hover=False, legend=False)  # fmt: skip


def _arrows(panel: Panel, recursion: Recursion, reached: int) -> None:
    """Draw the forward arrows between states, and the backward arrows that have been computed."""
    palette, last = panel.style.palette, len(recursion.total)
    own = [recursion.own_error(t) for t in range(1, last + 1)]
    carried = [recursion.carried(t) for t in range(1, last + 1)]
    unit = (_WIDEST - _THINNEST) / (max(*own, *carried) or 1.0)
    for t in range(1, last + 1):
        if t < last:
            _arrow(panel, (t, 0), (t + 1, 0), palette.baseline, _THINNEST, lift=0.11)
        is_computed = t >= reached
        color, width = (palette.rnn, own[t - 1] * unit) if is_computed else (palette.grid, 0.0)
        _arrow(panel, (t, 1), (t, 0), color, _THINNEST + width)
        if is_computed and t < last:
            width = _THINNEST + carried[t - 1] * unit
            _arrow(panel, (t + 1, 0), (t, 0), palette.rnn, width, lift=-0.09)


def _arrow(
    panel: Panel, start: tuple[float, float], end: tuple[float, float], color: str, width: float,
    lift: float = 0.0,
) -> None:  # fmt: skip
    """Draw an arrow between the edges of two nodes, `lift` above the line that joins them."""
    (x0, y0), (x1, y1) = start, end
    along, down = (0.26 * np.sign(x1 - x0), 0.0) if y0 == y1 else (0.0, 0.2)
    panel.words(
        "", x1 - along, y1 + lift + down, ax=x0 + along, ay=y0 + lift - down, axref="x",
        ayref="y", showarrow=True, arrowhead=2, arrowwidth=width * panel.style.scale,
        arrowsize=head_size(width), arrowcolor=color,
    )  # fmt: skip


def recursion_step(recursion: Recursion, t: int) -> str:
    """Return one step of the backward recursion as LaTeX with all its numbers.

    The step is dJ/dh_t = (dh_{t+1}/dh_t)^T dJ/dh_{t+1} + W_y^T dJ/dyhat_t.

    Args:
        recursion: backward recursion.
        t: time step, from 1; the last step has the second term only.
    """
    output = (
        rf"\underbrace{{{_matrix(recursion.readout.T)}}}_{{W_y^\top}}"
        rf"\underbrace{{({_number(recursion.residuals[t - 1, 0])})}}"
        rf"_{{\partial J/\partial\hat y_{t}}}"
    )
    carried = ""
    if t < len(recursion.total):
        carried = (
            rf"\underbrace{{{_matrix(recursion.jacobian[t - 1].T)}}}"
            rf"_{{(\partial h_{t + 1}/\partial h_{t})^\top}}"
            rf"\underbrace{{{_matrix(recursion.total[t][:, None])}}}"
            rf"_{{\partial J/\partial h_{t + 1}}} + "
        )
    ending = _matrix(recursion.total[t - 1][:, None])
    return rf"\frac{{\partial J}}{{\partial h_{t}}} = {carried}{output} = {ending}"


def _matrix(values: np.ndarray) -> str:
    rows = r"\\".join("&".join(_number(v) for v in row) for row in values)
    return rf"\begin{{pmatrix}}{rows}\end{{pmatrix}}"


def _number(value: float) -> str:
    """Return a number in LaTeX with the digits shown on screen."""
    mantissa, _, power = number(float(value)).replace("−", "-").partition(TIMES_TEN)
    return rf"{mantissa}\cdot 10^{{{power.translate(_PLAIN)}}}" if power else mantissa
