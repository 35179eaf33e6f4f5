"""Distribution of a number over random seeds, one mark for each, with theory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from jaxtyping import Float

from seqviz.compute.replicates import Replicates, Theory, expected
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axis, whisker
from seqviz.stats.estimate import Estimate, stack

BINS = 15, 24  # number of bins, below and from `MANY` seeds on
MANY = 80  # number of seeds from which there are more bins
_ROOM = 0.62  # share of the panel's height in pixels, on a desktop, for the piles
_LARGEST, _LEAST_IN_ROW, _SMALLEST = 12.0, 6.0, 2.5  # mark size in pixels
_MEAN = 0.11  # height of the mean, below the marks, as a share of a row
_BEYOND = 0.03  # margin on both sides, as a share of the panel; fits the first mark on a phone
_LEAST = 5  # minimum number of stacked marks that a row has room for


def distribution_over_seeds(
    replicates: Replicates, quantity: str, theory: Theory | None = None, style: Style = STYLE
) -> Figure:
    """Plot a mark for each seed, stacked at its value, and the mean with its 95% interval.

    Theory: dotted steps are the expected marks in each bin, the dashed line the mean, the bar on
    the axis the range of 95% of all replicates.

    Args:
        replicates: the number of each seed.
        quantity: name and unit of the number.
        theory: theoretical distribution, if known.
        style: language, theme and scale of the figure.
    """
    label, sheet = style.labels("figure.seeds_"), Sheet(style)
    edges, piles = bins(replicates, theory), pile(replicates, theory)
    many = None if theory is None else expected(theory, edges, replicates.values.size)
    top = max(4.0, piles[:, 1].max() + 0.5, 0.0 if many is None else many.max())
    head = 1.12 * top  # height of the mean
    size = style.scale * min(_LARGEST, max(_SMALLEST, _ROOM * style.height / style.scale / head))
    panel = sheet.panel(
        axis(quantity, range=[float(edges[0]), float(edges[-1])], showgrid=False, nticks=7),
        axis(label("in_bin"), range=[0, 1.1 * head], dtick=max(1, round(head / 6))),
    )
    if theory is not None and many is not None:
        steps = np.concatenate(([0.0], np.repeat(many, 2), [0.0]))
        panel.reference(np.repeat(edges, 2), steps, label("expected"), group="theory")
        panel.reference([theory.mean] * 2, [0, head], label("theory_mean"), dash="dash",
                        group="theory", legend=False)  # fmt: skip
        panel.reference([theory.low, theory.high], [0, 0], label("theory_range"), dash="solid",
                        width=5, cliponaxis=False)  # fmt: skip
    x, y = piles.T
    _marks(panel, replicates.of_class, x, y, replicates.seeds, replicates.values, size)
    _means(panel, stack([replicates.estimate]), [head], 12)
    facts = replicates.summary()
    observed = style.text(f"alt.seeds_{facts.variant}", **facts)
    if theory is None:
        return sheet.finish(observed)
    inside, _ = replicates.within(theory)
    return sheet.described("alt.seeds_theory", seen=observed, theory=theory, inside=inside,
                           count=facts["count"])  # fmt: skip


def kinds_over_seeds(
    result: Mapping[str, Replicates], quantity: str, style: Style = STYLE
) -> Figure:
    """Plot several numbers of the same seeds in rows; diamonds are means with 95% intervals.

    The mean stands below the marks of its row. In a tall pile the marks overlap.

    Args:
        result: replicates by name of the number.
        quantity: name and unit of the numbers.
        style: language, theme and scale of the figure.
    """
    label, sheet, count = style.labels("figure.seeds_"), Sheet(style), len(result)
    rows, (x, y, size) = [*result.values()], _rows(result, style)
    ends = _edges([row.values for row in rows])
    beyond = _BEYOND * float(ends[-1] - ends[0])
    panel = sheet.panel(
        axis(quantity, range=[ends[0] - beyond, ends[-1] + beyond], showgrid=False, nticks=7),
        axis(label("in_bin"), tickvals=np.arange(count)[::-1] + 0.5, ticktext=list(result),
             range=[0, count + _BEYOND], showgrid=False, zeroline=False),
    )  # fmt: skip
    for at in range(1, count):
        panel.horizontal(at, style.palette.grid, width=1)
    seeds, values = np.tile(rows[0].seeds, count), np.concatenate([row.values for row in rows])
    of_class = np.tile(rows[0].of_class, count)
    _marks(panel, of_class, x.ravel(), y.ravel(), seeds, values, size)
    _means(panel, stack(row.estimate for row in rows), np.arange(count)[::-1] + _MEAN, 11)
    return sheet.finish(_said_of_kinds(result, style))


def _marks(
    panel: Panel, of_class: np.ndarray, x: np.ndarray, y: np.ndarray, seeds: np.ndarray,
    values: np.ndarray, size: float,
) -> None:  # fmt: skip
    """Draw a mark for each seed; those of the class are filled."""
    label, palette = panel.style.labels("figure.seeds_"), panel.style.palette
    hover = label("hover", seed="%{customdata[0]}", value="%{customdata[1]:.4g}")
    for kind, chosen, symbol, color in (
        ("class", of_class, "circle", palette.prediction),
        ("further", ~of_class, "circle-open", palette.truth),
    ):
        if chosen.any():
            panel.points(x[chosen], y[chosen], label(kind), color, size=size, symbol=symbol,
                         edge={"color": color, "width": 1.5}, hover=hover,
                         customdata=np.column_stack((seeds[chosen], values[chosen])))  # fmt: skip


def _means(panel: Panel, means: Estimate, y: Sequence[float] | np.ndarray, size: float) -> None:
    """Draw diamonds at the means, with whiskers where each has an interval."""
    color = panel.style.palette.rnn
    unknown = np.isnan(means.low).any()
    ends = None if unknown else whisker(means.mean, *means.ci, color, thickness=2.5)
    panel.points(means.mean, y, panel.style.text("figure.seeds_mean"), color, symbol="diamond",
                 size=size, hover=False, error_x=ends)  # fmt: skip


def _rows(
    by_kind: Mapping[str, Replicates], style: Style
) -> tuple[Float[np.ndarray, "kind seed"], Float[np.ndarray, "kind seed"], float]:
    """Return x and y of the marks of `kinds_over_seeds`, and their size."""
    rows = [*by_kind.values()]
    edges = _edges([row.values for row in rows])
    heights = np.array([row.heights(edges) - 1 for row in rows])
    levels = max(_LEAST, heights.max() + 1)
    x = np.array([row.values for row in rows])
    base = np.arange(len(rows))[::-1, None]
    y = base + 2 * _MEAN + (1 - 2 * _MEAN) * (heights + 0.5) / levels
    high = _ROOM * style.height / style.scale / len(rows) / levels
    return x, y, style.scale * min(_LARGEST, max(_LEAST_IN_ROW, high))


def row_piles(result: Mapping[str, Replicates]) -> Float[np.ndarray, "seed 2 kind"]:
    """Return the positions of each seed's marks in `kinds_over_seeds`."""
    x, y, _ = _rows(result, STYLE)
    return np.stack((x, y), 1).transpose(2, 1, 0)


def _said_of_kinds(result: Mapping[str, Replicates], style: Style) -> str:
    """Return sentences with the means and their paired differences over seeds."""
    text, join = style.text, style.text("figure.seeds_and").join
    facts = next(iter(result.values())).summary()
    key = "alt.seeds_kind_one" if facts.variant == "one" else "alt.seeds_kind"
    means = [text(key, name=name, mean=row.estimate) for name, row in result.items()]
    if facts.variant == "one":
        return text("alt.seeds_kinds_one", means=join(means))
    pairs = [
        text("alt.seeds_pair", one=entry, other=other, mean=row.more_than(less))
        for (other, less), (entry, row) in combinations(result.items(), 2)
    ]
    full = "alt.seeds_kinds" if facts.variant == "some" else "alt.seeds_kinds_all"
    return text(full, means=join(means), pairs=join(pairs), **facts)


def bins(replicates: Replicates, theory: Theory | None) -> Float[np.ndarray, "edge"]:
    """Return bin edges that, as far as theory knows, stay fixed while a class comes in.

    Args:
        replicates: the number of each seed.
        theory: theoretical distribution, if known.
    """
    ends = [replicates.values.min(), replicates.values.max()]
    if theory is not None:
        wide = 0.7 * (theory.high - theory.low)
        ends += [min(theory.mean - wide, theory.low), max(theory.mean + wide, theory.high)]
        ends[2] = max(ends[2], min(float(theory.values[0]), ends[0]))
        ends[3] = min(ends[3], max(float(theory.values[-1]), ends[1]))
    return _edges([np.array(ends)], BINS[replicates.values.size >= MANY])


def _edges(values: Sequence[np.ndarray], many: int = BINS[0]) -> Float[np.ndarray, "edge"]:
    """Return the edges of `many` bins that contain all values."""
    low, high = (float(end(values)) for end in (np.min, np.max))
    if high - low < 1e-9 * max(1.0, abs(low)):
        low, high = low - 0.5, high + 0.5
    room = 0.02 * (high - low)
    return np.linspace(low - room, high + room, many + 1)


def pile(replicates: Replicates, theory: Theory | None) -> Float[np.ndarray, "seed 2"]:
    """Return each seed's mark: its value, and its height in the pile of its bin."""
    return np.column_stack((replicates.values, replicates.heights(bins(replicates, theory)) - 0.5))
