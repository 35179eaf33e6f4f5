"""Padding with the mask given or left out: what [PAD] tokens do to an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.accuracy.findings import SIDES, TOLD, OwnPadding, Padding
from seqviz.compute.proportions import Proportion, of
from seqviz.figures.accuracy import parts
from seqviz.figures.accuracy.shares import Shares, answers_right, shares
from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import label
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.text import number

_STYLE = Style()
MEASURES = ("accuracy", "flipped", "drift", "on_pads")
_ROLES = {"told": ("prediction", "circle"), "untold": ("rnn", "square")}
_DASHES = {"right": "solid", "left": "dash"}


def padding_view(
    found: Padding,
    measure: str,
    length: int,
    side: str,
    baseline: Proportion | None = None,
    style: Style = _STYLE,
) -> Figure:
    """What padding does to all sentences, against the padded length (log axis).

    measure: "accuracy"; "flipped", the share of sentences whose answer is another than without
    padding (both with 95 % bands); "drift" of the sentence vector or "on_pads", the share of the
    attention that falls on [PAD] (median and quartiles). length: the chosen one, marked. side: the
    one whose bands are drawn; the other is quieter. baseline: always the answer that is more
    frequent in training; where it is not given, in these sentences. Raises ValueError for an
    unknown measure or side.
    """
    if measure not in MEASURES or side not in SIDES:
        raise ValueError(f"{measure!r} is not one of {MEASURES}, or {side!r} not one of {SIDES}.")
    text, palette = style.text, style.palette
    curves = _curves(found, measure)
    middle, low, high = curves.share, curves.low, curves.high
    digits = 3 if measure == "drift" else 1
    unit = "" if measure == "drift" else " %"
    at = SIDES.index(side)
    data, bands, names, colors, ends_at = [], [], [], [], []
    for t, told in enumerate(TOLD):
        for s in (at, 1 - at):
            name, color = _name(told, SIDES[s], style), getattr(palette, _ROLES[told][0])
            data.append(
                _line(
                    found.lengths,
                    middle[t, s],
                    told,
                    SIDES[s],
                    style,
                    customdata=_ranges(low[t, s], high[t, s], curves.n[t, s], digits),
                    hovertemplate=f"%{{x}}: %{{y:.{digits}f}}{unit} %{{customdata}}"
                    "<extra>%{fullData.name}</extra>",
                    opacity=1 if s == at else 0.55,
                )
            )
            names.append(name)
            colors.append(color)
            ends_at.append(float(middle[t, s, -1]) if len(found.lengths) else float("nan"))
        bands.append(
            parts.band(found.lengths, low[t, at], high[t, at], getattr(palette, _ROLES[told][0]))
        )
    ends = _ends(measure, low, middle, high)
    notes: list[dict[str, Any]] = []
    said_baseline = ""
    if measure == "accuracy":
        n, positive = len(found.positive), int(found.positive.sum())
        baseline = baseline or of(max(positive, n - positive), n)
        ends = parts.fitted(low, high, [100 * baseline.share], below=0.08)
        data.append(parts.majority(baseline, [1, 1e4], style))
        if baseline.n:
            notes.append(parts.majority_label(baseline, style, x=0))
        said_baseline = " " + text("alt.acc_baseline", percent=parts.percent(baseline.share))
    chosen = _nearest(found.lengths, length)
    values = [_value(middle[t, at], chosen, unit) for t in range(len(TOLD))]
    n_here = "–" if chosen is None else f"{curves.n[1, at, chosen]:,}"
    last = float(np.log10(found.lengths[-1])) if len(found.lengths) else 1.0
    spec = layout(style)
    spec["margin"] = {**spec["margin"], "r": (130 if style.lang == "en" else 112) * style.scale}
    spec["margin"]["t"] = 34 * style.scale
    spec |= {
        "xaxis": _lengths_axis(found.lengths, style),
        "yaxis": axis_layout(
            style, range=list(ends), title={"text": text(f"figure.acc_measure_{measure}")}
        ),
        "shapes": [parts.upright(length, palette.highlight)],
        "annotations": [
            *parts.at_ends(names, colors, ends_at, last, ends, style),
            *notes,
            parts.reading(f"n = {n_here}", float(np.log10(length)), last, style),
            label(
                style,
                text("figure.acc_at_length", length=length, told=values[0], untold=values[1]),
                palette.truth,
                xref="paper",
                yref="paper",
                x=0,
                y=1,
                xanchor="left",
                yanchor="bottom",
                yshift=3,
            ),
        ],
    }
    return finish(
        {"data": data + bands, "layout": spec},
        text(
            "alt.acc_padding",
            measure=text(f"figure.acc_measure_{measure}"),
            n=n_here,
            length=length,
            side=text(f"figure.acc_side_{side}"),
            told=values[0],
            untold=values[1],
        )
        + said_baseline,
    )


def own_padding_view(found: OwnPadding, length: int, style: Style = _STYLE) -> Figure:
    """One sentence padded: P(positive) on the left, share of the attention on [PAD] on the right.

    length: the chosen one, marked in both panels.
    """
    text, palette = style.text, style.palette
    data: list[dict[str, Any]] = []
    spec = layout(style)
    spec |= {"annotations": [], "shapes": []}
    for end, domain, values, key in (
        ("", [0, 0.45], found.probability, "acc_positive"),
        ("2", [0.55, 1], found.on_pads, "acc_measure_on_pads"),
    ):
        title = text(f"figure.{key}")
        for t, told in enumerate(TOLD):
            for s, side in enumerate(SIDES):
                drawn = _line(found.lengths, 100 * values[t, s], told, side, style, end)
                drawn |= {"showlegend": not end, "legendgroup": f"{told} {side}"}
                data.append(drawn)
        if not end:
            limits = [float(found.lengths.min(initial=1)), float(found.lengths.max(initial=2))]
            data.append(parts.dotted(limits, [50, 50], text("figure.acc_undecided"), style))
            spec["annotations"].append(
                parts.line_label(text("figure.acc_undecided"), 50, style, above=True, x=0)
            )
        spec[f"xaxis{end}"] = _lengths_axis(found.lengths, style, domain=domain, anchor=f"y{end}")
        spec[f"yaxis{end}"] = parts.percent_axis(style, title, anchor=f"x{end}")
        spec["shapes"].append(parts.upright(length, palette.highlight, end))
        spec["annotations"].append(
            panel_title(style, end, text(f"figure.acc_own_{'on_pads' if end else 'answer'}"))
        )
    spec["legend"] |= {"y": 1.07}
    spec["margin"] = {**spec["margin"], "t": 72 * style.scale}
    chosen = _nearest(found.lengths, length)
    right = SIDES.index("right")
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.acc_own_padding",
            plain=parts.percent(found.plain),
            length=length,
            told=_value(100 * found.probability[0, right], chosen, " %"),
            untold=_value(100 * found.probability[1, right], chosen, " %"),
            on_pads=_value(100 * found.on_pads[1, right], chosen, " %"),
        ),
        gap=0.2,
    )


def _curves(found: Padding, measure: str) -> Shares:
    """Middle, low and high of the measure: share and Wilson interval, or median and quartiles.

    Of few sentences long paddings are known; the others are nan there and do not count.
    """
    if measure == "accuracy":
        return shares(answers_right(found.probability, found.positive))
    if measure == "flipped":
        return shares(1 - answers_right(found.probability, found.plain > 0.5))
    values = found.drift if measure == "drift" else 100 * found.on_pads
    n = np.isfinite(values).sum(axis=-1)
    quartiles = np.full((3, *n.shape), np.nan)
    for place in zip(*np.nonzero(n), strict=True):
        quartiles[(slice(None), *place)] = np.nanpercentile(values[place], [25, 50, 75])
    return Shares(quartiles[1], quartiles[0], quartiles[2], n)


def _ends(measure: str, *values: Float[np.ndarray, "told side length"]) -> tuple[float, float]:
    """Of the vertical axis; what starts from nothing starts from zero."""
    top = max([float(v[np.isfinite(v)].max(initial=0)) for v in values])
    top = max(top, 0.01 if measure == "drift" else 10)
    return -0.03 * top, 1.12 * top


def _name(told: str, side: str, style: Style) -> str:
    return style.text("figure.acc_pads", told=style.text(f"figure.acc_{told}"),
                      side=style.text(f"figure.acc_side_{side}"))  # fmt: skip


def _line(
    lengths: Int[np.ndarray, "length"],
    values: Float[np.ndarray, "length"],
    told: str,
    side: str,
    style: Style,
    end: str = "",
    **more: Any,
) -> dict[str, Any]:
    role, symbol = _ROLES[told]
    symbol += "" if side == "right" else "-open"
    name, color = _name(told, side, style), getattr(style.palette, role)
    more = {"showlegend": False, **more}
    return parts.line(lengths, values, name, color, _DASHES[side], symbol, end, **more)


def _lengths_axis(lengths: Int[np.ndarray, "length"], style: Style, **more: Any) -> dict[str, Any]:
    """A log axis whose ticks are the powers of two among and between the lengths."""
    least, most = float(lengths.min(initial=32)), float(lengths.max(initial=32))
    powers = [2**k for k in range(1, 17) if least <= 2**k <= most] or [int(most)]
    return axis_layout(
        style,
        type="log",
        range=[float(np.log10(least)) - 0.03, float(np.log10(most)) + 0.03],
        tickvals=powers,
        ticktext=[f"{power:,}" for power in powers],
        title={"text": style.text("figure.acc_padded")},
        **more,
    )


def _ranges(
    low: Float[np.ndarray, "length"],
    high: Float[np.ndarray, "length"],
    counts: Int[np.ndarray, "length"],
    digits: int,
) -> list[str]:
    return [
        f"[{a:.{digits}f}, {b:.{digits}f}], n = {n:,}"
        for a, b, n in zip(low, high, counts, strict=True)
    ]


def _nearest(lengths: Int[np.ndarray, "length"], length: int) -> int | None:
    """Which computed length is nearest on the log axis; None of none."""
    return int(np.argmin(np.abs(np.log(lengths / length)))) if len(lengths) else None


def _value(values: Float[np.ndarray, "length"], place: int | None, unit: str) -> str:
    """One of these as it stands on screen: percent with one decimal, else three digits."""
    if place is None or np.isnan(values[place]):
        return "–"
    value = float(values[place])
    return f"{value:.1f}{unit}" if unit else number(value)
