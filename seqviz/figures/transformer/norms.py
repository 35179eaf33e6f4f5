"""One tensor before and after LayerNorm, BatchNorm and RMSNorm."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.transformer.normalization import NORM_KINDS, NormComparison
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, scales

_ROOM = 1.6  # color limit over the largest number; keeps numbers readable
_ACROSS, _UP = ((0, 0.48), (0.52, 1)), ((0.55, 1), (0, 0.45))


def three_norms(
    norm_comparison: NormComparison, row: int, feature: int, style: Style = STYLE
) -> Figure:
    """Plot a tensor and its three normalizations; outlined: numbers that share statistics.

    A click gives feature (x) and row (y).

    Args:
        norm_comparison: tensor and normalizations.
        row: row of the chosen number, from 1 over the words of all sentences.
        feature: its feature, from 1.
        style: language, theme and scale of the figure.
    """
    label = style.labels("figure.tr_")
    sentences, words, features = norm_comparison.tensor.shape
    # A part of the tensor lacks the words before it. For a single word, `words` is 1 and does not
    # tell the length of its sentence.
    sentence, word = norm_comparison.first
    first = row - 1 if word else sentence * words
    rows = first + 1 + np.arange(sentences * words)
    sheet = Sheet(style)
    sheet.margin(t=56)
    columns = axes.names([str(k) for k in range(features)], label("feature"),
                         range=[0.5, features + 0.5])  # fmt: skip
    positions = np.argwhere(np.ones((sentences, words), bool)) + norm_comparison.first
    names = [f"w[{sentence}, {word}]" for sentence, word in positions.tolist()]
    sides = axes.axis(label("word"), tickvals=rows, ticktext=names, showgrid=False,
                      range=[rows[-1] + 0.5, rows[0] - 0.5])  # fmt: skip
    hidden = {"title": {"text": ""}, "showticklabels": False}
    panels = []
    for index, kind in enumerate(("input", *NORM_KINDS)):
        panel = sheet.panel(
            columns if index > 1 else {**columns, **hidden},
            sides if index % 2 == 0 else {**sides, **hidden},
            across=_ACROSS[index % 2], up=_UP[index // 2], title=label(kind),
        )  # fmt: skip
        _numbers(panel, norm_comparison, kind, rows)
        panel.outline(style.palette.highlight, column=feature, row=row, width=3)
        panels.append(panel)
    for panel, kind in zip(panels[1:], NORM_KINDS, strict=True):
        side: dict[str, Any] = {"column": feature} if kind == "batch" else {"row": row}
        panel.outline(style.palette.truth, **side, width=2)
    at = (row - rows[0], feature - 1)
    values: dict[str, Any] = {item.kind: float(item.values.reshape(-1, features)[at])
              for item in norm_comparison.normalized}  # fmt: skip
    return sheet.described(
        "alt.tr_norms", words=len(rows), features=features, cell=f"{names[at[0]]}[{feature - 1}]",
        value=norm_comparison.tensor.reshape(-1, features)[at], **values,
    )  # fmt: skip


def _numbers(panel: Panel, norm_comparison: NormComparison, kind: str, rows: np.ndarray) -> None:
    """Write the numbers of one tensor in its cells; hover texts have mean and deviation."""
    text = panel.style.text
    values = norm_comparison.tensor if kind == "input" else norm_comparison.of(kind).values
    z: Float[np.ndarray, "row feature"] = values.reshape(len(rows), -1)
    if kind == "input":
        summary, written = [[""] * z.shape[1]] * len(z), "%{z:.4~g}"
    else:
        item = norm_comparison.of(kind)
        pairs = zip(item.mean.ravel().tolist(), item.deviation.ravel().tolist(), strict=True)
        each = [text("figure.tr_shared", mean=m, deviation=d) for m, d in pairs]
        summary = [each[at : at + z.shape[1]] for at in range(0, len(each), z.shape[1])]
        written = "%{z:.4f}"
    font = {"size": 13 * panel.style.scale, "color": panel.style.palette.truth}
    panel.cells(
        z, text(f"figure.tr_{kind}"), scales.signed(_ROOM * scales.largest(z)), y=rows, bar=None,
        text=summary, texttemplate=written, hover=f"<b>{written}</b><br>%{{text}}", xgap=1, ygap=1,
        textfont=font, hoverongaps=False, pick=True,
    )  # fmt: skip
    if np.isnan(z).any():
        panel.words(text("figure.tr_one_number"), 0.5, 0.5, xref="domain", yref="domain")
