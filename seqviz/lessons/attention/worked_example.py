"""Benches on a worked example of eight words, and on the softmax by dimension."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute.attention import scaled, walkthrough
from seqviz.compute.attention.saturation import HEADS, saturation
from seqviz.figures.attention.scale import QUANTITIES, saturation_lines
from seqviz.figures.attention.steps import PROJECTIONS, walk_basic, walk_stage
from seqviz.lessons.attention.notes import compare_walks
from seqviz.lessons.framework.controls import (
    Condition,
    choice,
    on,
    seed,
    slider,
    step_slider,
    toggle,
    view,
)
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show

STAGES = ("embed", "basic", *walkthrough.STAGES[1:])
WORDS = len(walkthrough.WORDS)
BASIC = 2  # stage that runs from scores to sums without parameters
WALKED = ("seed", "d_k", "heads", "scale", "temperature", "operator", "causal", "width", "order")


def since(name: str, *more: int) -> Condition:
    """Return a condition: the stage is the one named, a later one, or one of `more`."""
    return on(stage=(*more, *range(STAGES.index(name) + 1, len(STAGES) + 1)))


@dataclass(frozen=True)
class WalkthroughParams:
    """Controls of the worked example, whose weights are drawn with the course text's seed."""

    stage: int = step_slider(1, len(STAGES), 1)
    query: int = slider(1, WORDS, 2)
    key: int = slider(1, WORDS, 3)
    part: str = choice(PROJECTIONS, "query", when=on(stage=STAGES.index("project") + 1))
    scale: str = choice(scaled.SCALES, "d_k", when=since("scale"))
    causal: bool = toggle(False, when=since("mask", BASIC))
    operator: str = choice(scaled.OPERATORS, "add", when=on(causal=True))
    heads: int = stops((1, 2, 4, 8), 1, more=True)
    head: int = slider(
        0, 7, 0, more=True, when=on(heads=(2, 4, 8)), within=lambda v: v["heads"] - 1
    )
    width: str = choice(walkthrough.WIDTHS, "full", more=True, when=on(heads=(2, 4, 8)))
    joined: bool = toggle(
        True, more=True, when=lambda v: v["heads"] > 1 and STAGES[v["stage"] - 1] == "project"
    )
    order: str = choice(walkthrough.ORDERS, "text", more=True)
    d_k: int = stops(
        (1, 2, 4, 8, 16, 32, 64), 16, more=True, when=on(width="full"), unit="dimensions"
    )
    temperature: float = slider(0.1, 5.0, 1.0, 0.1, more=True, when=since("scale", BASIC))
    seed: int = seed(123, more=True)


def by_hand(p: WalkthroughParams, show: Show) -> None:
    name = STAGES[p.stage - 1]
    settings = {name: getattr(p, name) for name in WALKED}
    walk = show.run(walkthrough.walk, **settings)
    head, row, column = min(p.head, p.heads - 1), p.query - 1, p.key - 1
    at: tuple[int, ...] = ()
    if name == "basic":  # words replace queries and keys; there are no heads
        show.figure(walk_basic, walk, p.query, p.key, picks=("key", "query"))
        result = walk.basic
    else:
        show.figure(walk_stage, walk, name, head, p.query, p.key, p.part, p.joined,
                    picks=("key", "query"))  # fmt: skip
        result, at = walk.attention, (head,)
    show.facts(walk.numbers, name, head, row, note="stage", stage=p.stage, all=len(STAGES))
    if since("scores", BASIC)({"stage": p.stage}):
        pair = f"{walk.words[row]} · {walk.words[column]}"
        show.readout("score", result.score_at, *at, row, column, caption=pair)
    if since("softmax", BASIC)({"stage": p.stage}):
        show.readout("weight", result.weight_at, *at, row, column)
        show.readout("row_sum", result.row_sum, *at, row)
        show.readout("column_sum", result.column_sum, *at, column)
    if p.causal and p.operator == "multiply":
        show.note("leak", share=result.later(*at))
    compare_walks(p, walk, settings, name, show)


@dataclass(frozen=True)
class ScaleParams:
    """Controls of the bench on the softmax by dimension."""

    quantity: str = view(QUANTITIES, "entropy")
    temperature: float = slider(0.1, 5.0, 1.0, 0.1)
    keys: int = stops((2, 4, 8, 16, 32, 64, 128), 16)
    size: str = choice(tuple(HEADS), "base", more=True)
    seed: int = seed(1, more=True)


def scale(p: ScaleParams, show: Show) -> None:
    result = show.run(saturation, keys=p.keys, temperature=p.temperature, seed=p.seed, size=p.size)
    show.figure(saturation_lines, result, p.quantity)
    show.readout("variance", result.variance_at, 64, "none")
    for name, scaling in (("unscaled", "none"), ("divided", "d_k"), ("too_much", "d")):
        show.readout(name, result.largest_at, 64, scaling)
    show.facts(result.compared, p.quantity, 64, note="scale")
