"""LAC on a sentence: words and tags, their probabilities, and the effect of one direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent.tagging.lac import DECODERS, SIDES, WAYS, TagChanges, TagSequence
from seqviz.core.i18n import Text
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, escape, scales
from seqviz.plotting.progress_figure import share_done
from seqviz.stats.estimate import stack

_TINTS = ("rgba(43,108,196,0.3)", "rgba(214,104,20,0.3)", "rgba(10,127,92,0.3)")
_LETTERS = 16  # maximum number of characters written in a strip on a phone
_ROWS, _MOST = 8, 14  # number of tag rows: usual, maximum
_UNITS = 8  # number of units shown of each direction
_PIXELS, _WIDE = 210.0, 7.5  # width of a strip on a phone, and of a letter of a tag
_SYMBOLS = ("circle", "diamond")  # of the two sides


def name_of(tag: str, text: Text) -> str:
    """Return the reader's word for a tag; n-B is the beginning of a noun."""
    kind, _, position = tag.partition("-")
    name = text(f"figure.lac_{kind}")
    return text(f"figure.lac_place_{position}", name=name) if position else name


def tags_of_characters(
    tag_sequences: Sequence[TagSequence], visible_text: str, style: Style = STYLE
) -> Figure:
    """Plot a strip for each decoder (top), and each character's tag probabilities (bottom).

    The line is the best tag sequence; an outline marks a character's best tag that is not on it.

    Args:
        tag_sequences: results in the order of `DECODERS`.
        visible_text: "emission", of the GRU alone, or "marginal", with the CRF.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.lac_"), style.palette
    sheet = Sheet(style, barmode="overlay")
    sheet.margin(t=10)
    best, emission = tag_sequences[0], tag_sequences[DECODERS.index("emission")]
    names = [label(f"by_{decoder}") for decoder in DECODERS]
    _strips(sheet, tag_sequences, names, (0.6, 1.0))
    shares = best.shares[int(visible_text == "marginal")]
    rows = _rows(best, shares)
    row_of = {tag: row for row, tag in enumerate(rows, 1)}
    panel = sheet.panel(
        axes.tokens(style, _named(best.text), label("character")),
        axes.names([best.tags[tag] for tag in rows], label("tag"), range=[len(rows) + 0.5, 0.5]),
        up=(0, 0.52),
    )
    full_names = [[name_of(best.tags[tag], style.text)] * len(best.text) for tag in rows]
    panel.cells(shares[:, rows].T, label(f"share_{visible_text}"), scales.weights(), xgap=1, ygap=1,
                customdata=full_names,
                hover="%{x}, %{y} (%{customdata}): %{z:.3f}" + NAMED)  # fmt: skip
    panel.line(np.arange(1, len(best.text) + 1), [row_of[tag] for tag in best.path.tolist()],
               names[0], palette.rnn, symbol="circle", width=2, legend=False,
               hover="%{x}: %{y}" + NAMED)  # fmt: skip
    for at, (tag, chosen) in enumerate(zip(shares.argmax(-1).tolist(), best.path, strict=True), 1):
        if tag != chosen and tag in row_of:
            panel.outline(palette.highlight, column=at, row=row_of[tag], width=2.5)
    return sheet.described("alt.lac_tags", text=escape(best.text), words=escape(best.written),
                           **best.compared(emission))  # fmt: skip


def sides_of_characters(
    tag_sequence: TagSequence, cut: TagSequence, side: str, layer: int, style: Style = STYLE
) -> Figure:
    """Plot the words of the network, whole and without a direction (top), and states (bottom).

    The states are those of the first units of a layer without that direction.

    Args:
        tag_sequence: result of the whole network.
        cut: result without a direction.
        side: removed direction.
        layer: layer, from 1.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.lac_"), style.palette
    sheet = Sheet(style, barmode="overlay")
    sheet.margin(t=10)
    names = [label("whole"), label(f"without_{side}")]
    strips = _strips(sheet, (tag_sequence, cut), names, (0.68, 1.0))
    edges = np.flatnonzero(np.diff(np.r_[False, tag_sequence.changed(cut), False].astype(int)))
    for begin, end in edges.reshape(-1, 2).tolist():  # one outline around adjacent characters
        strips.rectangle((begin + 0.52, end + 0.48), (1.56, 2.44), palette.highlight, width=3)
    states = cut.states[layer - 1]
    half = states.shape[1] // 2
    units = np.r_[0:_UNITS, half : half + _UNITS]
    panel = sheet.panel(
        axes.tokens(style, [_seen(item) for item in tag_sequence.text], label("character")),
        axes.names([label("forward"), label("backward")], label("units", units=_UNITS),
                   tickvals=[(_UNITS + 1) / 2, (3 * _UNITS + 1) / 2],
                   range=[2 * _UNITS + 0.5, 0.5]),
        up=(0, 0.58),
    )  # fmt: skip
    panel.cells(states[:, units].T, label("state", layer=layer), scales.signed(1.0),
                xgap=1, ygap=1, hover="%{x}, %{y}: %{z:.3f}" + NAMED)  # fmt: skip
    panel.horizontal(_UNITS + 0.5, palette.truth, width=2, layer="above")
    return sheet.described(
        "alt.lac_sides", text=escape(tag_sequence.text), words=escape(tag_sequence.written),
        renamed=escape(", ".join(f"{sign} {old} → {new}" for sign, old, new in
                                 tag_sequence.renamed(cut)) or "–"),
        **tag_sequence.compared(cut), **tag_sequence.shift(cut, layer),
    )  # fmt: skip


def changes_counted(tag_changes: TagChanges, direction: str, style: Style = STYLE) -> Figure:
    """Plot the share of changed tags by direction and removal (left), and broken rules (right).

    Whiskers: 95% intervals over sentences. Dotted: one tag for all characters. Right: sentences
    with unlawful tag sequences by decoder.

    Args:
        tag_changes: changes by sentence.
        direction: way of removal in bold.
        style: language, theme and scale of the figure.
    """
    label, palette, sheet = style.labels("figure.lac_"), style.palette, Sheet(style)
    directions = [label(f"way_{item}") for item in WAYS]
    bold = [f"<b>{name}</b>" if item == direction else name
            for item, name in zip(WAYS, directions, strict=True)]  # fmt: skip
    names = [label(f"by_{decoder}") for decoder in DECODERS]
    broken = [tag_changes.unlawful(decoder) for decoder in DECODERS]
    sentences = tag_changes.sentences
    left, right = sheet.row(
        (axes.percent(label("changed")), axes.ranked(bold, label("taken"))),
        (axes.axis(label("broken", sentences=sentences), range=[0, 1.2 * sentences], nticks=4),
         axes.ranked(names, label("tagged_by"))),
        gaps=(0.54, 0.72), begin=0.15,
    )  # fmt: skip
    for k, side in enumerate(SIDES):
        shares = 100 * stack(tag_changes.share(item, side) for item in WAYS)
        left.estimates(shares, label(f"without_{side}"), palette.series[k], sideways=True, size=10,
                       dodge=(k, 2), symbol=_SYMBOLS[k], hover="%{x:.1f}%" + NAMED)  # fmt: skip
    facts = tag_changes.sides(direction)
    left.reference([100 * facts["constant"]] * 2, [0.4, len(WAYS) + 0.6],
                   label("constant", tag=tag_changes.common))  # fmt: skip
    right.ranked_bars(broken, label("broken_sentences"), palette.gru, width=0.6, legend=False,
                      ends=[str(item) for item in broken], hover="%{y}: %{x}")  # fmt: skip
    return sheet.described("alt.lac_counted", way=label(f"way_{direction}"),
                           names={"y": directions, "y2": names}, **facts)  # fmt: skip


def counted_so_far(done: Any, style: Style = STYLE) -> Figure:
    """Plot the share of sentences read so far."""
    words = {"read": "figure.lac_read", "of": "figure.lac_all", "alt": "alt.lac_so_far"}
    return share_done(done, style, **words)


def _named(text: str) -> list[str]:
    """Return tick labels; of a long text every second one, because a phone has no more room."""
    step = 1 if len(text) <= _LETTERS else 2
    return [_seen(item) if at % step == 0 else "" for at, item in enumerate(text)]


def _strips(
    sheet: Sheet, tag_sequences: Sequence[TagSequence], names: Sequence[str],
    up: tuple[float, float],
) -> Panel:  # fmt: skip
    """Draw a row for each result: its words on alternating tints, each with its tag."""
    style, text, length = sheet.style, tag_sequences[0].text, len(tag_sequences[0].text)
    panel = sheet.panel(
        axes.axis(range=[0.5, length + 0.5], showgrid=False, showticklabels=False),
        axes.names(names, style.text("figure.lac_tagged_by"), range=[len(names) + 0.5, 0.5]), up=up,
    )  # fmt: skip
    dark, quiet = ({"size": size * style.scale, "color": style.palette.truth} for size in (15, 12))
    for row, item in enumerate(tag_sequences, 1):
        words, tags, starts = zip(*item.words, strict=True)
        wide, begin = np.array([len(word) for word in words]), np.array(starts) + 0.5
        hover = [[escape(word), tag, style.text(f"figure.lac_{tag}")]
                 for word, tag in zip(words, tags, strict=True)]  # fmt: skip
        panel.bars(np.full(len(wide), row), wide, names[row - 1],
                   [_TINTS[k % len(_TINTS)] for k in range(len(wide))], sideways=True, base=begin,
                   width=0.88, legend=False, customdata=hover,
                   hover="%{customdata[0]}/%{customdata[1]}: %{customdata[2]}" + NAMED)  # fmt: skip
        labels = [tag if _WIDE * len(tag) < _PIXELS / length * width else ""
                  for tag, width in zip(tags, wide.tolist(), strict=True)]  # fmt: skip
        panel.marks_text((begin + wide / 2).tolist(), [row + 0.26] * len(wide), labels,
                         cliponaxis=False, textfont=quiet)  # fmt: skip
    if length <= _LETTERS:
        count = len(tag_sequences)
        rows = np.repeat(np.arange(1, count + 1), length) - 0.12
        panel.marks_text([*range(1, length + 1)] * count, rows.tolist(),
                         [_seen(letter) for letter in text] * count, textfont=dark)  # fmt: skip
    return panel


def _rows(best: TagSequence, shares: Float[np.ndarray, "time tags"]) -> list[int]:
    """Return the tags with a row: the best sequence, each character's best, and others."""
    likely = np.argsort(-shares.sum(0), kind="stable").tolist()
    single = set(shares.argmax(-1).tolist())
    path = dict.fromkeys(best.path.tolist())  # always complete
    needed = dict.fromkeys([*path, *(tag for tag in likely if tag in single)])
    rows = list(dict.fromkeys([*needed, *likely[:_ROWS]]))
    return rows[: max(_ROWS, len(path), min(len(needed), _MOST))]


def _seen(letter: str) -> str:
    return escape("␣" if letter.isspace() else letter if letter.isprintable() else "\ufffd")
