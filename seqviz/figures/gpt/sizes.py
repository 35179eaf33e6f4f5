"""How many parameters the models of a family have, on a log axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.transformer.cost import Architecture
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes


def model_sizes(models: Sequence[Architecture], style: Style = STYLE) -> Figure:
    """A bar for each model, with its number of parameters at the end."""
    text, palette = style.text, style.palette
    totals = np.array([model.total for model in models])
    names = [text(f"figure.size_{model.name}") for model in models]
    sheet = Sheet(style)
    low, high = np.log10(totals.min()), np.log10(totals.max())
    panel = sheet.panel(
        axes.axis(text("figure.size_parameters"), type="log", dtick=1,
                  range=[np.floor(low) - 0.5, high + 2.2]),
        axes.names(names, text("figure.size_model"), range=[len(names) + 0.6, 0.4]),
    )  # fmt: skip
    panel.bars(
        np.arange(1, len(names) + 1), totals, text("figure.size_parameters"), palette.prediction,
        sideways=True, width=0.6, legend=False, ends=[f"{total:,.0f}" for total in totals],
        hover=False,
    )  # fmt: skip
    return sheet.described(
        "alt.sizes",
        names={"y": names},
        sizes="; ".join(f"{name}: {total:,.0f}" for name, total in zip(names, totals, strict=True)),
    )
