"""A character model reads a text, or what it has written itself."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.states.tying import TIED_PARTS, Tables
from seqviz.compute.recurrent.states.writing import ByStep, GeneratedText, LettersRead
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales
from seqviz.plotting.progress_figure import share_done

GUESSES = 8  # bars of the next letter
SHOWN = 24  # steps of a text that is written
_LEFT, _RIGHT = (0.0, 0.64), (0.76, 1.0)
_HALF, _OTHER = (0.0, 0.43), (0.57, 1.0)
_VISIBLE = {" ": "␣", "\n": "⏎"}


def visible(letter: str) -> str:
    """A letter on an axis."""
    return _VISIBLE.get(letter, letter)


def letters_read(letters_read: LettersRead, index: int, style: Style = STYLE) -> Figure:
    """Left the bits of each letter, right the likeliest letters before the one at `index` (from 1).

    Lines: the mean over this text, of the network and of what counts pay for it.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    pieces = [visible(piece) for piece in letters_read.pieces]
    at = np.arange(1, len(pieces) + 1)
    top = 1.12 * float(max(letters_read.bits.max(), letters_read.mean_alone))
    left = sheet.panel(
        axes.tokens(style, pieces, text("figure.states_letter")),
        axes.axis(text("figure.states_bits"), range=[0, top]), across=_LEFT,
    )  # fmt: skip
    colors = [palette.highlight if k == index else palette.gru for k in at]
    left.bars(
        at, letters_read.bits, text("figure.states_network"), colors, legend=False, hover="%{y:.2f}"
    )
    ends = [0.5, len(pieces) + 0.5]
    left.line(
        ends,
        [letters_read.mean_bits] * 2,
        text("figure.states_network"),
        palette.gru,
        width=2,
        hover=False,
    )
    left.reference(ends, [letters_read.mean_fives] * 2, text("figure.states_fives"), dash="dashdot")
    left.reference(ends, [letters_read.mean_pairs] * 2, text("figure.states_pairs"), dash="dash")
    left.reference(ends, [letters_read.mean_alone] * 2, text("figure.states_alone"))
    guesses = letters_read.first(index, GUESSES)
    names = [escape(visible(letters_read.symbols[k])) for k in guesses]
    probabilities = 100 * 2.0 ** letters_read.log2[index - 1, guesses]
    right = sheet.panel(
        axes.axis(
            text("figure.states_chance"), range=[0, max(1.3 * float(probabilities.max()), 10)]
        ),
        axes.ranks(names, text("figure.states_next"), ""),
        across=_RIGHT,
        title=text("figure.states_before", place=index),
    )
    comes = letters_read.ids[index - 1]
    right.bars(
        np.arange(1, len(names) + 1), probabilities, text("figure.states_chance"),
        [palette.highlight if k == comes else palette.gru for k in guesses], sideways=True,
        legend=False, hover="%{x:.1f}%",
    )  # fmt: skip
    sheet.margin(t=52)
    sheet.legend(y=1.06)
    return sheet.described(
        "alt.states_read", gap=0.16, names={"x": pieces, "y2": names}, letters=len(pieces),
        place=index, letter=escape(pieces[index - 1]), first=names[0],
        chance=float(probabilities[0]) / 100,
        bits=float(letters_read.bits[index - 1]), mean=letters_read.mean_bits,
        pairs=letters_read.mean_pairs, alone=letters_read.mean_alone,
        fives=letters_read.mean_fives,
    )  # fmt: skip


def own_letters(generated_text: GeneratedText, style: Style = STYLE) -> Figure:
    """Above the letters of the text and those that the network wrote, below the text's bits.

    Bits of the same letters: after the text's own ones, and after the network's.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    steps = max(1, min(SHOWN, max(len(generated_text.generated), len(generated_text.true))))
    rows = [
        [visible(item) for item in row[:steps]]
        for row in (generated_text.true, generated_text.generated)
    ]
    rows = [row + [""] * (steps - len(row)) for row in rows]
    other = np.array([[0.0] * steps, [a != b and b != "" for a, b in zip(*rows, strict=True)]])
    above = sheet.panel(
        axes.axis(range=[0.5, steps + 0.5], showticklabels=False, showgrid=False),
        axes.names([text("figure.states_text"), text("figure.states_own")],
                   text("figure.states_letters"), range=[2.5, 0.5]),
        up=(0.74, 1.0),
    )  # fmt: skip
    above.cells(
        0.6 * other, text("figure.states_differs"), scales.tint(), bar=None, xgap=1, ygap=1,
        hover=False,
    )  # fmt: skip
    for k, row in enumerate(rows, 1):
        above.marks_text(np.arange(1, steps + 1), [k] * steps, [escape(item) for item in row],
                      textfont={"size": 12 * style.scale, "color": palette.truth})  # fmt: skip
    curves = [row[:steps] for row in (generated_text.forced, generated_text.free)]
    top = 1.1 * max(1.0, *(float(curve.max(initial=0)) for curve in curves))
    below = sheet.panel(
        axes.tokens(style, rows[0], text("figure.states_true_letter")),
        axes.axis(text("figure.states_bits"), range=[-0.03 * top, top]), up=(0.0, 0.58),
    )  # fmt: skip
    for values, name, color, dash, symbol in (
        (curves[0], "forced", palette.gru, "solid", "circle"),
        (curves[1], "free", palette.rnn, "dash", "diamond"),
    ):
        below.line(np.arange(1, len(values) + 1), values, text(f"figure.states_{name}"), color,
                   dash=dash, symbol=symbol, hover="%{y:.2f}")  # fmt: skip
    return sheet.described(
        "alt.states_own",
        before=escape("".join(generated_text.before)),
        own=escape("".join(generated_text.generated)),
        parted=generated_text.parted,
        forced=generated_text.mean_forced,
        free=generated_text.mean_free,
    )


def bits_by_step(by_step: ByStep, temperature: float, style: Style = STYLE) -> Figure:
    """Left the bits of the sentence's letters, right a second network's of what was written.

    Bands: 95% intervals over sentences. The dotted line: a letter by its frequency.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    case = by_step.case(temperature)
    steps = np.arange(1, by_step.bits.shape[-1] + 1)
    left = sheet.panel(
        axes.axis(text("figure.states_step", before=by_step.before), range=[0.5, len(steps) + 0.5]),
        axes.axis(text("figure.states_bits"), range=[0, 1.08 * float(by_step.bits.sum(0).max())]),
        across=_HALF, title=text("figure.states_of_text"),
    )  # fmt: skip
    right = sheet.panel(
        axes.axis(text("figure.states_step", before=by_step.before), range=[0.5, len(steps) + 0.5]),
        axes.axis(text("figure.states_bits"), range=[0, 1.08 * float(by_step.judged.sum(0).max())]),
        across=_OTHER, title=text("figure.states_judged"),
    )  # fmt: skip
    styles = {
        "forced": (palette.gru, "solid"), "free": (palette.rnn, "dash"),
        "other": (palette.baseline, "dashdot"),
    }  # fmt: skip
    for panel, values, rows in (
        (left, by_step.bits, {"forced": 0, "free": case + 1, "other": 1}),
        (right, by_step.judged, {"forced": 0, "free": case}),
    ):
        for name, row in rows.items():
            color, dash = styles[name]
            mean, half = values[:, row]
            panel.band(steps, mean - half, mean + half, color)
            summary = text(f"figure.states_{name}")
            panel.line(
                steps, mean, summary, color, dash=dash, legend=panel is left, hover="%{y:.2f}"
            )
    left.reference(steps, [by_step.alone] * len(steps), text("figure.states_alone"))
    sheet.margin(t=72)
    sheet.legend(y=1.12)
    return sheet.described(
        "alt.states_by_step", gap=0.24, sentences=by_step.sentences, before=by_step.before,
        temperature=temperature, forced=float(by_step.bits[0, 0].mean()),
        free=float(by_step.bits[0, case + 1].mean()),
        other=float(by_step.bits[0, 1].mean()),
        judged=float(by_step.judged[0, case].mean()),
        truth=float(by_step.judged[0, 0].mean()),
    )  # fmt: skip


def steps_so_far(done: object, style: Style = STYLE) -> Figure:
    """How much of the work is done."""
    return share_done(
        done, style, read="figure.states_done", of="figure.states_work", alt="alt.states_so_far"
    )


def tied_tables(tables: Tables, style: Style = STYLE) -> Figure:
    """Parameters with a narrow input table, with two equal ones, and with one for both."""
    text, palette = style.text, style.palette
    sheet = Sheet(style, barmode="stack")
    every = np.array([tables.narrow, tables.untied, tables.tied], float)
    names = [text(f"figure.states_{k}") for k in ("narrow", "untied", "tied")]
    panel = sheet.panel(
        axes.axis(
            text("figure.states_parameters"),
            tickformat="~s",
            range=[0, 1.25 * float(every.sum(1).max())],
        ),
        axes.names(names, text("figure.states_tables"), range=[3.6, 0.4]),
    )
    for k, (part, color) in enumerate(
        zip(TIED_PARTS, (palette.prediction, palette.baseline, palette.rnn), strict=True)
    ):
        ends = [f"{int(item):,}" for item in every.sum(1)] if k == len(TIED_PARTS) - 1 else None
        panel.bars([1, 2, 3], every[:, k], text(f"figure.states_part_{part}"), color,
                   sideways=True, ends=ends, hover="%{x:,.0f}")  # fmt: skip
    sheet.legend(traceorder="normal")
    return sheet.described(
        "alt.states_tied", names={"y": names}, symbols=tables.symbols, hidden=tables.hidden,
        narrow=tables.all_narrow, untied=tables.all_untied,
        tied=tables.all_tied,
    )  # fmt: skip
