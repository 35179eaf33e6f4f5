"""Networks compared: their predictions, their sizes, their training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gates.agreement import AgreementPair
from seqviz.compute.gates.counting import ParameterTable
from seqviz.compute.gates.observation import Expectation
from seqviz.compute.gates.tiny_results import Tiny, TinyReport, TinySettings
from seqviz.compute.training.loop import distinct
from seqviz.core.i18n import number
from seqviz.figures.gates.style import CELLS, LOOKS, at_step, marked
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, axis, escape

_PARTS = {"input": ("prediction", ""), "recurrent": ("highlight", "/"), "biases": ("baseline", ".")}


def agreement(
    expectation: Expectation, pair: AgreementPair | None = None, style: Style = STYLE
) -> Figure:
    """Plot the log ratio of the plural verb to the singular one after each word, in bits.

    Above zero the network expects the plural. A probability of exactly 0 leaves a gap. With `pair`,
    thin lines are the other sentence, and the lower panel has the effect in bits of the word in
    which they differ; its bands are the 95% intervals of the mean over other nouns.

    Args:
        expectation: probabilities after each word.
        pair: both sentences and the effects.
        style: language, theme and scale of the figure.
    """
    text, words = style.text, expectation.words
    item, many = map(escape, expectation.candidates)
    title = text("figure.log_ratio", plural=many, singular=item)
    sheet = Sheet(style)
    visible = [expectation, *([pair.second] if pair else [])]
    below: dict[str, Any] = {"anchor": "y2"} if pair else {}
    upper = sheet.panel(
        axes.tokens(style, words, text("figure.words_so_far"), **below),
        axis(title, range=_around_zero(*(entry.bits for entry in visible))),
        up=(0.5, 1) if pair else None,
    )
    _zero(upper, len(words), text("figure.equally_likely"))
    for faint, expected in zip((False, True), visible, strict=False):
        subject = escape(expected.words[pair.position - 1]) if pair else ""
        _expected(upper, expected, subject, faint)
    for y, anchor, word in ((1, "top", f"↑ {many}"), (0, "bottom", f"↓ {item}")):
        upper.words(text("figure.more_likely", word=f"<i>{word}</i>"), 0.99, y, xref="domain",
                    yref="domain", xanchor="right", yanchor=anchor,
                    color=style.palette.baseline)  # fmt: skip
    if pair:
        _differences(sheet, upper, pair)
    first, second = expectation.candidates
    endings = _by_network(expectation, _finite(expectation.bits)[:, -1], style)
    alt = text("alt.agreement", plural=second, singular=first, words=len(words), endings=endings)
    if pair:
        at = pair.position - 1
        effects = _by_network(expectation, pair.effect[:, at], style)
        nouns = {"one": pair.first.words[at], "other": pair.second.words[at]}
        alt = f"{alt} {text('alt.effects', **nouns, effects=effects)}"
    return sheet.finish(alt)


def _by_network(expectation: Expectation, bits: Float[np.ndarray, "network"], style: Style) -> str:
    """Return a number for each network as text."""
    cells = (name.rsplit("_", 1)[-1] for name in expectation.networks)
    named = zip(cells, bits, strict=True)
    return "; ".join(f"{style.text(f'option.{cell}')}: {number(value)}" for cell, value in named)


def _finite(bits: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
    return np.where(np.isfinite(bits), bits, np.nan)


def _around_zero(*bits: Float[np.ndarray, "*any"]) -> list[float]:
    finite = np.concatenate([np.ravel(bit[np.isfinite(bit)]) for bit in bits])
    reach = 1.18 * max(1.0, float(np.abs(finite).max(initial=0)))
    return [-reach, reach]


def _zero(panel: Panel, words: int, name: str) -> None:
    panel.line([0.5, words + 0.5], [0, 0], name, panel.style.palette.truth, width=1.6, dash="dot",
               hover=False, legend=False)  # fmt: skip


def _expected(panel: Panel, expectation: Expectation, subject: str, faint: bool) -> None:
    """Draw a line for each network; a `faint` one is thinner with open markers."""
    text, palette = panel.style.text, panel.style.palette
    item, many = map(escape, expectation.candidates)
    for network, values, p in zip(
        expectation.networks, _finite(expectation.bits), expectation.probability, strict=True
    ):
        cell = network.rsplit("_", 1)[-1]
        dash, symbol = CELLS[cell]
        panel.line(
            np.arange(1, len(expectation.words) + 1), values,
            f"{text(f'option.{cell}')}{', ' * bool(subject)}{subject}", getattr(palette, cell),
            dash=dash, symbol=f"{symbol}-open" if faint else symbol, size=9,
            width=1.4 if faint else 2.6,
            customdata=[[number(float(plural)), number(float(single))] for single, plural in p],
            hover=f"%{{x}}<br>P({many}) = %{{customdata[0]}}<br>"
            f"P({item}) = %{{customdata[1]}}{NAMED}",
        )  # fmt: skip


def _differences(sheet: Sheet, upper: Panel, pair: AgreementPair) -> None:
    """Draw the effect of the differing word: that of this pair, and the mean over others."""
    text, palette = sheet.style.text, sheet.style.palette
    mean = pair.mean
    lower = sheet.panel(
        upper, axis(text("figure.effect"), range=_around_zero(pair.effect, *mean.ci)),
        up=(0, 0.4),
    )  # fmt: skip
    steps = np.arange(1, len(pair.first.words) + 1)
    _zero(lower, len(steps), text("figure.no_effect"))
    lower.title(text("figure.effects", count=pair.effects.shape[1]), color=palette.baseline)
    for row, network in enumerate(pair.first.networks):
        cell = network.rsplit("_", 1)[-1]
        dash, symbol = CELLS[cell]
        color, name = getattr(palette, cell), text(f"option.{cell}")
        lower.band(steps, *mean[row].ci, color)
        styles: tuple[tuple[str, Any, dict[str, Any]], ...] = (
            ("mean_effect", mean.mean, {"symbol": symbol, "dash": dash, "size": 8}),
            ("this_effect", pair.effect, {"symbol": "x", "mode": "markers", "size": 10}),
        )
        for key, values, style in styles:
            lower.line(
                steps, _finite(values[row]), text(f"figure.{key}", cell=name), color,
                legend=False, hover="%{x}: %{y:.2f}" + NAMED, **style,
            )  # fmt: skip


def parameter_bars(parameter_table: ParameterTable, style: Style = STYLE) -> Figure:
    """Plot the parameters of the three cells, stacked by part, with their totals."""
    text, palette = style.text, style.palette
    names = [text(f"option.{cell}") for cell in parameter_table.cells]
    totals = [item.total for item in parameter_table.counted]
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
            names, [getattr(item, part) for item in parameter_table.counted],
            text(f"figure.part_{part}"), None, sideways=True, hover="%{y}: %{x:,d}" + NAMED,
            marker={"color": getattr(palette, role), "pattern": pattern},
        )  # fmt: skip
    for name, total in zip(names, totals, strict=True):
        panel.words(f"<b>{total:,}</b>", total, name, size=15, xanchor="left", xshift=5)
    summary = (f"{name}: {total:,}" for name, total in zip(names, totals, strict=True))
    return sheet.described("alt.parameters", totals="; ".join(summary))


def training_curve(done: Tiny, style: Style = STYLE) -> Figure:
    """Plot the accuracy of a small network on its task by update (left), and its gate (right).

    The gate is the one that keeps, after each symbol of the task's example, mean over units. When
    the training is played again, it is that of each report.
    """
    return _course(done.updates, done.accuracy, done.gate, done.settings, style)


def training_progress(
    trail: Sequence[TinyReport], settings: TinySettings, style: Style = STYLE
) -> Figure:
    """Plot `training_curve` of a running training.

    The axis of the updates is that of the whole run, so it does not move while the curve grows.

    Args:
        trail: reports so far, at least one.
        settings: settings of the training.
        style: language, theme and scale of the figure.
    """
    reports = distinct(trail)
    updates, accuracy, gate = (
        np.array([getattr(report, name) for report in reports])
        for name in ("update", "accuracy", "gate")
    )
    return _course(updates, accuracy, gate, settings, style)


def _course(
    updates: Int[np.ndarray, "report"], accuracy: Float[np.ndarray, "report"],
    gate: Float[np.ndarray, "report step"], settings: TinySettings, style: Style,
) -> Figure:  # fmt: skip
    text, palette, cell, example = style.text, style.palette, settings.cell, settings.example
    letter = "f" if cell == "lstm" else "z"
    named, now = text(f"figure.gate_{letter}"), gate[-1]
    sheet = Sheet(style)
    left, right = sheet.row(
        (axis(text("figure.update"), range=[0, settings.updates * 1.02]),
         axis(text("figure.accuracy"), range=[-3, 104])),
        (axes.tokens(style, example, text("figure.example_read")),
         axis(text("figure.mean_of_gate", gate=named), range=[-0.03, 1.04])),
        gaps=(0.5, 0.62),
    )  # fmt: skip
    left.replays()
    dash, symbol = CELLS[cell]
    left.line(
        updates, 100 * accuracy, text(f"option.{cell}"), getattr(palette, cell), width=2.8,
        dash=dash, symbol=marked(symbol, len(updates)), hover="%{x:,d}: %{y:.1f}%" + NAMED,
    )  # fmt: skip
    role, dash, symbol = LOOKS[letter]
    right.line(np.arange(1, len(example) + 1), now, named, getattr(palette, role), dash=dash,
               symbol=symbol, hover=at_step(text))  # fmt: skip
    right.learns(updates, gate)
    return sheet.described(
        "alt.gate_training", cell=text(f"option.{cell}"), update=int(updates[-1]),
        accuracy=float(accuracy[-1]), gate=named, units=settings.hidden,
        example="".join(example), low=now.min(), high=now.max(),
    )  # fmt: skip
