"""LAC on a sentence: its words and tags, the probabilities behind them, and what a side gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent.tagging.lac import DECODERS, SIDES, WAYS, TagChanges, TagSequence
from seqviz.core.i18n import Text
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, escape, scales
from seqviz.plotting.panel import whisker
from seqviz.plotting.progress_figure import share_done
from seqviz.stats.estimate import stack

_TINTS = ("rgba(43,108,196,0.3)", "rgba(214,104,20,0.3)", "rgba(10,127,92,0.3)")
_LETTERS = 16  # characters that are written in a strip on a phone
_ROWS, _MOST = 8, 14  # tags that have a row
_UNITS = 8  # of each half that are shown
_PIXELS, _WIDE = 210.0, 7.5  # of a strip on a phone, and of a letter of a tag's name
_ASIDE = 0.14
_WAYS, _BROKEN = (0.15, 0.54), (0.72, 1.0)


def name_of(tag: str, text: Text) -> str:
    """The reader's word for a tag: n-B is the beginning of a noun."""
    kind, _, position = tag.partition("-")
    name = text(f"figure.lac_{kind}")
    return text(f"figure.lac_place_{position}", name=name) if position else name


def tags_of_characters(
    tag_sequences: Sequence[TagSequence], visible_text: str, style: Style = STYLE
) -> Figure:
    """Above a strip for each decoder; below the probability of each tag at each character.

    tag_sequences: by `DECODERS`. visible_text: "emission", what the GRU alone says, or "marginal",
    by the CRF. The
    line is the best row of tags; an outline is the best tag of a character that is not on it.
    """
    sheet = Sheet(style, barmode="overlay")
    sheet.margin(t=10)
    best = tag_sequences[0]
    names = [style.text(f"figure.lac_by_{decoder}") for decoder in DECODERS]
    _strips(sheet, tag_sequences, names, (0.6, 1.0))
    shares = best.shares[int(visible_text == "marginal")]
    single = shares.argmax(-1)
    rows = _rows(best, shares)
    retained = {tag: row for row, tag in enumerate(rows, 1)}
    panel = sheet.panel(
        axes.tokens(style, _named(best.text), style.text("figure.lac_character")),
        axes.names([best.tags[tag] for tag in rows], style.text("figure.lac_tag"),
                   range=[len(rows) + 0.5, 0.5]),
        up=(0, 0.52),
    )  # fmt: skip
    hover = [[name_of(best.tags[tag], style.text)] * len(best.text) for tag in rows]
    panel.cells(shares[:, rows].T, style.text(f"figure.lac_share_{visible_text}"), scales.weights(),
                xgap=1, ygap=1, customdata=hover,
                hover="%{x}, %{y} (%{customdata}): %{z:.3f}" + NAMED)  # fmt: skip
    panel.line(np.arange(1, len(best.text) + 1), [retained[tag] for tag in best.path.tolist()],
               names[0], style.palette.rnn, symbol="circle", width=2, legend=False,
               hover="%{x}: %{y}" + NAMED)  # fmt: skip
    for at, tag in enumerate(single.tolist(), 1):
        if tag != best.path[at - 1] and tag in retained:
            panel.outline(style.palette.highlight, column=at, row=retained[tag], width=2.5)
    return sheet.described(
        "alt.lac_tags", text=escape(best.text), words=escape(best.written),
        alone=int((tag_sequences[DECODERS.index("emission")].path != best.path).sum()),
        characters=len(best.text), broken=tag_sequences[DECODERS.index("emission")].breaks,
    )  # fmt: skip


def sides_of_characters(
    tag_sequence: TagSequence, cut: TagSequence, side: str, layer: int, style: Style = STYLE
) -> Figure:
    """Above the words of the whole network and without one side; below states of both halves.

    The states are those of the first units of a layer without that side. layer: from 1.
    """
    text = style.text
    sheet = Sheet(style, barmode="overlay")
    sheet.margin(t=10)
    names = [text("figure.lac_whole"), text(f"figure.lac_without_{side}")]
    strips = _strips(sheet, (tag_sequence, cut), names, (0.68, 1.0))
    changed = tag_sequence.changed(cut)
    edges = np.flatnonzero(np.diff(np.r_[False, changed, False].astype(int)))
    for begin, end in edges.reshape(-1, 2).tolist():  # one outline around neighbors
        strips.rectangle((begin + 0.52, end + 0.48), (1.56, 2.44), style.palette.highlight, width=3)
    states = cut.states[layer - 1]
    half = states.shape[1] // 2
    units = np.r_[0:_UNITS, half : half + _UNITS]
    panel = sheet.panel(
        axes.tokens(
            style, [_seen(item) for item in tag_sequence.text], text("figure.lac_character")
        ),
        axes.names(
            [text("figure.lac_forward"), text("figure.lac_backward")],
            text("figure.lac_units", units=_UNITS),
            tickvals=[(_UNITS + 1) / 2, (3 * _UNITS + 1) / 2],
            range=[2 * _UNITS + 0.5, 0.5],
        ),
        up=(0, 0.58),
    )
    panel.cells(states[:, units].T, text("figure.lac_state", layer=layer), scales.signed(1.0),
                xgap=1, ygap=1, hover="%{x}, %{y}: %{z:.3f}" + NAMED)  # fmt: skip
    panel.horizontal(_UNITS + 0.5, style.palette.truth, width=2, layer="above")
    forward, backward = tag_sequence.moved(cut, layer)
    return sheet.described(
        "alt.lac_sides", text=escape(tag_sequence.text), words=escape(tag_sequence.written),
        other=escape(cut.written), changed=int(changed.sum()), characters=len(tag_sequence.text),
        layer=layer, forward=forward, backward=backward,
    )  # fmt: skip


def changes_counted(tag_changes: TagChanges, direction: str, style: Style = STYLE) -> Figure:
    """Left the share of changed tags by side and by the way it is taken away; right the decoders.

    Whiskers: 95% interval over sentences. direction: the one in bold. The dotted line: one tag
    for all characters.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    directions = [text(f"figure.lac_way_{item}") for item in WAYS]
    bold = [
        f"<b>{name}</b>" if item == direction else name
        for item, name in zip(WAYS, directions, strict=True)
    ]
    left = sheet.panel(
        axes.percent(text("figure.lac_changed")),
        axes.names(bold, text("figure.lac_taken"), range=[len(WAYS) + 0.6, 0.4]), across=_WAYS,
    )  # fmt: skip
    for side, color, symbol, aside in zip(
        SIDES, (palette.prediction, palette.rnn), ("circle", "diamond"), (-_ASIDE, _ASIDE),
        strict=True,
    ):  # fmt: skip
        shares = 100 * stack(tag_changes.share(item, side) for item in WAYS)
        left.points(shares.mean, np.arange(1, len(WAYS) + 1) + aside,
                    text(f"figure.lac_without_{side}"), color, symbol=symbol, size=10,
                    error_x=whisker(shares.mean, *shares.ci, color),
                    hover="%{x:.1f}%" + NAMED)  # fmt: skip
    constant = 100 * tag_changes.by_constant
    left.reference([constant, constant], [0.4, len(WAYS) + 0.6],
                   text("figure.lac_constant", tag=tag_changes.common))  # fmt: skip
    broken = [tag_changes.unlawful(decoder) for decoder in DECODERS]
    names = [text(f"figure.lac_by_{decoder}") for decoder in DECODERS]
    right = sheet.panel(
        axes.axis(text("figure.lac_broken", sentences=tag_changes.sentences),
                  range=[0, 1.2 * tag_changes.sentences], nticks=4),
        axes.names(names, text("figure.lac_tagged_by"), range=[len(names) + 0.6, 0.4]),
        across=_BROKEN,
    )  # fmt: skip
    right.bars(np.arange(1, len(names) + 1), broken, text("figure.lac_broken_sentences"),
               palette.gru, sideways=True, width=0.6, legend=False,
               ends=[str(item) for item in broken], hover="%{y}: %{x}")  # fmt: skip
    return sheet.described(
        "alt.lac_counted",
        way=text(f"figure.lac_way_{direction}"),
        names={"y": directions, "y2": names},
        sentences=tag_changes.sentences,
        right=tag_changes.share(direction, "right").mean,
        left=tag_changes.share(direction, "left").mean,
        viterbi=broken[0],
        emission=broken[2],
    )


def counted_so_far(done: Any, style: Style = STYLE) -> Figure:
    """How many of the sentences have been read."""
    return share_done(
        done, style, read="figure.lac_read", of="figure.lac_all", alt="alt.lac_so_far"
    )


def _named(text: str) -> list[str]:
    """The characters below an axis; of a long text each second one, as a phone has no more room."""
    step = 1 if len(text) <= _LETTERS else 2
    return [_seen(item) if at % step == 0 else "" for at, item in enumerate(text)]


def _strips(
    sheet: Sheet,
    tag_sequences: Sequence[TagSequence],
    names: Sequence[str],
    up: tuple[float, float],
) -> Panel:
    """A row for each reading: its words in turn on three tints, each with its tag."""
    style, length = sheet.style, len(tag_sequences[0].text)
    panel = sheet.panel(
        axes.axis(range=[0.5, length + 0.5], showgrid=False, showticklabels=False),
        axes.names(names, style.text("figure.lac_tagged_by"), range=[len(names) + 0.5, 0.5]), up=up,
    )  # fmt: skip
    dark = {"size": 15 * style.scale, "color": style.palette.truth}
    quiet = {"size": 12 * style.scale, "color": style.palette.truth}
    for row, item in enumerate(tag_sequences, 1):
        wide = np.array([len(word) for word, _, _ in item.words])
        begin = np.array([at for _, _, at in item.words]) + 0.5
        hover = [
            [escape(word), tag, style.text(f"figure.lac_{tag}")] for word, tag, _ in item.words
        ]
        panel.bars(np.full(len(wide), row), wide, names[row - 1],
                   [_TINTS[k % len(_TINTS)] for k in range(len(wide))], sideways=True, base=begin,
                   width=0.88, legend=False, customdata=hover,
                   hover="%{customdata[0]}/%{customdata[1]}: %{customdata[2]}" + NAMED)  # fmt: skip
        room = _PIXELS / length
        labels = [tag if _WIDE * len(tag) < room * w else "" for (_, tag, _), w in
                zip(item.words, wide.tolist(), strict=True)]  # fmt: skip
        panel.marks_text((begin + wide / 2).tolist(), [row + 0.26] * len(wide), labels,
            cliponaxis=False,
                      textfont=quiet)  # fmt: skip
    if length <= _LETTERS:
        rows = np.repeat(np.arange(1, len(tag_sequences) + 1), length) - 0.12
        panel.marks_text([*range(1, length + 1)] * len(tag_sequences), rows.tolist(),
                      [_seen(letter) for letter in tag_sequences[0].text] * len(tag_sequences),
                      textfont=dark)  # fmt: skip
    return panel


def _rows(best: TagSequence, shares: Float[np.ndarray, "time tags"]) -> list[int]:
    """The tags that have a row: of the best row of tags, the best of each character, and others."""
    likely = np.argsort(-shares.sum(0), kind="stable").tolist()
    single = set(shares.argmax(-1).tolist())
    path = dict.fromkeys(best.path.tolist())  # all of it, whatever the room
    needed = dict.fromkeys([*path, *(tag for tag in likely if tag in single)])
    rows = list(dict.fromkeys([*needed, *likely[:_ROWS]]))
    return rows[: max(_ROWS, len(path), min(len(needed), _MOST))]


def _seen(letter: str) -> str:
    return escape("␣" if letter.isspace() else letter if letter.isprintable() else "\ufffd")
