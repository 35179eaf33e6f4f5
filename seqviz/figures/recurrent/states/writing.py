"""A character model reads a text, or its own output."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.states.tying import TIED_PARTS, Tables
from seqviz.compute.recurrent.states.writing import ByStep, GeneratedText, LettersRead
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales
from seqviz.plotting.progress_figure import share_done

GUESSES = 8  # number of bars of the next letter
SHOWN = 24  # maximum number of steps of a generated text
_LOOK = {  # role of the color and dash by input
    "forced": ("gru", "solid"), "free": ("rnn", "dash"), "other": ("baseline", "dashdot"),
}  # fmt: skip
_VISIBLE = {" ": "␣", "\n": "⏎"}


def visible(letter: str) -> str:
    """Return a letter as an axis label."""
    return _VISIBLE.get(letter, letter)


def letters_read(letters_read: LettersRead, index: int, style: Style = STYLE) -> Figure:
    """Plot the bits of each letter (left), and the likeliest letters at one position (right).

    Lines: means over this text, of the network and of count-based models.

    Args:
        letters_read: predictions for a text.
        index: position, from 1.
        style: language, theme and scale of the figure.
    """
    label, palette, sheet = style.labels("figure.states_"), style.palette, Sheet(style)
    pieces = [visible(piece) for piece in letters_read.pieces]
    guesses, comes = letters_read.first(index, GUESSES), letters_read.ids[index - 1]
    names = [escape(visible(letters_read.symbols[k])) for k in guesses]
    probabilities = 100 * 2.0 ** letters_read.log2[index - 1, guesses]
    top = 1.12 * float(max(letters_read.bits.max(), letters_read.mean_alone))
    left, right = sheet.row(
        (axes.tokens(style, pieces, label("letter")), axes.axis(label("bits"), range=[0, top])),
        (axes.axis(label("chance"), range=[0, max(1.3 * float(probabilities.max()), 10)]),
         axes.ranks(names, label("next"), "")),
        gaps=(0.64, 0.76), titles=("", label("before", place=index)),
    )  # fmt: skip
    colors = [palette.highlight if k == index else palette.gru for k in range(1, len(pieces) + 1)]
    left.token_bars(letters_read.bits, label("network"), colors, legend=False, hover="%{y:.2f}")
    ends = [0.5, len(pieces) + 0.5]
    left.line(ends, [letters_read.mean_bits] * 2, label("network"), palette.gru, width=2,
              hover=False)  # fmt: skip
    for name, dash in (("fives", "dashdot"), ("pairs", "dash"), ("alone", "dot")):
        left.reference(ends, [getattr(letters_read, f"mean_{name}")] * 2, label(name), dash=dash)
    colors = [palette.highlight if k == comes else palette.gru for k in guesses]
    right.ranked_bars(probabilities, label("chance"), colors, legend=False, hover="%{x:.1f}%")
    sheet.margin(t=52)
    sheet.legend(y=1.06)
    return sheet.described(
        "alt.states_read", gap=0.16, names={"x": pieces, "y2": names}, first_name=names[0],
        name=escape(pieces[index - 1]), read=letters_read, **letters_read.guess(index),
    )  # fmt: skip


def own_letters(generated_text: GeneratedText, style: Style = STYLE) -> Figure:
    """Plot the letters of the text and of the network (top), and the text's bits (bottom).

    The bits are those of the text's letters after its own letters, and after the network's.
    """
    label, palette, sheet = style.labels("figure.states_"), style.palette, Sheet(style)
    text = generated_text
    steps = max(1, min(SHOWN, max(len(text.generated), len(text.true))))
    rows = [[visible(item) for item in row[:steps]] for row in (text.true, text.generated)]
    rows = [row + [""] * (steps - len(row)) for row in rows]
    curves = [row[:steps] for row in (text.forced, text.free)]
    top = 1.1 * max(1.0, *(float(curve.max(initial=0)) for curve in curves))
    above = sheet.panel(
        axes.axis(range=[0.5, steps + 0.5], showticklabels=False, showgrid=False),
        axes.names([label("text"), label("own")], label("letters"), range=[2.5, 0.5]),
        up=(0.74, 1.0),
    )
    other = np.array([[0.0] * steps, [a != b and b != "" for a, b in zip(*rows, strict=True)]])
    above.cells(0.6 * other, label("differs"), scales.tint(), bar=None, xgap=1, ygap=1, hover=False)
    font = {"size": 12 * style.scale, "color": palette.truth}
    for k, row in enumerate(rows, 1):
        above.marks_text(np.arange(1, steps + 1), [k] * steps, [escape(item) for item in row],
                         textfont=font)  # fmt: skip
    below = sheet.panel(axes.tokens(style, rows[0], label("true_letter")),
                        axes.axis(label("bits"), range=[-0.03 * top, top]),
                        up=(0.0, 0.58))  # fmt: skip
    marks = (("forced", palette.gru, "solid", "circle"), ("free", palette.rnn, "dash", "diamond"))
    for values, (name, color, dash, symbol) in zip(curves, marks, strict=True):
        below.line(np.arange(1, len(values) + 1), values, label(name), color, dash=dash,
                   symbol=symbol, hover="%{y:.2f}")  # fmt: skip
    return sheet.described("alt.states_own", before=escape("".join(text.before)),
                           own=escape("".join(text.generated)), result=text)  # fmt: skip


def bits_by_step(by_step: ByStep, temperature: float, style: Style = STYLE) -> Figure:
    """Plot bits of a sentence's letters (left), and a judge's bits of generated ones (right).

    The judge is a second network. Bands: 95% intervals over sentences. Dotted: letter frequencies.

    Args:
        by_step: bits by step.
        temperature: sampling temperature.
        style: language, theme and scale of the figure.
    """
    label, palette, sheet = style.labels("figure.states_"), style.palette, Sheet(style)
    case = by_step.case(temperature)
    steps = np.arange(1, by_step.bits.shape[-1] + 1)
    x = axes.axis(label("step", before=by_step.before), range=[0.5, len(steps) + 0.5])
    y = [axes.axis(label("bits"), range=[0, 1.08 * float(part.sum(0).max())])
         for part in (by_step.bits, by_step.judged)]  # fmt: skip
    left, right = sheet.row((x, y[0]), (x, y[1]), gaps=(0.43, 0.57),
                            titles=(label("of_text"), label("judged")))  # fmt: skip
    for panel, (mean, half), rows in (
        (left, by_step.bits, {"forced": 0, "free": case + 1, "other": 1}),
        (right, by_step.judged, {"forced": 0, "free": case}),
    ):
        for name, row in rows.items():
            role, dash = _LOOK[name]
            color = getattr(palette, role)
            panel.band(steps, mean[row] - half[row], mean[row] + half[row], color)
            panel.line(steps, mean[row], label(name), color, dash=dash, hover="%{y:.2f}")
    left.reference(steps, [by_step.alone] * len(steps), label("alone"))
    sheet.margin(t=72)
    sheet.legend(y=1.12)
    return sheet.described("alt.states_by_step", gap=0.24, temperature=temperature, result=by_step,
                           **by_step.means(temperature))  # fmt: skip


def steps_so_far(done: object, style: Style = STYLE) -> Figure:
    """Plot the share of the work done so far."""
    words = {"read": "figure.states_done", "of": "figure.states_work", "alt": "alt.states_so_far"}
    return share_done(done, style, **words)


def tied_tables(tables: Tables, style: Style = STYLE) -> Figure:
    """Plot parameters with a narrow input table, with two equal tables, and with a tied one."""
    label, palette = style.labels("figure.states_"), style.palette
    sheet = Sheet(style, barmode="stack")
    every = np.array([tables.narrow, tables.untied, tables.tied], float)
    names = [label(k) for k in ("narrow", "untied", "tied")]
    panel = sheet.panel(
        axes.axis(label("parameters"), tickformat="~s", range=[0, 1.25 * every.sum(1).max()]),
        axes.ranked(names, label("tables")),
    )
    ends = [f"{int(item):,}" for item in every.sum(1)]
    colors = (palette.prediction, palette.baseline, palette.rnn)
    for k, (part, color) in enumerate(zip(TIED_PARTS, colors, strict=True)):
        panel.ranked_bars(every[:, k], label(f"part_{part}"), color, hover="%{x:,.0f}",
                          ends=ends if part == TIED_PARTS[-1] else None)  # fmt: skip
    sheet.legend(traceorder="normal")
    return sheet.described("alt.states_tied", names={"y": names}, tables=tables)
