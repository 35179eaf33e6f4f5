"""Benches on worked examples of attention, and on the softmax by dimension."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from seqviz.compute.attention import hand_set, scaled, walkthrough
from seqviz.compute.attention.saturation import HEADS, saturation
from seqviz.experiments import attention
from seqviz.experiments.attention import trained_layer
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
from seqviz.lessons.framework.model_controls import DEFAULT, MODELS, MOST_HEADS, MOST_LAYERS
from seqviz.lessons.framework.show import Show
from seqviz.models.texts import MAX_TEXT_TOKENS

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


TEXT = "The animal did not cross the street because it was too tired."
FIRST = {"hand": {"query": 7, "key": 2, "head": 0}, "trained": {"query": 10, "key": 9, "head": 2}}
"""By numbers: a query and a key, and a head that looks from one to the other.

The trained one looks at the token before; *All heads of a trained model* asks for one that looks
from "it" to "animal".
"""


def first(name: str) -> Callable[[Mapping[str, Any]], int]:
    """Return the function that gives a control's first position for the chosen numbers."""
    return lambda v: FIRST[v["view"]][name]


def last_word(v: Mapping[str, Any]) -> int:
    """Return the number of words, or of tokens of the trained model."""
    if v["view"] == "hand":
        return len(hand_set.WORDS)
    return attention.count(DEFAULT, TEXT)


def last_head(v: Mapping[str, Any]) -> int:
    """Return the number of the last head."""
    return (len(hand_set.HEADS) if v["view"] == "hand" else MODELS[DEFAULT].heads or MOST_HEADS) - 1


@dataclass(frozen=True)
class FeaturesParams:
    """Controls of the worked example with readable features, and of a trained layer beside it."""

    view: str = view(tuple(FIRST), "hand")
    stage: int = step_slider(1, len(STAGES), 1)
    query: int = step_slider(1, MAX_TEXT_TOKENS, 0, within=last_word, opens=first("query"))
    key: int = step_slider(1, MAX_TEXT_TOKENS, 0, within=last_word, opens=first("key"))
    part: str = choice(PROJECTIONS, "query", when=on(stage=STAGES.index("project") + 1))
    scale: str = choice(("d_k", "none"), "d_k", when=since("scale"))
    causal: bool = toggle(False, when=since("mask", BASIC))
    operator: str = choice(scaled.OPERATORS, "add", when=on(causal=True))
    head: int = step_slider(
        0,
        MOST_HEADS - 1,
        -1,
        more=True,
        when=since("project"),
        within=last_head,
        opens=first("head"),
    )
    layer: int = slider(
        0, MOST_LAYERS - 1, 0, more=True, when=on(view="trained"),
        within=lambda _: (MODELS[DEFAULT].layers or MOST_LAYERS) - 1,
    )  # fmt: skip
    temperature: float = slider(0.1, 5.0, 1.0, 0.1, more=True, when=since("scale", BASIC))


def features(p: FeaturesParams, show: Show) -> None:
    settings = {name: getattr(p, name) for name in ("scale", "temperature", "operator", "causal")}
    if p.view == "hand":
        walk = show.run(hand_set.walk_features, **settings)
    else:
        show.model(DEFAULT, TEXT)
        walk = show.run(trained_layer.walk_layer, DEFAULT, TEXT, p.layer, **settings)
    start, last = FIRST[p.view], len(walk.words)
    head = start["head"] if p.head < 0 else min(p.head, walk.heads - 1)
    query, key = (min(getattr(p, name) or start[name], last) for name in ("query", "key"))
    draw_stage(p, walk, head, query, key, False, show)
    if p.view == "hand" and since("project")({"stage": p.stage}):
        show.note(f"looks_for.{head}", head=head)


def by_hand(p: WalkthroughParams, show: Show) -> None:
    settings = {name: getattr(p, name) for name in WALKED}
    walk = show.run(walkthrough.walk, **settings)
    draw_stage(p, walk, min(p.head, p.heads - 1), p.query, p.key, p.joined, show)
    compare_walks(p, walk, settings, STAGES[p.stage - 1], show)


def draw_stage(
    p: WalkthroughParams | FeaturesParams, walk: walkthrough.AttentionWalkthrough, head: int,
    query: int, key: int, joined: bool, show: Show,
) -> None:  # fmt: skip
    """Show one stage of a walkthrough: figure, sentence and read-outs."""
    name = STAGES[p.stage - 1]
    row, column = query - 1, key - 1
    at: tuple[int, ...] = ()
    if name == "basic":  # words replace queries and keys; there are no heads
        show.figure(walk_basic, walk, query, key, picks=("key", "query"))
        result = walk.basic
    else:
        show.figure(walk_stage, walk, name, head, query, key, p.part, joined,
                    picks=("key", "query"))  # fmt: skip
        result, at = walk.attention, (head,)
    show.facts(walk.numbers, name, head, row, note="stage", stage=p.stage, all=len(STAGES),
               to=walk.words[column])  # fmt: skip
    if since("scores", BASIC)({"stage": p.stage}):
        pair = f"{walk.words[row]} · {walk.words[column]}"
        show.readout("score", result.score_at, *at, row, column, caption=pair)
    if since("softmax", BASIC)({"stage": p.stage}):
        show.readout("weight", result.weight_at, *at, row, column)
        show.readout("row_sum", result.row_sum, *at, row)
        show.readout("column_sum", result.column_sum, *at, column)
    if p.causal and p.operator == "multiply":
        show.note("leak", share=result.later(*at))


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
