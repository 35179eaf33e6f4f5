"""A pretrained encoder with its position table and with replacements."""

from __future__ import annotations

from seqviz.compute.positions.results import Reordered
from seqviz.core.i18n import number
from seqviz.figures.positions.style import twins
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes


def encoder_variants(reordered: Reordered, style: Style = STYLE) -> Figure:
    """Plot for each table the similarity of two orders, kept meaning, and order sensitivity."""
    label, palette, sheet = style.labels("figure.pos_"), style.palette, Sheet(style, bargap=0.25)
    series = (
        ("alike", reordered.alike, palette.prediction),
        ("kept", reordered.original_cosine, palette.gru),
        ("previous", reordered.previous, palette.baseline),
    )
    minimum = min(float(values.min()) for _, values, _ in series)
    tables = [label(f"table_{name}") for name in reordered.variants]
    panel = sheet.panel(
        axes.axis(label("cosine_or_share"), range=[min(0.0, 1.15 * minimum), 1.15],
                  tickvals=[0, 0.25, 0.5, 0.75, 1]),
        axes.names(tables, label("table"), range=[len(tables) + 0.5, 0.5]),
    )  # fmt: skip
    for name, values, color in series:
        panel.ranked_bars(values, label(name), color, hover="%{y}: %{x:.4f}" + NAMED,
                          ends=[number(value, 4) for value in values.tolist()])  # fmt: skip
    return sheet.described("alt.pos_variants", model=reordered.model, own=reordered.alike_of("own"),
                           zero=reordered.alike_of("zero"))  # fmt: skip


def encoder_maps(reordered: Reordered, variant: str, style: Style = STYLE) -> Figure:
    """Plot one head on the first text with the model's own table (left) and another (right).

    Args:
        reordered: results by table.
        variant: name of the other table.
        style: language, theme and scale of the figure.

    Raises:
        ValueError: a variant that was not computed.
    """
    text, sheet, pieces = style.text, Sheet(style), reordered.pieces
    rows = (0, reordered.variants.index(variant))
    tables = [text(f"figure.pos_table_{reordered.variants[row]}") for row in rows]
    panels = twins(
        sheet,
        axes.tokens(style, pieces, text("figure.keys"), limit=20),
        axes.tokens(style, pieces, text("figure.queries"), upright=True),
        tables,
    )
    for panel, row, bar in zip(panels, rows, (None, text("figure.weight")), strict=True):
        panel.weights(reordered.weights[row], bar=bar, texttemplate=None)
    own, other = (float(reordered.previous[row]) for row in rows)
    return sheet.described(
        "alt.pos_maps", result=reordered, variant=tables[1], own=own, other=other,
        names=dict.fromkeys(("x", "y", "x2", "y2"), pieces), gap=0.2,
    )  # fmt: skip
