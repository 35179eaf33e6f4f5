"""A real encoder with its own position table and with others in its place."""

from __future__ import annotations

import numpy as np

from seqviz.compute.positions.results import Reordered
from seqviz.core.i18n import number
from seqviz.figures.positions.style import twins
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes


def encoder_variants(reordered: Reordered, style: Style = STYLE) -> Figure:
    """Three numbers for each table: are two orders alike, is the meaning kept, is order seen."""
    text, palette = style.text, style.palette
    series = (
        ("alike", reordered.alike, palette.prediction),
        ("kept", reordered.original_cosine, palette.gru),
        ("previous", reordered.previous, palette.baseline),
    )
    minimum = min(float(values.min()) for _, values, _ in series)
    tables = [text(f"figure.pos_table_{name}") for name in reordered.variants]
    sheet = Sheet(style, bargap=0.25)
    panel = sheet.panel(
        axes.axis(
            text("figure.pos_cosine_or_share"),
            range=[min(0.0, 1.15 * minimum), 1.15],
            tickvals=[0, 0.25, 0.5, 0.75, 1],
        ),
        axes.names(tables, text("figure.pos_table"), range=[len(tables) + 0.5, 0.5]),
    )
    for name, values, color in series:
        panel.bars(
            np.arange(1, len(tables) + 1), values, text(f"figure.pos_{name}"), color,
            sideways=True, ends=[number(value, 4) for value in values.tolist()],
            hover="%{y}: %{x:.4f}" + NAMED,
        )  # fmt: skip
    by = dict(zip(reordered.variants, reordered.alike.tolist(), strict=True))
    own, zero = (number(by[name], 4) for name in ("own", "zero"))
    return sheet.described("alt.pos_variants", model=reordered.model, own=own, zero=zero)


def encoder_maps(reordered: Reordered, variant: str, style: Style = STYLE) -> Figure:
    """One head on the first text: with the model's own positions, and with another table.

    Raises ValueError for a variant that was not computed.
    """
    text, pieces = style.text, reordered.pieces
    rows = (0, reordered.variants.index(variant))
    tables = [text(f"figure.pos_table_{reordered.variants[row]}") for row in rows]
    sheet = Sheet(style)
    panels = twins(
        sheet,
        axes.tokens(style, pieces, text("figure.keys"), limit=20),
        axes.tokens(style, pieces, text("figure.queries"), upright=True),
        tables,
    )
    for panel, row, bar in zip(panels, rows, (None, text("figure.weight")), strict=True):
        panel.weights(reordered.weights[row], bar=bar, texttemplate=None)
    own, other = (number(float(reordered.previous[row])) for row in rows)
    return sheet.described(
        "alt.pos_maps",
        layer=reordered.layer,
        head=reordered.head,
        variant=tables[1],
        own=own,
        other=other,
        names={"x": pieces, "y": pieces, "x2": pieces, "y2": pieces},
        gap=0.2,
    )
