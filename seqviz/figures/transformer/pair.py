"""Inputs and outputs of a decoder at each position, with its two attentions."""

from __future__ import annotations

from seqviz.compute.transformer.pair import TranslatedNumber
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape

_LONG = 6  # maximum number of characters of a horizontal label on a phone


def two_attentions(
    translated_number: TranslatedNumber, head: int = 0, style: Style = STYLE
) -> Figure:
    """Plot the masked self-attention (left) and the cross-attention on the digits (right).

    A row is one position, "input → output".

    Args:
        translated_number: inputs, outputs and weights.
        head: head, from 1; 0 for the mean over heads.
        style: language, theme and scale of the figure.
    """
    label, count = style.labels("figure.tr_pair_"), len(translated_number.writes)
    steps = zip(translated_number.reads, translated_number.writes, strict=True)
    rows = [f"{escape(read)} → <b>{escape(written)}</b>" for read, written in steps]
    y = axes.names(rows, style.text("figure.tr_reads_writes"), range=[count + 0.5, 0.5])
    hidden = {**y, "title": {"text": ""}, "showticklabels": False}
    names = ("self_attention", "cross")
    columns = [
        axes.names([escape(key) for key in keys], label(f"{name}_keys"),
                   range=[0.5, len(keys) + 0.5],
                   tickangle=-30 if max(map(len, keys)) > _LONG else 0)
        for name, keys in zip(names, (translated_number.reads, translated_number.source),
                              strict=True)
    ]  # fmt: skip
    sheet = Sheet(style)
    sheet.margin(l=150 * style.scale, t=48 * style.scale)
    panels = sheet.row((columns[0], y), (columns[1], hidden), gaps=(0.52, 0.62),
                       titles=[label(name) for name in names])  # fmt: skip
    for name, panel in zip(names, panels, strict=True):
        weights = translated_number.of_head(name, head)  # masked weights are exactly 0
        panel.weights(weights, weights > 0, bar=None, hover="%{y}, %{x}: <b>%{z:.4f}</b>")
    source = "".join(item for item in translated_number.source if item.isdigit())
    return sheet.described(
        "alt.tr_pair", gap=0.24, source=source, written=" ".join(translated_number.writes),
        **translated_number.summary(head),
    )  # fmt: skip
