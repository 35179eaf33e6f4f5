"""A logit as a sum: a waterfall of all parts, and beside it one part by heads or neurons."""

from __future__ import annotations

import numpy as np

from seqviz.compute.transformer.interpretability.account import (
    LogitAttribution,
    Split,
    part_location,
)
from seqviz.core.i18n import Text, number
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape

_LEFT, _RIGHT = (0.0, 0.6), (0.76, 1.0)
_TICKS = 8


def logit_account(found: LogitAttribution, split: Split, style: Style = STYLE) -> Figure:
    """Left the running sum from the embedding to the logit, part by part; right one part split.

    Each bar of the left begins where the sum stood; the dotted line is the model's own logit. The
    part that is split has a frame. A click on a bar gives its place, counted from 1.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, barmode="overlay")
    count = len(found.parts)
    names = [part_name(part, text) for part in range(count)]
    left = sheet.panel(
        axes.axis(text("figure.account_part"), **_layers(found.layers, text)),
        axes.axis(text("figure.account_logit"), range=_room(found)),
        across=_LEFT,
    )
    start = np.cumsum(found.parts) - found.parts
    left.horizontal(0, palette.grid, width=1)
    left.horizontal(found.logit, palette.baseline, width=1.5, dash="dot")
    for name, places, color in (
        ("account_embedding", [0], palette.truth),
        ("account_attention", range(1, count, 2), palette.prediction),
        ("account_mlp", range(2, count, 2), palette.mlp),
    ):
        at = np.array(places)
        left.waterfall(
            at + 1, found.parts[at], start[at], text(f"figure.{name}"), color,
            pick=True, customdata=[number(v) for v in start[at] + found.parts[at]],
            hover=text("figure.account_hover", part="%{hovertext}", value="%{y:+.3f}",
                       sum="%{customdata}"),
            hovertext=[names[k] for k in places],
        )  # fmt: skip
    low, high = sorted((float(start[split.part]), float(start[split.part] + split.total)))
    pad = 0.02 * (left_range := _room(found))[1] - 0.02 * left_range[0]
    left.rectangle(
        (split.part + 0.4, split.part + 1.6), (low - pad, high + pad), palette.highlight, width=3
    )
    left.words(f" {_logit_name(found, text)} = {number(found.logit, 4)}", 1, found.logit,
               xanchor="left", yanchor="bottom", color=palette.baseline)  # fmt: skip
    _units(sheet, split, names[split.part])
    largest = found.largest
    return sheet.described(
        "alt.account",
        names={"x": names},
        target=found.target,
        logit=number(found.logit, 4),
        parts=count,
        largest=names[largest],
        value=number(found.parts[largest]),
        chosen=names[split.part],
        total=number(split.total),
    )


def part_name(part: int, text: Text) -> str:
    """What a part of an account is called: 0 the embedding, then attention and MLP by layer."""
    kind, layer = part_location(part)
    return text(f"figure.account_{kind}_of", layer=layer)


def unit_names(split: Split, text: Text) -> list[str]:
    """The units of a split part, and the rest where there is one."""
    names = [text(f"figure.account_unit_{split.kind}", number=int(k)) for k in split.numbers]
    rest = [text("figure.account_others", count=f"{split.others:,}")] if split.others else []
    return names + rest


def _units(sheet: Sheet, split: Split, title: str) -> Panel:
    text, palette = sheet.style.text, sheet.style.palette
    values = [*split.values.tolist(), *([split.rest] if split.others else [])]
    names = unit_names(split, text)
    reach = 1.75 * max(*np.abs(values), 1e-6)
    low = -reach if min(values) < 0 else 0.0
    panel = sheet.panel(
        axes.axis(text("figure.account_adds"), range=[low, reach], nticks=5),
        axes.names(names, text(f"figure.account_units_{split.kind}"),
                   range=[len(names) + 0.6, 0.4]),
        across=_RIGHT,
        title=text("figure.account_split", part=title, value=number(split.total)),
    )  # fmt: skip
    panel.vertical(0, palette.grid, width=1)
    color = {"attention": palette.prediction, "mlp": palette.mlp}.get(split.kind, palette.truth)
    panel.bars(
        np.arange(1, len(names) + 1), values, text("figure.account_adds"),
        [color] * len(split.values) + [palette.baseline] * (len(names) - len(split.values)),
        sideways=True, ends=[f" {value:+.2f} ".replace("-", "−") for value in values],
        legend=False, hover=False,
    )  # fmt: skip
    return panel


def _logit_name(found: LogitAttribution, text: Text) -> str:
    if found.against:
        return text("figure.account_difference", target=escape(found.target),
                    against=escape(found.against))  # fmt: skip
    return text("figure.account_target", target=escape(found.target))


def _layers(layers: int, text: Text) -> dict[str, object]:
    """Ticks at every fifth layer or so, between its attention and its MLP."""
    every = max(1, -(-layers // _TICKS))
    shown = list(range(0, layers, every))
    return {
        "range": [0.2, 2 * layers + 1.8],
        "tickvals": [1, *[2 * k + 2.5 for k in shown[1:]]],
        "ticktext": [text("figure.account_short"), *map(str, shown[1:])],
        "tickangle": 0,
        "showgrid": False,
    }


def _room(found: LogitAttribution) -> list[float]:
    sums = np.cumsum(found.parts)
    low, high = axes.around(np.append(sums, [0.0, found.logit]), margin=0.1)
    return [low, high]
