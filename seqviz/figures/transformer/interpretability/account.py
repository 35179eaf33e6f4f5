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


def logit_account(
    logit_attribution: LogitAttribution, split: Split, style: Style = STYLE
) -> Figure:
    """Left the running sum from the embedding to the logit, part by part; right one part split.

    Each bar of the left begins where the sum stood; the dotted line is the model's own logit. The
    part that is split has a frame. A click on a bar gives its place, counted from 1.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, barmode="overlay")
    count = len(logit_attribution.parts)
    names = [part_name(part, text) for part in range(count)]
    left = sheet.panel(
        axes.axis(text("figure.account_part"), **_layers(logit_attribution.layers, text)),
        axes.axis(text("figure.account_logit"), range=_room(logit_attribution)),
        across=_LEFT,
    )
    start = np.cumsum(logit_attribution.parts) - logit_attribution.parts
    left.horizontal(0, palette.grid, width=1)
    left.horizontal(logit_attribution.logit, palette.baseline, width=1.5, dash="dot")
    for name, positions, color in (
        ("account_embedding", [0], palette.truth),
        ("account_attention", range(1, count, 2), palette.prediction),
        ("account_mlp", range(2, count, 2), palette.mlp),
    ):
        at = np.array(positions)
        left.waterfall(
            at + 1, logit_attribution.parts[at], start[at], text(f"figure.{name}"), color,
            pick=True, customdata=[number(v) for v in start[at] + logit_attribution.parts[at]],
            hover=text("figure.account_hover", part="%{hovertext}", value="%{y:+.3f}",
                       sum="%{customdata}"),
            hovertext=[names[k] for k in positions],
        )  # fmt: skip
    low, high = sorted((float(start[split.part]), float(start[split.part] + split.total)))
    pad = 0.02 * (left_range := _room(logit_attribution))[1] - 0.02 * left_range[0]
    left.rectangle(
        (split.part + 0.4, split.part + 1.6), (low - pad, high + pad), palette.highlight, width=3
    )
    left.words(
        f" {_logit_name(logit_attribution, text)} = {number(logit_attribution.logit, 4)}",
        1,
        logit_attribution.logit,
        xanchor="left",
        yanchor="bottom",
        color=palette.baseline,
    )
    _units(sheet, split, names[split.part])
    largest = logit_attribution.largest
    return sheet.described(
        "alt.account",
        names={"x": names},
        target=logit_attribution.target,
        logit=logit_attribution.logit,
        parts=count,
        largest=names[largest],
        value=logit_attribution.parts[largest],
        chosen=names[split.part],
        total=split.total,
    )


def part_name(part: int, text: Text) -> str:
    """What a part of an account is called: 0 the embedding, then attention and MLP by layer."""
    kind, layer = part_location(part)
    return text(f"figure.account_{kind}_of", layer=layer)


def unit_names(split: Split, text: Text) -> list[str]:
    """The units of a split part, and the rest where there is one."""
    names = [text(f"figure.account_unit_{split.kind}", number=int(k)) for k in split.numbers]
    rest = [text("figure.account_others", count=split.others)] if split.others else []
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
        title=text("figure.account_split", part=title, value=split.total),
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


def _logit_name(logit_attribution: LogitAttribution, text: Text) -> str:
    if logit_attribution.against:
        return text("figure.account_difference", target=escape(logit_attribution.target),
                    against=escape(logit_attribution.against))  # fmt: skip
    return text("figure.account_target", target=escape(logit_attribution.target))


def _layers(layers: int, text: Text) -> dict[str, object]:
    """Ticks at every fifth layer or so, between its attention and its MLP."""
    every = max(1, -(-layers // _TICKS))
    visible = list(range(0, layers, every))
    return {
        "range": [0.2, 2 * layers + 1.8],
        "tickvals": [1, *[2 * k + 2.5 for k in visible[1:]]],
        "ticktext": [text("figure.account_short"), *map(str, visible[1:])],
        "tickangle": 0,
        "showgrid": False,
    }


def _room(logit_attribution: LogitAttribution) -> list[float]:
    sums = np.cumsum(logit_attribution.parts)
    low, high = axes.around(np.append(sums, [0.0, logit_attribution.logit]), margin=0.1)
    return [low, high]
