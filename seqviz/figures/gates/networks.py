"""Networks compared: what they expect next, how large they are, how they learn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gates.counting import Table
from seqviz.compute.gates.observation import Expectation
from seqviz.compute.gates.tiny_results import Tiny, TinyReport, TinySettings
from seqviz.figures.gates.looks import CELLS, ending, marked
from seqviz.figures.grammar import axes
from seqviz.figures.grammar.axes import axis
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.sheet import NAMED, Sheet
from seqviz.figures.grammar.style import Style
from seqviz.figures.grammar.tokens import plain
from seqviz.text import number

_STYLE = Style()
_PARTS = {"input": ("prediction", ""), "recurrent": ("highlight", "/"), "biases": ("baseline", ".")}


def agreement(found: Expectation, style: Style = _STYLE) -> Figure:
    """How many bits more probable the second verb (the plural) is than the first after each word.

    Above the line of zero the network expects the plural. A probability of exactly 0 leaves a gap.
    """
    text, palette, words = style.text, style.palette, found.words
    one, many = map(plain, found.candidates)
    bits = np.where(np.isfinite(found.bits), found.bits, np.nan)
    reach = 1.18 * max(1.0, float(np.abs(bits[np.isfinite(bits)]).max(initial=0)))
    title = text("figure.log_ratio", plural=many, singular=one)
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.tokens(style, words, text("figure.words_so_far")), axis(title, range=[-reach, reach])
    )
    panel.line([0.5, len(words) + 0.5], [0, 0], text("figure.equally_likely"), palette.truth,
               width=1.6, dash="dot", hover=False)  # fmt: skip
    endings = []
    for network, values, p in zip(found.networks, bits, found.probability, strict=True):
        cell = network.rsplit("_", 1)[-1]
        name, (dash, symbol) = text(f"option.{cell}"), CELLS[cell]
        panel.line(
            np.arange(1, len(words) + 1), values, name, getattr(palette, cell), dash=dash,
            symbol=symbol, size=9,
            customdata=[[number(float(plural)), number(float(single))] for single, plural in p],
            hover=f"%{{x}}<br>P({many}) = %{{customdata[0]}}<br>"
            f"P({one}) = %{{customdata[1]}}{NAMED}",
        )  # fmt: skip
        endings.append(f"{name}: {ending(values)}")
    for y, anchor, word in ((1, "top", f"↑ {many}"), (0, "bottom", f"↓ {one}")):
        sheet.words(text("figure.more_likely", word=f"<i>{word}</i>"), 0.01, y, xanchor="left",
                    yanchor=anchor, color=palette.baseline)  # fmt: skip
    first, second = found.candidates
    return sheet.finish(
        text("alt.agreement", plural=second, singular=first, words=len(words),
             endings="; ".join(endings))
    )  # fmt: skip


def parameter_bars(found: Table, style: Style = _STYLE) -> Figure:
    """Parameters of the three cells, stacked from their parts, the total at the end of the bar."""
    text, palette = style.text, style.palette
    names = [text(f"option.{cell}") for cell in found.cells]
    totals = [one.total for one in found.counted]
    sheet = Sheet(style, barmode="stack")
    sheet.legend(traceorder="normal")
    rows = {"type": "category", "autorange": "reversed", "showgrid": False}
    panel = sheet.panel(
        axis(text("figure.parameters"), range=[0, 1.16 * max([1, *totals])], tickformat=",d",
             nticks=6),
        axis(text("figure.cell"), **rows),
    )  # fmt: skip
    for part, (role, shape) in _PARTS.items():
        pattern = {"shape": shape, "fillmode": "overlay", "fgcolor": palette.grid, "size": 7}
        panel.bars(
            names, [getattr(one, part) for one in found.counted], text(f"figure.part_{part}"),
            None, sideways=True, hover="%{y}: %{x:,d}" + NAMED,
            marker={"color": getattr(palette, role), "pattern": pattern},
        )  # fmt: skip
    for name, total in zip(names, totals, strict=True):
        panel.words(f"<b>{total:,}</b>", total, name, size=15, xanchor="left", xshift=5)
    said = (f"{name}: {total:,}" for name, total in zip(names, totals, strict=True))
    return sheet.finish(text("alt.parameters", totals="; ".join(said)))


def training_curve(done: Tiny, style: Style = _STYLE) -> Figure:
    """Accuracy of a small network on its task, in percent, by update."""
    return _course(done.updates, done.accuracy, done.settings, style)


def training_progress(
    trail: Sequence[TinyReport], settings: TinySettings, style: Style = _STYLE
) -> Figure:
    """The same as far as training has come (at least one report).

    The axis of the updates is that of the whole run: it does not move while the curve grows.
    """
    updates = np.array([r.update for r in trail])
    return _course(updates, np.array([r.accuracy for r in trail]), settings, style)


def _course(
    updates: Int[np.ndarray, "report"],
    accuracy: Float[np.ndarray, "report"],
    settings: TinySettings,
    style: Style,
) -> Figure:
    text, cell = style.text, settings.cell
    sheet = Sheet(style)
    panel = sheet.panel(
        axis(text("figure.update"), range=[0, settings.updates * 1.02]),
        axis(text("figure.accuracy"), range=[-3, 104]),
    )
    dash, symbol = CELLS[cell]
    panel.line(
        updates, 100 * accuracy, text(f"option.{cell}"), getattr(style.palette, cell), width=2.8,
        dash=dash, symbol=marked(symbol, len(updates)), hover="%{x:,d}: %{y:.1f} %" + NAMED,
    )  # fmt: skip
    return sheet.finish(
        text("alt.gate_training", cell=text(f"option.{cell}"), update=int(updates[-1]),
             accuracy=f"{100 * float(accuracy[-1]):.1f}")
    )  # fmt: skip
