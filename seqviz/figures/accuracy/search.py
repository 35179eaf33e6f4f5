"""A search for the learning rate and the batch size: where each trial lay, on a map of them all."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.accuracy.findings import Searched, Surface
from seqviz.compute.proportions import Proportion, wilson
from seqviz.figures.accuracy.parts import said
from seqviz.figures.grammar.decades import ticks_of_ten
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import label
from seqviz.figures.grammar.style import WEIGHTS, Style, axis_layout, finish, layout
from seqviz.figures.grammar.weights_color import color_bar
from seqviz.text import number

_STYLE = Style()
VALIDATED = 800  # sentences set apart, on which every trial is judged
# A cell may have any color of the scale, in either theme: on a disc of its own a number is legible.
_DISC, _ON_DISC = "rgba(16,20,28,0.88)", "rgba(255,255,255,1)"
_BESIDE = 0.16  # decades between two discs of one row that both find room
_ASIDE = (0.0, 0.27, -0.27)  # rows by which a disc moves otherwise
_EMPTY = np.array([1e-5, 1e-1])  # rates at the ends of an axis without trials


def judged(share: float, n: int) -> Proportion:
    """An accuracy on n sentences with its interval."""
    low, high = wilson(np.array([share]), n)
    return Proportion(round(share * n), n, share, float(low[0]), float(high[0]))


def search_view(
    found: Searched, surface: Surface | None = None, n: int = VALIDATED, style: Style = _STYLE
) -> Figure:
    """The trials, numbered in their order, on a map of what each pair reaches; the best is ringed.

    surface: validation accuracy of all combinations, tried beforehand: the search does not know it.
    n: validation sentences. Rates are shown by their logarithm.
    """
    text = style.text
    count, best = len(found.rate), found.best
    rates, batches = found.rate, np.unique(found.batch)
    data: list[dict[str, Any]] = []
    if surface is not None:
        rates = np.concatenate([rates, surface.rate])
        batches = np.union1d(batches, surface.batch)
        data.append(_map(surface, batches, style))
    x, row = np.log10(found.rate), np.searchsorted(batches, found.batch) + 1.0
    answers = [judged(float(share), n) for share in found.validation]
    if count:
        data.append(_trials(found, x, row, [said(answer, style) for answer in answers], style))
        data += _discs(x, row, best, style)
    names = [str(int(batch)) for batch in batches]
    spec = layout(style)
    spec |= {
        "xaxis": _rates(rates if len(rates) else _EMPTY, surface, style),
        "yaxis": axis_layout(
            style,
            range=[0.5, max(len(batches), 1) + 0.5],
            tickvals=list(range(1, len(batches) + 1)),
            ticktext=names,
            showgrid=False,
            title={"text": text("figure.acc_batch")},
        ),
    }
    if count:
        words = text("figure.acc_best_is", trial=best + 1, said=said(answers[best], style))
        above = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
        spec["annotations"] = [
            label(style, words, style.palette.truth, x=0, y=1, yshift=5, **above)
        ]
    whole = text(
        "alt.acc_search_map",
        top="–" if surface is None else number(100 * float(np.nanmax(surface.validation))),
    )
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.acc_search",
            method=text(f"figure.acc_method_{found.settings.method}"),
            trials=count,
            n=f"{n:,}",
            best=best + 1 if count else "–",
            value=number(100 * answers[best].share) if count else "–",
            rate=number(float(found.rate[best])) if count else "–",
            batch=int(found.batch[best]) if count else "–",
        )
        + ("" if surface is None else whole),
        names={"y": names},
    )


def _map(surface: Surface, batches: Int[np.ndarray, "row"], style: Style) -> dict[str, Any]:
    """All combinations as cells: rates on a log scale, a row a batch size."""
    name = style.text("figure.acc_validation_accuracy")
    return {
        "type": "heatmap",
        "x": np.log10(surface.rate),
        "y": np.searchsorted(batches, surface.batch) + 1,
        "z": 100 * surface.validation,
        "name": name,
        "colorscale": WEIGHTS,
        "hoverongaps": False,
        "ygap": 1,
        "colorbar": color_bar(style, name),
        "customdata": np.broadcast_to([f"{rate:.2g}" for rate in surface.rate],
                                      surface.validation.shape),
        "hovertemplate": style.text(
            "figure.acc_hover_cell", rate="%{customdata}", batch="%{y}", value="<b>%{z:.1f}</b>"
        )
        + "<extra></extra>",
    }  # fmt: skip


def _trials(
    found: Searched,
    x: Float[np.ndarray, "trial"],
    row: Float[np.ndarray, "trial"],
    words: list[str],
    style: Style,
) -> dict[str, Any]:
    """A dot where each trial lay, with what it reached on hover."""
    batches = [str(int(batch)) for batch in found.batch]
    rates = [f"{rate:.2g}" for rate in found.rate]
    return {
        "type": "scatter",
        "x": x,
        "y": row,
        "mode": "markers",
        "name": style.text("figure.acc_trials"),
        "showlegend": False,
        "marker": {"size": 6, "color": _ON_DISC, "line": {"width": 1, "color": _DISC}},
        "customdata": [
            [place, *values]
            for place, values in enumerate(zip(rates, batches, words, strict=True), 1)
        ],
        "hovertemplate": style.text(
            "figure.acc_hover_trial",
            trial="%{customdata[0]}",
            rate="%{customdata[1]}",
            batch="%{customdata[2]}",
            said="<b>%{customdata[3]}</b>",
        )
        + "<extra></extra>",
    }


def _discs(
    x: Float[np.ndarray, "trial"], row: Float[np.ndarray, "trial"], best: int, style: Style
) -> list[dict[str, Any]]:
    """The number of each trial on a disc at its place, or beside it; a ring around the best."""
    y = row + _aside(x, row)
    common = {"type": "scatter", "hoverinfo": "skip", "showlegend": False}
    ring = {  # dark at its edge: the best lies on the lightest cells
        "size": 31 * style.scale,
        "color": style.palette.highlight,
        "line": {"width": 2.5, "color": _DISC},
    }
    disc = {"size": 21 * style.scale, "color": _DISC, "line": {"width": 1, "color": _ON_DISC}}
    chosen = slice(best, best + 1)
    return [
        {**common, "x": x[chosen], "y": y[chosen], "mode": "markers", "marker": ring},
        {
            **common,
            "x": x,
            "y": y,
            "mode": "markers+text",
            "text": [str(trial) for trial in range(1, len(x) + 1)],
            "textfont": {"size": 12 * style.scale, "color": _ON_DISC},
            "marker": {**disc, "opacity": 1},
        },
    ]


def _aside(
    x: Float[np.ndarray, "trial"], row: Float[np.ndarray, "trial"]
) -> Float[np.ndarray, "trial"]:
    """How far each disc moves within its row, so that it does not hide one before it."""
    moved = np.zeros(len(x))
    for trial in range(len(x)):
        near = (np.abs(x[:trial] - x[trial]) < _BESIDE) & (row[:trial] == row[trial])
        taken = [int(np.sum(near & (moved[:trial] == aside))) for aside in _ASIDE]
        moved[trial] = _ASIDE[int(np.argmin(taken))]
    return moved


def _rates(
    rates: Float[np.ndarray, "rate"], surface: Surface | None, style: Style
) -> dict[str, Any]:
    """The axis of log10 of the rate, decades labelled, half a cell beyond the last at both ends."""
    low, high = float(np.log10(rates.min())), float(np.log10(rates.max()))
    cells = np.empty(0) if surface is None else np.diff(np.log10(surface.rate))
    room = max(0.12, float(cells.min()) / 2 if cells.size else 0.0)
    places, words = ticks_of_ten(int(np.floor(low)), int(np.ceil(high)))
    return axis_layout(
        style,
        range=[low - room, high + room],
        tickvals=places,
        ticktext=words,
        showgrid=surface is None,
        title={"text": style.text("figure.acc_rate_log")},
    )
