"""What a decoder reads and writes at each place, and where it looks."""

from __future__ import annotations

from seqviz.compute.transformer.pair import TranslatedNumber
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape

_ACROSS = ((0, 0.52), (0.62, 1))
_LONG = 6  # signs of a word that would touch its neighbor on a phone


def two_attentions(
    translated_number: TranslatedNumber, head: int = 0, style: Style = STYLE
) -> Figure:
    """A row for each place, "what it reads → what it writes"; left the decoder's masked
    self-attention, right its attention on the digits. head: from 1; 0: the mean of all."""
    text, count = style.text, len(translated_number.writes)
    rows = [
        f"{escape(a)} → <b>{escape(b)}</b>"
        for a, b in zip(translated_number.reads, translated_number.writes, strict=True)
    ]
    y = axes.names(rows, text("figure.tr_reads_writes"), range=[count + 0.5, 0.5])
    hidden = {**y, "title": {"text": ""}, "showticklabels": False}
    sheet = Sheet(style)
    sheet.margin(l=150 * style.scale, t=48 * style.scale)
    for name, keys, side, across in (
        ("self_attention", translated_number.reads, y, _ACROSS[0]),
        ("cross", translated_number.source, hidden, _ACROSS[1]),
    ):
        x = axes.names([escape(key) for key in keys], text(f"figure.tr_pair_{name}_keys"),
                       range=[0.5, len(keys) + 0.5],
                       tickangle=-30 if max(map(len, keys)) > _LONG else 0)  # fmt: skip
        panel = sheet.panel(x, side, across=across, title=text(f"figure.tr_pair_{name}"))
        weights = translated_number.of_head(name, head)
        observed = weights > 0  # what a mask hides has exactly 0
        panel.weights(weights, observed, bar=None, hover="%{y}, %{x}: <b>%{z:.4f}</b>")
    position, digit, weight = translated_number.sharpest(head)
    return sheet.described(
        "alt.tr_pair",
        gap=0.24,
        source="".join(item for item in translated_number.source if item.isdigit()),
        written=" ".join(translated_number.writes),
        word=translated_number.writes[position],
        digit=translated_number.source[digit],
        weight=weight,
    )
