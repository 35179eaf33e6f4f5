"""Parameters of a network by part, trained and frozen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from seqviz.compute.bert_accuracy.counting import ParameterCount, ParameterGroup, groups
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, escape

_ROWS = 14  # maximum number of rows; beyond it, equal layers share a row
_ROOM = 1.6  # for the number at the longest bar
_TABLES = {"word_embeddings": "words", "position_embeddings": "positions",
           "token_type_embeddings": "types", "LayerNorm": "norm"}  # fmt: skip


def parameter_counts(parameter_count: ParameterCount, title: str, style: Style = STYLE) -> Figure:
    """Plot the parameters of each part: trained ones solid, frozen ones hatched.

    Args:
        parameter_count: parameters by part.
        title: name of the network and of the trained parts, for the headline.
        style: language, theme and scale of the figure.
    """
    text, palette = style.text, style.palette
    named = _rows(parameter_count, style)
    names, rows = [name for name, _ in named], [row for _, row in named]
    # The headline starts at the left edge of the figure; one line would be too long for a phone.
    above = {
        "text": text("figure.acc_trained_of", title=escape(title), count=parameter_count),
        "font": {"size": 13 * style.scale}, "pad": {"l": 10, "b": 5 + 17 * style.scale},
        "x": 0, "xref": "container", "y": 1, "yref": "paper", "yanchor": "bottom",
    }  # fmt: skip
    sheet = Sheet(style, barmode="overlay", title=above)
    sheet.legend(y=1.14, traceorder="normal")
    sheet.margin(t=90 * style.scale)
    parts = axes.ranked(names, text("figure.acc_part"))
    largest = max(row.total for row in rows) / 1e6
    across = axes.axis(text("figure.acc_parameters"), range=[0, _ROOM * largest], nticks=6)
    panel = sheet.panel(across, parts)
    gray = palette.baseline
    hatched = {"shape": "/", "fillmode": "replace", "size": 6, "fgcolor": gray, "solidity": 0.25}
    frozen = {"color": gray, "pattern": hatched, "line": {"width": 1.2, "color": gray}}
    trainable = [row.trainable for row in rows]
    _bars(panel, "trained", names, trainable, {"color": palette.prediction})
    _bars(panel, "frozen", names, [row.total - row.trainable for row in rows], frozen)
    for at, row in enumerate(rows, 1):
        summary = f"<b>{row.total:,}</b>" if row.trainable else f"{row.total:,}"
        color = palette.prediction if row.trainable else None
        panel.words(summary, row.total / 1e6, at, xanchor="left", xshift=5, color=color)
    values = "; ".join(f"{name}: {row.total:,}" for name, row in named)
    return sheet.described("alt.acc_parts", names={"y": names}, title=title, count=parameter_count,
                           values=values)  # fmt: skip


def _bars(
    panel: Panel, kind: str, names: Sequence[str], counts: Sequence[int], marker: dict[str, Any]
) -> None:
    """Draw the bars of one kind, if there are any."""
    retained = [position for position, count in enumerate(counts, 1) if count]
    if not retained:
        return
    panel.bars(
        retained, [counts[position - 1] / 1e6 for position in retained],
        panel.style.text(f"figure.acc_{kind}"), marker["color"], sideways=True, width=0.66,
        marker=marker,
        customdata=[f"{names[position - 1]}: {counts[position - 1]:,}" for position in retained],
        hover="%{customdata}" + NAMED,
    )  # fmt: skip


def _rows(parameter_count: ParameterCount, style: Style) -> list[tuple[str, ParameterGroup]]:
    """Return the named parts: embedding tables, layers, pooler, classifier, adapters.

    Consecutive layers with equal numbers share a row where there are too many parts.
    """
    tables = {name: [0, 0] for name in _TABLES}
    for part in parameter_count.parts:
        first, table, *_ = part.name.split(".")
        if first == "embeddings":
            tables[table][0] += part.parameters
            tables[table][1] += part.parameters * part.trainable
    rows = [
        (style.text(f"figure.acc_part_{_TABLES[name]}"), ParameterGroup(name, *pair))
        for name, pair in tables.items()
        if pair[0]
    ]
    others = [group for group in groups(parameter_count) if group.name != "embeddings"]
    merged = len(rows) + len(others) > _ROWS

    def alike(group: ParameterGroup) -> tuple[object, ...]:
        layer = merged and group.name.startswith("layer")
        return (group.total, group.trainable) if layer else (group.name,)

    for _, each in groupby(others, alike):
        run = list(each)
        total, trained = sum(group.total for group in run), sum(group.trainable for group in run)
        rows.append((_named(run, style), ParameterGroup(run[0].name, total, trained)))
    return rows


def _named(run: list[ParameterGroup], style: Style) -> str:
    kind, *first = run[0].name.split()
    if not first:
        return style.text(f"figure.acc_part_{kind}")
    if len(run) == 1:
        return style.text("figure.acc_part_layer", layer=first[0])
    last = run[-1].name.split()[1]
    return style.text("figure.acc_part_layer_range", first=first[0], last=last)
