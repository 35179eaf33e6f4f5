"""Search for learning rate and batch size: its trials, and the best value by trial."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.bert_accuracy.results import Searched, SearchSurface
from seqviz.figures.bert_accuracy.bars_and_labels import HOVER, bare, fitted, format_proportion
from seqviz.figures.bert_accuracy.curves import VALIDATED
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, scales, whisker
from seqviz.stats.proportions import Proportion, of_share

# Numbers stand on discs, because a cell may have any color of the scale in both themes.
_DISC, _ON_DISC = "rgba(16,20,28,0.88)", "rgba(255,255,255,1)"
_BESIDE = 0.16  # minimum distance of two discs of a row, in decades
_ASIDE = (0.0, 0.27, -0.27)  # otherwise a disc moves by one of these, in rows
_TICKS = 8
_BELOW = 8  # percent below the best one's interval down to which trials are shown
_METHODS = {  # role of the color, dash and marker
    "grid": ("truth", "dash", "square"),
    "random": ("rnn", "dot", "diamond"),
    "bayes": ("prediction", "solid", "circle"),
}
_EMPTY = np.array([1e-5, 1e-1])  # ends of a rate axis without trials


def search_trials(
    result: Searched, surface: SearchSurface | None = None, n: int = VALIDATED, style: Style = STYLE
) -> Figure:
    """Plot the numbered trials on a map of the validation accuracy; the best one has a ring.

    The rate axis is logarithmic.

    Args:
        result: the search.
        surface: validation accuracy of all combinations, computed in advance and unknown to the
            search.
        n: number of validation sentences.
        style: language, theme and scale of the figure.
    """
    text, best, sheet = style.text, result.best, Sheet(style)
    rates, batches = result.rate, np.unique(result.batch)
    if surface is not None:
        rates = np.concatenate([rates, surface.rate])
        batches = np.union1d(batches, surface.batch)
    names = [str(int(batch)) for batch in batches]
    rows = axes.names(names, text("figure.acc_batch"), range=[0.5, max(len(names), 1) + 0.5])
    panel = sheet.panel(_rates(rates if len(rates) else _EMPTY, surface, style), rows)
    if surface is not None:
        _map(panel, surface, batches)
    values: dict[str, Any] = {"value": np.nan, "rate": np.nan, "batch": "–", "best": "–"}
    if len(result.rate):
        words = [format_proportion(of_share(float(share), n), text) for share in result.validation]
        x, row = np.log10(result.rate), np.searchsorted(batches, result.batch) + 1.0
        _trials(panel, result, x, row, words)
        _discs(panel, x, row, best)
        headline = text("figure.acc_best_is", trial=best + 1, said=words[best])
        sheet.headline(headline, size=13, yshift=5)
        values = {"value": result.validation[best], "rate": result.best_rate,
                  "batch": int(result.batch[best]), "best": best + 1}  # fmt: skip
    method = text(f"figure.acc_method_{result.settings.method}")
    alt = text("alt.acc_search", method=method, trials=len(result.rate), n=n, **values)
    if surface is not None:
        alt += text("alt.acc_search_map", top=float(np.nanmax(surface.validation)))
    return sheet.finish(alt, {"y": names})


def _map(panel: Panel, surface: SearchSurface, batches: Int[np.ndarray, "row"]) -> None:
    """Draw all combinations as cells: log rates by batch size."""
    text, shape = panel.style.text, surface.validation.shape
    value = {"rate": "%{customdata}", "batch": "%{y}", "value": "<b>%{z:.1f}</b>"}
    panel.cells(
        100 * surface.validation, text("figure.acc_validation_accuracy"), scales.unit_scale(),
        x=np.log10(surface.rate), y=np.searchsorted(batches, surface.batch) + 1,
        hoverongaps=False, ygap=1, hover=text("figure.acc_hover_cell", **value),
        customdata=np.broadcast_to([f"{rate:.2g}" for rate in surface.rate], shape),
    )  # fmt: skip


def _trials(
    panel: Panel, result: Searched, x: Float[np.ndarray, "trial"], row: Float[np.ndarray, "trial"],
    words: list[str],
) -> None:  # fmt: skip
    """Draw a dot for each trial; the hover text has its result."""
    text = panel.style.text
    parts = {"trial": "%{customdata[0]}", "rate": "%{customdata[1]}", "batch": "%{customdata[2]}"}
    hover = text("figure.acc_hover_trial", said="<b>%{customdata[3]}</b>", **parts)
    trials = enumerate(zip(result.rate, result.batch, words, strict=True), 1)
    data = [[trial, f"{rate:.2g}", str(int(batch)), word] for trial, (rate, batch, word) in trials]
    panel.points(x, row, text("figure.acc_trials"), _ON_DISC, size=6, customdata=data, hover=hover,
                 edge={"width": 1, "color": _DISC}, legend=False)  # fmt: skip


def _discs(
    panel: Panel, x: Float[np.ndarray, "trial"], row: Float[np.ndarray, "trial"], best: int
) -> None:
    """Draw numbered discs on or beside the trials, and a ring around the best."""
    style, y = panel.style, row + _aside(x, row)
    quiet: dict[str, Any] = {"hover": False, "legend": False}
    # a dark edge, because the best trial lies on the lightest cells
    ring = quiet | {"size": 31 * style.scale, "edge": {"width": 2.5, "color": _DISC}}
    panel.points(x[[best]], y[[best]], "", style.palette.highlight, **ring)
    disc = quiet | {"size": 21 * style.scale, "edge": {"width": 1, "color": _ON_DISC}}
    numbers = [str(trial) for trial in range(1, len(x) + 1)]
    font = {"size": 12 * style.scale, "color": _ON_DISC}
    keys: dict[str, Any] = {"mode": "markers+text", "text": numbers, "textfont": font, "opacity": 1}
    panel.points(x, y, "", _DISC, **disc, **keys)


def _aside(
    x: Float[np.ndarray, "trial"], row: Float[np.ndarray, "trial"]
) -> Float[np.ndarray, "trial"]:
    """Return the offset of each disc within its row that avoids the discs before it."""
    moved = np.zeros(len(x))
    for trial in range(len(x)):
        near = (np.abs(x[:trial] - x[trial]) < _BESIDE) & (row[:trial] == row[trial])
        taken = [int(np.sum(near & (moved[:trial] == aside))) for aside in _ASIDE]
        moved[trial] = _ASIDE[int(np.argmin(taken))]
    return moved


def _rates(
    rates: Float[np.ndarray, "rate"], surface: SearchSurface | None, style: Style
) -> dict[str, Any]:
    """Return the axis of log10 rates, extended by half a cell on both sides."""
    low, high = float(np.log10(rates.min())), float(np.log10(rates.max()))
    cells = np.empty(0) if surface is None else np.diff(np.log10(surface.rate))
    room = max(0.12, float(cells.min()) / 2 if cells.size else 0.0)
    positions, words = scales.decades(int(np.floor(low)), int(np.ceil(high)))
    return axes.axis(style.text("figure.acc_rate_log"), range=[low - room, high + room],
                     tickvals=positions, ticktext=words, showgrid=surface is None)  # fmt: skip


def best_so_far(results: tuple[Searched, ...], n: int = VALIDATED, style: Style = STYLE) -> Figure:
    """Plot the best validation accuracy by trial for each search method.

    Whiskers behind the last trial: 95% interval of each method's best. Pale marks: the trials;
    those far below the lines are out of view.

    Args:
        results: one search for each method.
        n: number of validation sentences.
        style: language, theme and scale of the figure.
    """
    text = style.text
    runs = [item for item in results if len(item.validation)]
    last = max([1, *(len(run.validation) for run in runs)])
    room = max(0.3, 0.05 * last)  # distance of two intervals
    right = last + room * (len(runs) + 1)
    best = [np.fmax.accumulate(run.validation) for run in runs]
    tops = [of_share(float(line[-1]), n) for line in best]
    observed = [100 * np.array([*top.ci, *np.maximum(line, top.low - _BELOW / 100)])
                for line, top in zip(best, tops, strict=True)]  # fmt: skip
    ends = fitted(*(observed or [np.array([50, 100])]), above=0.02)
    every = next(step for step in (1, 2, 5, 10, 20, 50, 100, 10**9) if last / step <= _TICKS)
    ticks = [1, *range(max(every, 2), last + 1, every)]
    sheet = Sheet(style)
    sheet.margin(r=108 * style.scale, t=20)
    panel = sheet.panel(
        axes.axis(text("figure.acc_trial"), range=[0.5, right], tickangle=0, tickvals=ticks),
        axes.percent(text("figure.acc_best_so_far", n=n), *ends),
    )
    for position, (entry, line, top) in enumerate(zip(runs, best, tops, strict=True), 1):
        _runner(panel, entry, line, top, last + room * position)
    pairs = [(run.settings.method, top) for run, top in zip(runs, tops, strict=True)]
    names = [
        f"{text(f'figure.acc_race_{method}')} <b>{bare(top.share)}</b>" for method, top in pairs
    ]
    colors = [getattr(style.palette, _METHODS[method][0]) for method, _ in pairs]
    panel.ends(names, colors, [100 * top.share for top in tops], right, ends)
    reached = [
        text("figure.acc_reached", name=text(f"figure.acc_method_{method}"), value=top.share,
             trials=len(line)) for (method, top), line in zip(pairs, best, strict=True)
    ]  # fmt: skip
    return sheet.described("alt.acc_race", n=n, values="; ".join(reached) or "–")


def _runner(
    panel: Panel, result: Searched, best: np.ndarray, top: Proportion, after: float
) -> None:
    """Draw one method: steps of its best value, the trials, and the interval."""
    style = panel.style
    role, dash, symbol = _METHODS[result.settings.method]
    name = style.text(f"figure.acc_method_{result.settings.method}")
    color, trials = getattr(style.palette, role), np.arange(1, len(best) + 1)
    step = {"color": color, "width": 2.8, "dash": dash, "shape": "hv"}
    panel.line(trials, 100 * best, name, color, line=step, hover=HOVER, legend=False)
    marks: dict[str, Any] = {"size": 7, "symbol": symbol, "legend": False}
    each = style.text("figure.acc_trials_of", name=name)
    panel.points(trials, 100 * result.validation, each, color, opacity=0.6, hover=HOVER, **marks)
    interval = whisker([100 * top.share], [100 * top.low], [100 * top.high], color)
    each, hover = style.text("figure.acc_best_of", name=name), format_proportion(top, style.text)
    panel.points([after], [100 * top.share], each, color, error_y=interval, hover=hover + NAMED,
                 **marks)  # fmt: skip
