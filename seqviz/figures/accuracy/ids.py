"""What the network is given: tokens, their ids, and the mask that tells paddings apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.accuracy.findings import OwnPadding
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import label
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import plain

_STYLE = Style()
_COLUMNS = 24  # tokens that find room side by side
_LAST = 10  # of these, tokens from the end where some are left out
_NUMBERED = 12  # columns that find room for their numbers, on a phone
_LONGEST = 16  # characters of a token that stands upright
_FLAT = 8  # tokens that find room without being turned
_ROWS = ("token", "id", "mask")


def ids_view(found: OwnPadding, style: Style = _STYLE) -> Figure:
    """What the network is given: tokens, their ids, and the attention mask below them.

    At most 24 columns: of a longer sentence the beginning and the end.
    """
    text, palette = style.text, style.palette
    places = _shown(len(found.pieces))
    count = len(places)
    x = np.arange(1, count + 1)
    ids = np.array([found.ids[p] if p >= 0 else np.nan for p in places])
    mask = np.array([float(found.real[p]) if p >= 0 else np.nan for p in places])
    pieces = [found.pieces[p] if p >= 0 else "…" for p in places]
    step = 1 if count <= _NUMBERED else 5
    ticked = np.array([p == 0 or (p >= 0 and (p + 1) % step == 0) for p in places], bool)
    turned = -90 if count > _FLAT else 0
    common = {"type": "heatmap", "x": x, "showscale": False, "xgap": 2, "ygap": 2}
    quiet = [[0, palette.grid], [1, palette.band]]
    data = [
        {
            **common,
            "y": [2],
            "z": ids[None],
            "name": text("figure.acc_row_id"),
            "opacity": 0,  # the numbers are written as words; this is what a table and hovers meet
            "colorscale": quiet,
            "hovertemplate": "%{z:d}<extra>%{fullData.name}</extra>",
        },
        {
            **common,
            "y": [3],
            "z": mask[None],
            "zmin": 0,
            "zmax": 1,
            "name": text("figure.acc_row_mask"),
            "colorscale": quiet,
            "hovertemplate": "%{z:d}<extra>%{fullData.name}</extra>",
        },
    ]
    spec = layout(style)
    spec["margin"] = {**spec["margin"], "t": 14}
    spec |= {
        "xaxis": axis_layout(
            style,
            range=[0.4, max(count, 1) + 0.6],
            showgrid=False,
            tickvals=x[ticked],
            ticktext=[str(p + 1) for p in np.array(places, int)[ticked]],
            tickangle=0,
            title={"text": text("figure.acc_place")},
        ),
        "yaxis": axis_layout(
            style,
            range=[3.5, 0.5],
            showgrid=False,
            tickvals=[1, 2, 3],
            ticktext=[text(f"figure.acc_row_{row}") for row in _ROWS],
            title={"text": text("figure.acc_given")},
        ),
        "annotations": [
            _cell(words, place, row, real, turned if row < 3 else 0, style)
            for place, p in zip(x.tolist(), places, strict=True)
            for real in [p < 0 or bool(found.real[p])]
            for row, words in enumerate(_column(found, pieces[place - 1], p), 1)
        ],
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.acc_ids",
            tokens=len(found.pieces),
            real=int(found.real.sum()),
            values=", ".join(
                f"{piece} {found.ids[p]} ({int(found.real[p])})"
                for piece, p in zip(pieces, places, strict=True)
                if p >= 0
            ),
        ),
        names={"x": pieces},
    )


def _shown(count: int) -> list[int]:
    """Places of the tokens that are shown; -1 stands for those left out."""
    if count <= _COLUMNS:
        return list(range(count))
    return [*range(_COLUMNS - _LAST - 1), -1, *range(count - _LAST, count)]


def _column(found: OwnPadding, piece: str, place: int) -> tuple[str, str, str]:
    if place < 0:
        return "…", "…", "…"
    short = piece if len(piece) <= _LONGEST else piece[: _LONGEST - 1] + "…"
    return plain(short), str(int(found.ids[place])), str(int(found.real[place]))


def _cell(words: str, place: int, row: int, real: bool, angle: int, style: Style) -> dict[str, Any]:
    """Words of one cell; those of a padding are quiet."""
    cell = label(
        style, words, style.palette.truth if real else style.palette.baseline, x=place, y=row
    )
    return cell | {"textangle": angle}
