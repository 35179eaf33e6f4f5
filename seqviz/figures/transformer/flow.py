"""The tensor of one step of an encoder, and one matrix of scores under a mask in two ways."""

from __future__ import annotations

import numpy as np

from seqviz.compute.transformer.flow import STEPS, Flow
from seqviz.compute.transformer.masking import MaskedScores
from seqviz.core.units import unbroken
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, scales

_PANELS = ((0, 0.28), (0.36, 0.64), (0.72, 1))
_ROOM = 1.6  # colors end here times the largest number: numbers are read in the cells


def step_tensor(flow: Flow, step: int, style: Style = STYLE) -> Figure:
    """The tensor of one step (from 1): a row for each word, heads side by side; its shape above."""
    text, chosen = style.text, flow.steps[step - 1]
    name, z = chosen.name, chosen.values
    shape = unbroken(" × ".join(f"{size:,}" for size in chosen.shape))
    sheet = Sheet(style)
    columns = axes.counted(z.shape[1], text("figure.tr_column"))
    if name == "weights":
        columns = axes.counted(z.shape[1], text("figure.tr_key_of_head"))
    panel = sheet.panel(
        columns, axes.tokens(style, flow.words, text("figure.tr_word"), upright=True)
    )
    summary = text(f"figure.tr_step_{name}")
    scale = scales.signed(scales.largest(z))
    if name == "weights":
        scale = scales.weights(max(1, scales.largest(z)))  # larger than 1 behind dropout
    elif name == "tokens":
        scale = scales.unit_scale(0, 30_000)
    written = "%{z:.0f}" if name == "tokens" else ""
    panel.cells(
        z, summary, scale, x=np.arange(z.shape[1]), ygap=1,
        hover="%{y}, %{x}: <b>%{z:.4~g}</b>", texttemplate=written,
        textfont={"size": 14 * style.scale},
    )  # fmt: skip
    if name in ("queries", "weights"):
        width = z.shape[1] // flow.heads
        for head in range(1, flow.heads):
            panel.vertical(head * width - 0.5, style.palette.truth, width=1, layer="above")
    sheet.margin(r=124 * style.scale)
    sheet.headline(text("figure.tr_step", step=step, all=len(STEPS), name=summary, shape=shape))
    return sheet.described(
        "alt.tr_step", step=step, name=summary, shape=shape, words=len(flow.words),
        norm=flow.norm(step - 1),
    )  # fmt: skip


def two_operators(masked_scores: MaskedScores, style: Style = STYLE) -> Figure:
    """Scores with crosses where they are forbidden, and the weights with either operator."""
    text, n = style.text, len(masked_scores.scores)
    positions = [str(index + 1) for index in range(n)]
    keys = axes.names(positions, text("figure.keys"), range=[0.5, n + 0.5])
    queries = axes.names(positions, text("figure.queries"), range=[n + 0.5, 0.5])
    hidden = {**queries, "title": {"text": ""}, "showticklabels": False}
    sheet = Sheet(style)
    font = {"size": 14 * style.scale, "color": style.palette.truth}
    limit = _ROOM * scales.largest(masked_scores.scores)
    for across, name, z, scale in zip(
        _PANELS,
        ("scores", "add", "multiply"),
        (masked_scores.scores, *masked_scores.weights),
        (scales.signed(limit), *[scales.signed(_ROOM)] * 2),
        strict=True,
    ):
        panel = sheet.panel(
            keys, queries if name == "scores" else hidden, across=across,
            title=text(f"figure.tr_mask_{name}"),
        )  # fmt: skip
        written = "%{z:.4~g}" if name == "scores" else "%{z:.4f}"
        hover = text("figure.hover_weight", query="%{y}", key="%{x}", weight=written)
        panel.cells(
            z, text(f"figure.tr_mask_{name}"), scale, bar=None, xgap=1, ygap=1,
            texttemplate=written, textfont=font, hover=hover,
        )  # fmt: skip
        for row, column in np.argwhere(~masked_scores.allowed).tolist():
            leaks = name == "multiply"
            color = style.palette.highlight if leaks else style.palette.baseline
            panel.outline(color, row=row + 1, column=column + 1, width=3 if leaks else 1.5,
                          dash=None if leaks else "dot")  # fmt: skip
    return sheet.described(
        "alt.tr_masks", queries=n, closed=int((~masked_scores.allowed).sum()),
        leaked=masked_scores.leaked, worst=masked_scores.worst,
        first=float(masked_scores.weights[1, 0, 0]),
    )  # fmt: skip
