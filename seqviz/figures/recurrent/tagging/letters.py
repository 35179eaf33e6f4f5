"""Taggers of letters: errors by wiring and place, errors by what is seen ahead, one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from seqviz.compute.recurrent.tagging.letters import TAGS, WIRINGS, TaggedText
from seqviz.compute.recurrent.tagging.letters_compared import Compared, ErrorRate, TrainedAhead
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales, whisker
from seqviz.stats.estimate import Estimate, stack

LINE = 16  # signs of a text side by side
_LEFT, _RIGHT = (0.0, 0.4), (0.62, 1.0)
_TEXT, _BARS = (0.0, 0.68), (0.8, 1.0)
_SYMBOL = {"uni": "circle", "two": "square", "bi": "diamond"}


def _color(style: Style, wiring: str) -> str:
    palette = style.palette
    return {"uni": palette.rnn, "two": palette.mlp, "bi": palette.prediction}[wiring]


def _over_sentences(error_rates: Iterable[ErrorRate]) -> Estimate:
    return stack(item.sentences for item in error_rates).clip(0, np.inf)


def errors_by_wiring(comparison: Compared, style: Style = STYLE) -> Figure:
    """Left wrong tags of 100 by network, right by true tag.

    Whiskers: 95% intervals over sentences; small marks: the seeds. Dashed: every letter gets the
    commonest tag of its own symbol; dotted: every letter gets the commonest tag of all.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    error = _over_sentences(comparison.error(wiring) for wiring in WIRINGS)
    names = [text(f"figure.letters_{wiring}_lines") for wiring in WIRINGS]
    top = max(comparison.baseline("majority"), *error.high)
    left = sheet.panel(
        axes.names(names, text("figure.letters_network")),
        axes.axis(text("figure.letters_error"), range=[0, 1.15 * top]),
        across=_LEFT,
    )
    left.bars(
        np.arange(1, 4), error.mean, text("figure.letters_wrong"),
        [_color(style, wiring) for wiring in WIRINGS], whiskers=error.ci,
        legend=False, hover="%{y:.2f}", width=0.62,
    )  # fmt: skip
    at = np.repeat(np.arange(1, 4) + 0.4, comparison.seeds)
    left.points(at, np.concatenate([comparison.by_seed(wiring) for wiring in WIRINGS]),
                text("figure.letters_seed"), palette.truth, size=5, hover="%{y:.2f}")  # fmt: skip
    for name, dash in (("majority", "dot"), ("alone", "dash")):
        value = comparison.baseline(name)
        left.reference([0.4, 3.6], [value, value], text(f"figure.letters_{name}"), dash=dash)
    tags = [text(f"figure.letters_tag_{tag}") for tag in TAGS]
    right = sheet.panel(
        axes.axis(text("figure.letters_error_tag"), range=[-3, 103]),
        axes.names(tags, text("figure.letters_tag"), range=[len(tags) + 0.5, 0.5]),
        across=_RIGHT,
    )
    for k, item in enumerate(WIRINGS):
        by_tag = _over_sentences(comparison.error(item, tag) for tag in TAGS)
        color = _color(style, item)
        right.points(
            by_tag.mean, np.arange(1, len(tags) + 1) + 0.2 * (k - 1),
            text(f"figure.letters_{item}"), color, symbol=_SYMBOL[item], size=8, hover="%{x:.1f}",
            error_x=whisker(by_tag.mean, *by_tag.ci, color),
        )  # fmt: skip
    return sheet.described(
        "alt.letters_errors",
        names={"x": [name.replace("<br>", " ") for name in names], "y2": tags},
        **dict(zip(WIRINGS, error.mean.tolist(), strict=True)),
        alone=comparison.baseline("alone"),
        majority=comparison.baseline("majority"),
        sentences=comparison.sentences,
        seeds=comparison.seeds,
        gap=0.16,
    )


def errors_ahead(
    comparison: Compared, trained: TrainedAhead, ahead: int, style: Style = STYLE
) -> Figure:
    """Wrong tags of 100 by how many signs ahead the backward cell reads; whiskers as above.

    Solid: a network for each number, trained with so many; small marks: the seeds. Dashed: the one
    network that was trained with all of them, cut when it is used. Dotted: the network that reads
    to the right only. The vertical line is the chosen number.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    stops = trained.ahead.tolist()
    names = [*map(str, stops), text("figure.letters_all")]
    positions = np.arange(1, len(names) + 1)
    every = comparison.error("bi")
    errors = _over_sentences([*(trained.error(stop) for stop in stops), every])
    cut = [*(comparison.error_cut(stop).value for stop in stops), every.value]
    uni = comparison.error("uni").value
    panel = sheet.panel(
        axes.names(names, text("figure.letters_ahead")),
        axes.axis(text("figure.letters_error"), range=[0, 1.08 * max(*errors.high, *cut, uni)]),
    )
    panel.vertical(stops.index(ahead) + 1, palette.highlight)
    color = _color(style, "bi")
    panel.line(positions, errors.mean, text("figure.letters_trained"), color, symbol="diamond",
               size=9, hover="%{y:.2f}",
               error_y=whisker(errors.mean, *errors.ci, color))  # fmt: skip
    seeds = [*(trained.by_seed(stop) for stop in stops), comparison.by_seed("bi")]
    at = np.repeat(positions + 0.12, [len(seed) for seed in seeds])
    panel.points(at, np.concatenate(seeds), text("figure.letters_seed"), palette.truth, size=5,
                 hover="%{y:.2f}")  # fmt: skip
    panel.line(positions, cut, text("figure.letters_bi_cut"), color, dash="dash", hover="%{y:.2f}")
    panel.line([0.4, len(names) + 0.6], [uni, uni], text("figure.letters_uni"),
               _color(style, "uni"), dash="dot", hover=False)  # fmt: skip
    return sheet.described(
        "alt.letters_ahead",
        names={"x": names},
        ahead=ahead,
        value=trained.error(ahead).value,
        cut=comparison.error_cut(ahead).value,
        all=every.value,
        uni=uni,
    )


def tagged_text(tagged_text: TaggedText, ahead: int, letter: int, style: Style = STYLE) -> Figure:
    """Left a text, and below each line its tags: the true ones and those of the networks.

    The deeper a cell, the less of the probability has the true tag; a frame stands around letters
    that "uni" has wrong and "bi" has right. Right the probabilities of one letter, from 1.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    rows = [text("figure.letters_read"), text("figure.letters_true"), text("figure.letters_uni"),
            text("figure.letters_bi"), text("figure.letters_bi_ahead", ahead=ahead)]  # fmt: skip
    lines = -(-len(tagged_text.text) // LINE)
    height = len(rows) + 1
    depth = np.full((lines * height - 1, LINE), np.nan, np.float32)
    characters: list[list[str]] = [[""] * LINE for _ in depth]
    hover: list[list[str]] = [[""] * LINE for _ in depth]
    true = ["" if tag < 0 else TAGS[tag] for tag in tagged_text.tags]
    visible = [
        list(tagged_text.text),
        true,
        *(tagged_text.tags_of(row) for row in range(len(rows) - 2)),
    ]
    for t in range(len(tagged_text.text)):
        line, column = divmod(t, LINE)
        for k in range(len(rows)):
            row = line * height + k
            characters[row][column] = escape(visible[k][t])
            depth[row, column] = 0
            if k > 1 and tagged_text.tags[t] >= 0:
                likely = tagged_text.probabilities[k - 2, t]
                depth[row, column] = 0.75 * (1 - likely[tagged_text.tags[t]])
                hover[row][column] = text(
                    "figure.letters_hover", loss=tagged_text.losses[k - 2, t],
                    tags=", ".join(f"{n} {p:.3f}" for n, p in zip(TAGS, likely, strict=True)),
                )  # fmt: skip
    ticks = [line * height + k + 1 for line in range(lines) for k in range(len(rows))]
    panel = sheet.panel(
        axes.axis(range=[0.5, LINE + 0.5], showticklabels=False, showgrid=False),
        axes.axis(text("figure.letters_tags"), range=[len(depth) + 0.5, 0.5], tickvals=ticks,
                  ticktext=rows * lines, showgrid=False),
        across=_TEXT,
    )  # fmt: skip
    panel.cells(
        depth, text("figure.letters_depth"), scales.tint(), bar=None, xgap=1, ygap=1,
        customdata=hover, hover="%{customdata}", hoverongaps=False,
    )  # fmt: skip
    # Not written by the map itself: a narrow screen would cut what is wider than its cell.
    written = [
        (c + 1, r + 1, item)
        for r, row in enumerate(characters)
        for c, item in enumerate(row)
        if item
    ]
    x, y, signs = zip(*written, strict=True)
    panel.marks_text(x, y, signs, textfont={"size": 13 * style.scale, "color": palette.truth})
    framed = [(t, palette.highlight) for t in np.flatnonzero(tagged_text.needs_right).tolist()]
    for t, color in [*framed, (letter - 1, palette.prediction)]:
        line, column = divmod(t, LINE)
        panel.rectangle((column + 0.5, column + 1.5),
                        (line * height + 0.5, line * height + len(rows) + 0.5), color)  # fmt: skip
    name = text("figure.letters_letter", place=letter, sign=escape(tagged_text.text[letter - 1]))
    share = axes.percent(text("figure.letters_probability"))
    beside = sheet.panel(axes.names(list(TAGS), name), share, across=_BARS)
    for k, entry in enumerate(("uni", "bi")):
        likely = (
            100 * tagged_text.probabilities[k, letter - 1] * (tagged_text.tags[letter - 1] >= 0)
        )
        beside.bars(np.arange(1, 5) + 0.2 * (2 * k - 1), likely, text(f"figure.letters_{entry}"),
                    _color(style, entry), width=0.36, hover="%{y:.1f}%")  # fmt: skip
    uni, bi, cut = tagged_text.wrong.sum(1).tolist()
    return sheet.described(
        "alt.letters_text",
        text=escape(tagged_text.text),
        letters=tagged_text.n_letters,
        uni=uni,
        bi=bi,
        ahead=ahead,
        cut=cut,
        framed=int(tagged_text.needs_right.sum()),
    )


def losses_so_far(done: Any, style: Style = STYLE) -> Figure:
    """The mean cross-entropy of a letter while the networks train; done: what was reported."""
    text = style.text
    sheet = Sheet(style)
    curves = done[-1]
    panel = sheet.panel(
        axes.axis(text("figure.letters_part"), range=[0, 26], dtick=5),
        axes.axis(text("figure.letters_loss"), rangemode="tozero"),
    )
    for wiring, losses in zip(("uni", "bi"), curves, strict=False):
        panel.line(np.arange(1, len(losses) + 1), losses, text(f"figure.letters_{wiring}"),
                   _color(style, wiring), symbol=_SYMBOL[wiring], hover="%{y:.3f}")  # fmt: skip
    return sheet.described("alt.letters_so_far", networks=len(curves),
                           loss=float(curves[-1][-1]))  # fmt: skip


def trained_so_far(done: Any, style: Style = STYLE) -> Figure:
    """How many networks have been trained, of how many; done: what was reported."""
    some, of_all = done[-1]
    sheet = Sheet(style, showlegend=False)
    name = style.text("figure.letters_networks")
    panel = sheet.panel(
        axes.axis(name, range=[0, of_all]),
        axes.names([f"{some} / {of_all}"], style.text("figure.letters_of")),
    )
    panel.bars([1], [some], name, style.palette.prediction, sideways=True, hover=False)
    return sheet.described("alt.letters_trained", some=some, all=of_all)
