"""Which special tokens each tokenizer has, and their ids."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from seqviz.figures.text.tokenization.strips import name_of
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, escape
from seqviz.plotting.scales import ColorScale


def special_ids(
    result: Mapping[str, Mapping[str, tuple[str, int]]],
    roles: tuple[str, ...],
    style: Style = STYLE,
) -> Figure:
    """A row for each role, a column for each tokenizer, and in the cell the id, where there is one.

    result: by tokenizer and role the token and its id.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    sheet.margin(t=14)
    names = [name_of(name, style.text) for name in result]
    rows = [text(f"figure.special_{role}") for role in roles]
    panel = sheet.panel(
        axes.names(names, text("figure.cut_cutter"), side="top"),
        axes.names(rows, text("figure.special_role"), range=[len(rows) + 0.5, 0.5]),
    )
    ids = np.array(
        [[tokens[role][1] if role in tokens else np.nan for tokens in result.values()]
         for role in roles], float,
    )  # fmt: skip
    labels = [[tokens.get(role, ("–", -1))[0] for tokens in result.values()] for role in roles]
    panel.cells(
        ids, text("figure.special_id"), ColorScale([[0, palette.band], [1, palette.band]]),
        bar=None,
        xgap=2, ygap=2, text=[[escape(item) for item in row] for row in labels],
        hover="%{text}: %{z:d}" + NAMED, hoverongaps=False,
    )  # fmt: skip
    for row in range(len(roles)):
        for column in range(len(names)):
            there = np.isfinite(ids[row, column])
            panel.words(f"{ids[row, column]:.0f}" if there else "–", column + 1, row + 1,
                        color=palette.truth if there else palette.baseline)  # fmt: skip
    return sheet.described(
        "alt.special", names={"x": names, "y": rows}, roles=len(roles),
        values="; ".join(
            f"{name}: " + (", ".join(f"{token} {at}" for token, at in tokens.values()) or "–")
            for name, tokens in zip(names, result.values(), strict=True)
        ),
    )  # fmt: skip
