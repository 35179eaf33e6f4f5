"""Letter taggers: errors by wiring and tag, errors by look-ahead, one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from seqviz.compute.recurrent.tagging.letters import TAGS, WIRINGS, TaggedText
from seqviz.compute.recurrent.tagging.letters_compared import Compared, ErrorRate, TrainedAhead
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape, scales
from seqviz.stats.estimate import Estimate, stack

LINE = 16  # number of characters in a line of a text
_LOOK = {"uni": ("rnn", "circle"), "two": ("mlp", "square"), "bi": ("prediction", "diamond")}


def _color(style: Style, wiring: str) -> str:
    return str(getattr(style.palette, _LOOK[wiring][0]))


def _over_sentences(error_rates: Iterable[ErrorRate]) -> Estimate:
    return stack(item.sentences for item in error_rates).clip(0, np.inf)


def errors_by_wiring(comparison: Compared, style: Style = STYLE) -> Figure:
    """Plot the percent of wrong tags by network (left), and by true tag (right).

    Whiskers: 95% intervals over sentences; small marks: seeds. Dashed: each letter gets its
    symbol's most frequent tag; dotted: each letter gets the most frequent tag of all.
    """
    label, palette, sheet = style.labels("figure.letters_"), style.palette, Sheet(style)
    error = _over_sentences(comparison.error(wiring) for wiring in WIRINGS)
    facts = comparison.errors()
    names = [label(f"{wiring}_lines") for wiring in WIRINGS]
    tags = [label(f"tag_{tag}") for tag in TAGS]
    top = 1.15 * max(facts["majority"], *error.high)
    left, right = sheet.row(
        (axes.names(names, label("network")), axes.axis(label("error"), range=[0, top])),
        (axes.axis(label("error_tag"), range=[-3, 103]),
         axes.names(tags, label("tag"), range=[len(tags) + 0.5, 0.5])),
        gaps=(0.4, 0.62),
    )  # fmt: skip
    left.token_bars(error, label("wrong"), [_color(style, wiring) for wiring in WIRINGS],
                    legend=False, hover="%{y:.2f}", width=0.62)  # fmt: skip
    left.points(np.repeat(np.arange(1, 4) + 0.4, comparison.seeds),
                np.concatenate([comparison.by_seed(wiring) for wiring in WIRINGS]),
                label("seed"), palette.truth, size=5, hover="%{y:.2f}")  # fmt: skip
    for name, dash in (("majority", "dot"), ("alone", "dash")):
        left.reference([0.4, 3.6], [facts[name]] * 2, label(name), dash=dash)
    for k, wiring in enumerate(WIRINGS):
        by_tag = _over_sentences(comparison.error(wiring, tag) for tag in TAGS)
        right.estimates(by_tag, label(wiring), _color(style, wiring), sideways=True, dodge=(k, 3),
                        symbol=_LOOK[wiring][1], size=8, hover="%{x:.1f}")  # fmt: skip
    words = {"x": [name.replace("<br>", " ") for name in names], "y2": tags}
    return sheet.described("alt.letters_errors", names=words, gap=0.16, **facts)


def errors_ahead(
    comparison: Compared, trained: TrainedAhead, ahead: int, style: Style = STYLE
) -> Figure:
    """Plot the percent of wrong tags by look-ahead of the backward cell.

    Solid: one network trained for each look-ahead, with 95% intervals over sentences; small marks:
    seeds. Dashed: one network trained with full look-ahead and cut at use. Dotted: the
    left-to-right network. The vertical line is the chosen look-ahead.

    Args:
        comparison: results of the wirings.
        trained: results of the networks trained with each look-ahead.
        ahead: chosen look-ahead in characters.
        style: language, theme and scale of the figure.
    """
    label, sheet, color = style.labels("figure.letters_"), Sheet(style), _color(style, "bi")
    stops, facts = trained.ahead.tolist(), trained.reach(ahead, comparison)
    names = [*map(str, stops), label("all")]
    positions = np.arange(1, len(names) + 1)
    every = comparison.error("bi")
    errors = _over_sentences([*(trained.error(stop) for stop in stops), every])
    cut = [*(comparison.error_cut(stop).value for stop in stops), every.value]
    top = 1.08 * max(*errors.high, *cut, facts["uni"])
    panel = sheet.panel(
        axes.names(names, label("ahead")), axes.axis(label("error"), range=[0, top])
    )
    panel.vertical(stops.index(ahead) + 1, style.palette.highlight)
    panel.estimates(errors, label("trained"), color, symbol="diamond", size=9, hover="%{y:.2f}")
    seeds = [*(trained.by_seed(stop) for stop in stops), comparison.by_seed("bi")]
    panel.points(np.repeat(positions + 0.12, [len(seed) for seed in seeds]), np.concatenate(seeds),
                 label("seed"), style.palette.truth, size=5, hover="%{y:.2f}")  # fmt: skip
    panel.line(positions, cut, label("bi_cut"), color, dash="dash", hover="%{y:.2f}")
    panel.line([0.4, len(names) + 0.6], [facts["uni"]] * 2, label("uni"), _color(style, "uni"),
               dash="dot", hover=False)  # fmt: skip
    return sheet.described("alt.letters_ahead", names={"x": names}, **facts)


def tagged_text(tagged_text: TaggedText, ahead: int, letter: int, style: Style = STYLE) -> Figure:
    """Plot a text with the true tags and those of the networks (left), and one letter (right).

    A deeper cell gives less probability to the true tag. Outlined: letters that "uni" has wrong and
    "bi" right, and the letter on the right.

    Args:
        tagged_text: tags and probabilities.
        ahead: look-ahead of the last row.
        letter: letter on the right, from 1.
        style: language, theme and scale of the figure.
    """
    label, sheet, result = style.labels("figure.letters_"), Sheet(style), tagged_text
    rows = [label("read"), label("true"), label("uni"), label("bi"), label("bi_ahead", ahead=ahead)]
    lines = -(-len(result.text) // LINE)
    height = len(rows) + 1
    ticks = [line * height + k + 1 for line in range(lines) for k in range(len(rows))]
    name = label("letter", place=letter, sign=escape(result.text[letter - 1]))
    panel, beside = sheet.row(
        # Named ticks, though none: on a phone, the other axis then names the panel.
        (axes.axis(label("shading", ahead=ahead), range=[0.5, LINE + 0.5], tickvals=[],
                   ticktext=[], showgrid=False),
         axes.axis(label("tags"), range=[lines * height - 0.5, 0.5], tickvals=ticks,
                   ticktext=rows * lines, showgrid=False)),
        (axes.names(list(TAGS), name), axes.percent(label("probability"))),
        gaps=(0.68, 0.8),
    )  # fmt: skip
    _text_cells(panel, result, len(rows))
    framed = [(t, style.palette.highlight) for t in np.flatnonzero(result.needs_right).tolist()]
    for t, color in [*framed, (letter - 1, style.palette.prediction)]:
        line, column = divmod(t, LINE)
        panel.rectangle((column + 0.5, column + 1.5),
                        (line * height + 0.5, line * height + len(rows) + 0.5), color)  # fmt: skip
    for k, wiring in enumerate(("uni", "bi")):
        likely = 100 * result.probabilities[k, letter - 1] * (result.tags[letter - 1] >= 0)
        beside.bars(np.arange(1, 5) + 0.2 * (2 * k - 1), likely, label(wiring),
                    _color(style, wiring), width=0.36, hover="%{y:.1f}%")  # fmt: skip
    return sheet.described("alt.letters_text", text=escape(result.text), ahead=ahead,
                           **result.errors())  # fmt: skip


def _text_cells(panel: Panel, result: TaggedText, rows: int) -> None:
    """Write the text in lines, each with its rows of tags below, on cells tinted by error."""
    label = panel.style.labels("figure.letters_")
    true = ["" if tag < 0 else TAGS[tag] for tag in result.tags]
    visible = [list(result.text), true, *(result.tags_of(row) for row in range(rows - 2))]
    depth = np.full(((rows + 1) * -(-len(result.text) // LINE) - 1, LINE), np.nan, np.float32)
    hover = [[""] * LINE for _ in depth]
    # Separate text marks, because a narrow screen clips cell text that is wider than its cell.
    written: list[tuple[int, int, str]] = []
    for t, tag in enumerate(result.tags.tolist()):
        line, column = divmod(t, LINE)
        for k in range(rows):
            row = line * (rows + 1) + k
            depth[row, column] = 0
            if visible[k][t]:
                written.append((row + 1, column + 1, escape(visible[k][t])))
            if k > 1 and tag >= 0:
                likely = result.probabilities[k - 2, t]
                depth[row, column] = 0.75 * (1 - likely[tag])
                tags = ", ".join(f"{n} {p:.3f}" for n, p in zip(TAGS, likely, strict=True))
                hover[row][column] = label("hover", loss=result.losses[k - 2, t], tags=tags)
    panel.cells(depth, label("depth"), scales.tint(), bar=None, xgap=1, ygap=1, customdata=hover,
                hover="%{customdata}", hoverongaps=False)  # fmt: skip
    y, x, signs = zip(*sorted(written), strict=True)
    font = {"size": 13 * panel.style.scale, "color": panel.style.palette.truth}
    panel.marks_text(x, y, signs, textfont=font)


def losses_so_far(done: Any, style: Style = STYLE) -> Figure:
    """Plot the mean cross-entropy of a letter from the reports of a running training."""
    label, sheet, curves = style.labels("figure.letters_"), Sheet(style), done[-1]
    panel = sheet.panel(axes.axis(label("part"), range=[0, 26], dtick=5),
                        axes.axis(label("loss"), rangemode="tozero"))  # fmt: skip
    for wiring, losses in zip(("uni", "bi"), curves, strict=False):
        panel.line(np.arange(1, len(losses) + 1), losses, label(wiring), _color(style, wiring),
                   symbol=_LOOK[wiring][1], hover="%{y:.3f}")  # fmt: skip
    return sheet.described("alt.letters_so_far", networks=len(curves),
                           loss=float(curves[-1][-1]))  # fmt: skip


def trained_so_far(done: Any, style: Style = STYLE) -> Figure:
    """Plot the number of networks trained so far from the reports of a running training."""
    label, sheet = style.labels("figure.letters_"), Sheet(style, showlegend=False)
    some, of_all = done[-1]
    count = axes.axis(label("networks"), range=[0, of_all])
    panel = sheet.panel(count, axes.names([f"{some} / {of_all}"], label("of")))
    panel.bars([1], [some], label("networks"), style.palette.prediction, sideways=True, hover=False)
    return sheet.described("alt.letters_trained", some=some, all=of_all)
