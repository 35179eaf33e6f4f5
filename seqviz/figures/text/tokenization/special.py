"""Special tokens of each tokenizer and their ids."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from seqviz.figures.text.tokenization.strips import name_of
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, escape
from seqviz.plotting.scales import ColorScale


def special_ids(
    result: Mapping[str, Mapping[str, tuple[str, int]]], roles: tuple[str, ...],
    style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot the id of each special token: rows are roles, columns tokenizers.

    Args:
        result: token and id by tokenizer and role.
        roles: roles from top to bottom.
        style: language, theme and scale of the figure.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    sheet.margin(t=30)
    # two lines, because four columns share a phone's width
    names = [name_of(name, text).replace(" ", "<br>") for name in result]
    rows = [text(f"figure.special_{role}") for role in roles]
    panel = sheet.panel(
        axes.names(names, text("figure.cut_cutter"), side="top"),
        axes.names(rows, text("figure.special_role"), range=[len(rows) + 0.5, 0.5]),
    )
    cells = [[tokens.get(role, ("–", np.nan)) for tokens in result.values()] for role in roles]
    panel.cells(
        np.array([[at for _, at in row] for row in cells], float), text("figure.special_id"),
        ColorScale([[0, palette.band], [1, palette.band]]), bar=None, xgap=2, ygap=2,
        text=[[escape(token) for token, _ in row] for row in cells],
        hover="%{text}: %{z:d}" + NAMED, hoverongaps=False,
    )  # fmt: skip
    for y, row in enumerate(cells, 1):
        for x, (_, at) in enumerate(row, 1):
            panel.words("–" if np.isnan(at) else str(at), x, y,
                        color=palette.baseline if np.isnan(at) else palette.truth)  # fmt: skip
    values = "; ".join(
        f"{name_of(name, text)}: "
        + (", ".join(f"{token} {at}" for token, at in tokens.values()) or "–")
        for name, tokens in result.items()
    )
    return sheet.described(
        "alt.special", names={"x": names, "y": rows}, roles=len(roles), values=values
    )
