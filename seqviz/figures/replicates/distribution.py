"""The distribution of a number over random seeds, a mark for each, beside theory."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqviz.compute.replicates import Replicates, Theory, expected
from seqviz.figures.grammar import STYLE, Figure, Sheet, Style
from seqviz.figures.grammar.axes import axis
from seqviz.figures.grammar.sheet import whisker
from seqviz.text import number

BINS = 15, 24  # of piles, for a class and for several
MANY = 80  # seeds from which on there are more
_ROOM = 0.62  # of the panel's height, in pixels at a desk: what piles of marks share
_LARGEST, _SMALLEST = 12.0, 2.5  # of a mark


def distribution_over_seeds(
    found: Replicates, quantity: str, theory: Theory | None = None, style: Style = STYLE
) -> Figure:
    """A mark for each seed, piled up where the number lies; the mean with its 95 % interval.

    quantity: name and unit of the number. theory: how many marks it expects in each bin, its mean,
    and where it has 95 % of all replicates.
    """
    text, palette = style.text, style.palette
    edges, piles = bins(found, theory), pile(found, theory)
    many = None if theory is None else expected(theory, edges, found.values.size)
    top = max(4.0, piles[:, 1].max() + 0.5, 0.0 if many is None else many.max())
    head = 1.12 * top  # where the mean stands
    size = style.scale * min(_LARGEST, max(_SMALLEST, _ROOM * style.height / style.scale / head))
    sheet = Sheet(style)
    panel = sheet.panel(
        axis(quantity, range=[float(edges[0]), float(edges[-1])], showgrid=False, nticks=7),
        axis(text("figure.seeds_in_bin"), range=[0, 1.1 * head], dtick=max(1, round(head / 6))),
    )
    if theory is not None and many is not None:
        panel.reference(
            np.repeat(edges, 2), np.concatenate(([0.0], np.repeat(many, 2), [0.0])),
            text("figure.seeds_expected"), group="theory",
        )  # fmt: skip
        panel.reference(
            [theory.mean, theory.mean], [0, head], text("figure.seeds_theory_mean"), dash="dash",
            group="theory", legend=False,
        )  # fmt: skip
        panel.reference(
            [theory.low, theory.high], [0, 0], text("figure.seeds_theory_range"), dash="solid",
            width=5, cliponaxis=False,
        )  # fmt: skip
    for kind, chosen, symbol, color in (
        ("class", found.of_class, "circle", palette.prediction),
        ("further", ~found.of_class, "circle-open", palette.truth),
    ):
        if not chosen.any():
            continue
        panel.points(
            piles[chosen, 0], piles[chosen, 1], text(f"figure.seeds_{kind}"), color,
            size=size, symbol=symbol, edge={"color": color, "width": 1.5},
            customdata=found.seeds[chosen],
            hover=text("figure.seeds_hover", seed="%{customdata}", value="%{x:.4g}"),
        )  # fmt: skip
    low, high = found.interval
    ends = (
        None if np.isnan(low) else whisker([found.mean], [low], [high], palette.rnn, thickness=2.5)
    )
    panel.points(
        [found.mean], [head], text("figure.seeds_mean"), palette.rnn, symbol="diamond", size=12,
        hover=False, error_x=ends,
    )  # fmt: skip
    return sheet.finish(_said(found, theory, style))


def _said(found: Replicates, theory: Theory | None, style: Style) -> str:
    """What the figure shows, in sentences."""
    text, n, own = style.text, found.values.size, int(found.of_class.sum())
    low, high = found.interval
    key = "alt.seeds_one" if n == 1 else "alt.seeds_all" if own == n else "alt.seeds_some"
    seen = text(key, count=n, own=own, further=n - own, mean=number(found.mean), low=number(low),
                high=number(high))  # fmt: skip
    if theory is None:
        return seen
    inside, _ = found.within(theory)
    return text("alt.seeds_theory", seen=seen, mean=number(theory.mean), low=number(theory.low),
                high=number(theory.high), inside=inside, count=n)  # fmt: skip


def bins(found: Replicates, theory: Theory | None) -> Float[np.ndarray, "edge"]:
    """Edges of bins that stay where they are while a class comes in, as far as theory knows."""
    ends = [found.values.min(), found.values.max()]
    if theory is not None:
        wide = 0.7 * (theory.high - theory.low)
        ends += [min(theory.mean - wide, theory.low), max(theory.mean + wide, theory.high)]
        ends[2] = max(ends[2], min(float(theory.values[0]), ends[0]))
        ends[3] = min(ends[3], max(float(theory.values[-1]), ends[1]))
    low, high = float(min(ends)), float(max(ends))
    if high - low < 1e-9 * max(1.0, abs(low)):
        low, high = low - 0.5, high + 0.5
    room = 0.02 * (high - low)
    return np.linspace(low - room, high + room, BINS[found.values.size >= MANY] + 1)


def pile(found: Replicates, theory: Theory | None) -> Float[np.ndarray, "seed 2"]:
    """Where the mark of each seed stands: at its value, and at its place in the pile of its bin."""
    return np.column_stack((found.values, found.heights(bins(found, theory)) - 0.5))
