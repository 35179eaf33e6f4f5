"""Logit attribution: a waterfall of all parts, and one part by heads or neurons."""

from __future__ import annotations

import numpy as np

from seqviz.compute.transformer.interpretability.account import (
    CapitalAttributions,
    LogitAttribution,
    Split,
    part_location,
)
from seqviz.core.i18n import Text, number
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape

_LEFT, _RIGHT = (0.0, 0.6), (0.76, 1.0)
_TICKS = 8


def logit_account(
    logit_attribution: LogitAttribution, split: Split, style: Style = STYLE
) -> Figure:
    """Plot the running sum from the embedding to the logit (left), and one part split (right).

    Each bar starts at the previous sum; the dotted line is the model's logit; the split part is
    outlined. A click on a bar gives its position, from 1.

    Args:
        logit_attribution: all parts of the logit.
        split: the split part.
        style: language, theme and scale of the figure.
    """
    text, label, palette = style.text, style.labels("figure.account_"), style.palette
    sheet = Sheet(style, barmode="overlay")
    parts, logit = logit_attribution.parts, logit_attribution.logit
    count = len(parts)
    names = [part_name(part, text) for part in range(count)]
    sums = np.cumsum(parts)
    low, high = axes.around(np.append(sums, [0.0, logit]), margin=0.1)
    left = sheet.panel(
        axes.axis(label("part"), **_layers(logit_attribution.layers, text)),
        axes.axis(label("logit"), range=[low, high]), across=_LEFT,
    )  # fmt: skip
    left.horizontal(0, palette.grid, width=1)
    left.horizontal(logit, palette.baseline, width=1.5, dash="dot")
    for name, positions, color in (
        ("embedding", [0], palette.truth),
        ("attention", range(1, count, 2), palette.prediction),
        ("mlp", range(2, count, 2), palette.mlp),
    ):
        at = np.array(positions)
        # Not %{y}: of a bar with a base it is the end of the bar, the running sum.
        hovers = [label("hover", part=names[k], value=f"{parts[k]:+.3f}".replace("-", "−"),
                        sum=number(float(sums[k]))) for k in at]  # fmt: skip
        left.waterfall(
            at + 1, parts[at], sums[at] - parts[at], label(name), color, pick=True,
            hover="%{customdata}", customdata=hovers,
        )  # fmt: skip
    start = float(sums[split.part] - parts[split.part])
    ends, pad = sorted((start, start + split.total)), 0.02 * high - 0.02 * low
    left.rectangle((split.part + 0.4, split.part + 1.6), (ends[0] - pad, ends[1] + pad),
                   palette.highlight, width=3)  # fmt: skip
    left.words(f" {_logit_name(logit_attribution, text)} = {number(logit, 4)}", 1, logit,
               xanchor="left", yanchor="bottom", color=palette.baseline)  # fmt: skip
    adds = label("adds_difference" if logit_attribution.against else "adds")
    _units(sheet, split, names[split.part], adds)
    largest = logit_attribution.largest
    return sheet.described(
        "alt.account", names={"x": names}, target=logit_attribution.target, logit=logit,
        parts=count, largest=names[largest], value=parts[largest], chosen=names[split.part],
        total=split.total,
    )  # fmt: skip


def capital_shares(capitals: CapitalAttributions, style: Style = STYLE) -> Figure:
    """Plot by country which share of the difference all attentions and the largest part add.

    Args:
        capitals: attributions of the capitals; only those that the model names are drawn.
        style: language, theme and scale of the figure.
    """
    text, label, palette = style.text, style.labels("figure.account_"), style.palette
    names = dict(zip(capitals.countries, text.items("figure.account_countries"), strict=True))
    all_of, largest = 100 * capitals.attention, 100 * capitals.largest_share
    low, high = axes.around(np.append(all_of, [*largest, 0.0, 100.0]))
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.percent(label("share"), low, high, tickvals=[0, 25, 50, 75, 100]),
        axes.ranked([names[country] for country in capitals.known_countries], label("country")),
    )
    part = part_name(capitals.largest, text)
    panel.estimates(all_of, label("attentions"), palette.prediction, sideways=True, size=11,
                    hover="%{y}: %{x:.1f}%")  # fmt: skip
    panel.estimates(largest, part, palette.prediction, sideways=True, size=9,
                    symbol="circle-open", hover="%{y}: %{x:.1f}%")  # fmt: skip
    return sheet.described("alt.capitals", part=part, **capitals.summary())


def part_name(part: int, text: Text) -> str:
    """Return the name of a part: 0 is the embedding, then attention and MLP by layer."""
    kind, layer = part_location(part)
    return text(f"figure.account_{kind}_of", layer=layer)


def unit_names(split: Split, text: Text) -> list[str]:
    """Return the names of the units of a split part, and of the rest if there is one."""
    names = [text(f"figure.account_unit_{split.kind}", number=int(k)) for k in split.numbers]
    rest = [text("figure.account_others", count=split.others)] if split.others else []
    return names + rest


def _units(sheet: Sheet, split: Split, title: str, adds: str) -> None:
    label, palette = sheet.style.labels("figure.account_"), sheet.style.palette
    values = [*split.values.tolist(), *([split.rest] if split.others else [])]
    names = unit_names(split, sheet.style.text)
    reach = 1.75 * max(*np.abs(values), 1e-6)
    panel = sheet.panel(
        axes.axis(adds, range=[-reach if min(values) < 0 else 0.0, reach], nticks=5),
        axes.ranked(names, label(f"units_{split.kind}")),
        across=_RIGHT, title=label("split", part=title, value=split.total),
    )  # fmt: skip
    panel.vertical(0, palette.grid, width=1)
    color = {"attention": palette.prediction, "mlp": palette.mlp}.get(split.kind, palette.truth)
    colors = [color] * len(split.values) + [palette.baseline] * (len(names) - len(split.values))
    panel.ranked_bars(values, adds, colors, legend=False, hover=False,
                      ends=[f" {value:+.2f} ".replace("-", "−") for value in values])  # fmt: skip


def _logit_name(logit_attribution: LogitAttribution, text: Text) -> str:
    if logit_attribution.against:
        return text("figure.account_difference", target=escape(logit_attribution.target),
                    against=escape(logit_attribution.against))  # fmt: skip
    return text("figure.account_target", target=escape(logit_attribution.target))


def _layers(layers: int, text: Text) -> dict[str, object]:
    """Return the axis with a tick between attention and MLP of about every fifth layer."""
    every = max(1, -(-layers // _TICKS))
    visible = list(range(0, layers, every))
    return {
        "range": [0.2, 2 * layers + 1.8],
        "tickvals": [1, *[2 * k + 2.5 for k in visible[1:]]],
        "ticktext": [text("figure.account_short"), *map(str, visible[1:])],
        "tickangle": 0,
        "showgrid": False,
    }
