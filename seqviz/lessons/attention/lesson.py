"""Attention heatmaps: who looks at whom, how strongly, and what for?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from seqviz.compute.attention import masks, patterns, scaled, walkthrough
from seqviz.compute.attention.results import BY
from seqviz.compute.attention.saturation import HEADS, saturation
from seqviz.compute.attention.trials import HYPOTHESES
from seqviz.core.i18n import escape_markdown, number, percent
from seqviz.experiments import attention
from seqviz.experiments.attention import head_effects, head_trials
from seqviz.experiments.bertviz import page as bertviz_page
from seqviz.figures.attention.changes import attention_mask, head_switches
from seqviz.figures.attention.heads import head_importance, heads_by_measure, importance_so_far
from seqviz.figures.attention.inside_head import query_key_products, scores_to_weights
from seqviz.figures.attention.maps import attention_map, head_mosaic, rollout_map
from seqviz.figures.attention.scale import QUANTITIES, saturation_lines
from seqviz.figures.attention.steps import PROJECTIONS, walk_basic, walk_stage
from seqviz.figures.attention.trials import head_on_pairs, head_on_texts, trials_so_far
from seqviz.lessons.attention.notes import (
    compare_walks,
    draw_passage,
    of_stage,
    read_change,
    say_change,
    say_mask,
    say_parts,
    say_scale,
    say_trials,
    say_weights,
    say_what_was_read,
)
from seqviz.lessons.framework.controls import (
    choice,
    on,
    seed,
    slider,
    step_slider,
    text_input,
    toggle,
    view,
)
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.model_controls import (
    DECODERS,
    DEFAULT,
    ENCODERS,
    MODELS,
    MOST_HEADS,
    MOST_LAYERS,
    head_slider,
    layer_slider,
)
from seqviz.lessons.framework.show import Show
from seqviz.models import attention_hook, forward_cache, ready, texts
from seqviz.models.forward_cache import Masking

STAGES = ("embed", "basic", *walkthrough.STAGES[1:])
WORDS = len(walkthrough.WORDS)
WALKED = ("seed", "d_k", "heads", "scale", "temperature", "operator", "causal", "width", "order")
PASTED = 10_000  # characters that a text field takes; LONGEST tokens of them are read
MAPS = ("head", "mean", "rollout")  # views of one matrix of weights
SHOWN = ("mosaic", "head", "mean")  # views that can show weight times norm of the value
CLOSED, KEPT = 1 / 3, 0.87  # of the cells at least; cosine of the sentence vector
LONG = 512  # tokens, for what a sparse pattern saves
CELLS = 10 * masks.MOST_CELLS  # characters: "512.512 " is the longest pair
ENCODER_TEXT = "The animal did not cross the street because it was too tired."
DECODER_TEXT = "When Mary and John went to the store, John gave a drink to"

lesson = Lesson(
    "attention", code=(scaled.attend, attention_hook.attention, patterns.habits, patterns.rollout)
)


@dataclass(frozen=True)
class WalkthroughParams:
    """Eight words, numbers drawn with the seed of the text, and every choice on the way."""

    stage: int = step_slider(1, len(STAGES), 1)
    query: int = slider(1, WORDS, 2)
    key: int = slider(1, WORDS, 3)
    part: str = choice(PROJECTIONS, "query", when=on(stage=STAGES.index("project") + 1))
    # Both hold at every stage: the read-outs are those of the whole way.
    scale: str = choice(scaled.SCALES, "d_k")
    causal: bool = toggle(False)
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
    temperature: float = slider(0.1, 5.0, 1.0, 0.1, more=True)
    seed: int = seed(123, more=True)


@dataclass(frozen=True)
class ScaleParams:
    """What the dimension of the vectors does to the softmax."""

    quantity: str = view(QUANTITIES, "entropy")
    temperature: float = slider(0.1, 5.0, 1.0, 0.1)
    keys: int = stops((2, 4, 8, 16, 32, 64, 128), 16)
    size: str = choice(tuple(HEADS), "base")
    seed: int = seed(1, more=True)


def chosen(v: Mapping[str, Any]) -> tuple[str, str]:
    """The text that the model reads, and for an encoder perhaps a second one."""
    return (v["encoder"], v["other"]) if v["model"] in ENCODERS else (v["decoder"], "")


def last_token(v: Mapping[str, Any]) -> int:
    """How many tokens there are, as soon as the model is here to say so."""
    return attention.count(v["model"], *chosen(v))


def tokens_above(_: Mapping[str, Any]) -> int:
    """How many tokens the text above has."""
    return last_token(vars(lesson.values("real")))


@dataclass(frozen=True)
class PretrainedParams:
    """A pretrained model and what it reads; the benches below read it too."""

    view: str = view(("mosaic", "head", "mean", "rollout", "heads"), "mosaic")
    model: str = choice(tuple(MODELS), DEFAULT, menu=True)
    encoder: str = text_input(ENCODER_TEXT, PASTED, above=True, when=on(model=ENCODERS))
    decoder: str = text_input(DECODER_TEXT, PASTED, above=True, when=on(model=DECODERS))
    other: str = text_input("", PASTED, more=True, when=on(model=ENCODERS))
    layer: int = layer_slider(3)
    head: int = head_slider(1)
    by: str = choice(BY, "weight", when=on(view=SHOWN))
    over: str = choice(("layer", "all"), "layer", when=on(view="mean"))
    measure: str = choice(
        (*patterns.HABITS, "entropy", "distance"), "first", menu=True, when=on(view="heads")
    )
    query: int = slider(
        1, texts.MAX_TEXT_TOKENS, 10, within=last_token, more=True, when=on(view=MAPS)
    )
    key: int = slider(1, texts.MAX_TEXT_TOKENS, 3, within=last_token, more=True, when=on(view=MAPS))


@dataclass(frozen=True)
class ApartParams:
    """One query and one key of the head chosen above."""

    view: str = view(("products", "chain"), "products")
    query: int = slider(1, texts.MAX_TEXT_TOKENS, 10, within=tokens_above)
    key: int = slider(1, texts.MAX_TEXT_TOKENS, 3, within=tokens_above)
    by: str = choice(BY, "weight")


def model_above(_: Mapping[str, Any]) -> str:
    """The model that is chosen above."""
    return str(lesson.values("real").model)


@dataclass(frozen=True)
class TryHeadsParams:
    """A hypothesis about heads, and the head that is looked at."""

    view: str = view(HYPOTHESES, "pronoun")
    layer: int = slider(
        0, MOST_LAYERS - 1, 3, within=lambda v: (MODELS[model_above(v)].layers or MOST_LAYERS) - 1
    )
    head: int = slider(
        0, MOST_HEADS - 1, 1, within=lambda v: (MODELS[model_above(v)].heads or MOST_HEADS) - 1
    )


@dataclass(frozen=True)
class AttentionMaskParams:
    """Who may look at whom."""

    kind: str = choice(masks.MASK_KINDS, "causal", menu=True)
    reach: int = slider(1, 16, masks.REACH, when=on(kind=masks.SPARSE), unit="tokens")
    pads: int = slider(0, 8, 0)
    told: bool = toggle(True, when=lambda v: v["pads"] > 0)
    cells: str = text_input("", CELLS)


@dataclass(frozen=True)
class AblateParams:
    """Which heads are switched off."""

    view: str = view(("switches", "both", "each"), "switches")
    off: str = text_input("5.7", CELLS, when=on(view=("switches", "both")))
    compare: str = text_input("The creature was exhausted, so it stayed where it was.", PASTED)


@dataclass(frozen=True)
class BertvizParams:
    """BertViz itself."""

    picture: str = choice(("off", *bertviz_page.VIEWS), "off")


@lesson.bench("by_hand", WalkthroughParams)
def by_hand(p: WalkthroughParams, show: Show) -> None:
    name = STAGES[p.stage - 1]
    settings = {name: getattr(p, name) for name in WALKED}
    walk = show.run(walkthrough.walk, **settings)
    head = min(p.head, p.heads - 1)
    picks = ("key", "query")
    if name == "basic":
        show.figure(walk_basic, walk, p.query, p.key, picks=picks)
    else:
        show.figure(walk_stage, walk, name, head, p.query, p.key, p.part, p.joined, picks=picks)
    # Without parameters: words themselves in place of queries and keys, and no heads.
    found, at = (walk.basic, ()) if name == "basic" else (walk.attention, (head,))
    row, column = p.query - 1, p.key - 1
    facts = of_stage(walk, found.weights[at], found.scores[at], row)
    plain = name == "scale" and walk.divide_by * walk.temperature == 1
    show.note(f"stage_{name}{'_by_one' if plain else ''}", stage=p.stage, all=len(STAGES), **facts)
    pair = f"{walk.words[row]} · {walk.words[column]}"
    show.readout("score", found.score_at, *at, row, column, beside=pair)
    show.readout("weight", found.weight_at, *at, row, column)
    show.readout("row_sum", found.row_sum, *at, row)
    show.readout("column_sum", found.column_sum, *at, column)
    if p.causal and p.operator == "multiply":
        show.note("leak", share=percent(found.later(*at)))
    compare_walks(p, walk, settings, name, show)


@lesson.bench("scale", ScaleParams)
def scale(p: ScaleParams, show: Show) -> None:
    found = show.run(saturation, keys=p.keys, temperature=p.temperature, seed=p.seed, size=p.size)
    show.figure(saturation_lines, found, p.quantity)
    show.readout("variance", found.variance_at, 64, "none")
    for name, scaling in (("unscaled", "none"), ("divided", "d_k"), ("too_much", "d")):
        show.readout(name, found.largest_at, 64, scaling)
    say_scale(found, p.quantity, show)


@lesson.bench("real", PretrainedParams, leads=True)
def real(p: PretrainedParams, show: Show) -> None:
    text, other = chosen(vars(p))
    show.model(p.model, text, other)
    found = show.run(attention.mosaic, p.model, text, other, p.by)
    layer, head = min(p.layer, found.text.layers - 1), min(p.head, found.text.heads - 1)
    across = found.text.layers > found.text.heads
    grid = ("layer", "head") if across else ("head", "layer")
    one = None
    if p.view == "mosaic":
        show.figure(head_mosaic, found, layer, head, picks=grid, opens=("view", "head"))
    elif p.view == "heads":
        show.figure(heads_by_measure, found, p.measure, layer, head, picks=grid)
    elif p.view == "head":
        one = show.run(attention.head, p.model, text, other, layer, head, by=p.by, name="one")
    elif p.view == "mean":
        one = show.run(attention.average, p.model, text, other, p.over, layer, p.by, name="mean")
    else:
        one = show.run(attention.average, p.model, text, other, "rollout", layer, name="rollout")
    if one is not None:
        draw = rollout_map if p.view == "rollout" else attention_map
        show.figure(draw, one, p.query, p.key, picks=("key", "query"))
        draw_passage(one, p.query, show)
    say_weights(found, one, p, show)
    habits = found.habits
    named = show.text(f"figure.name_{habits.name(layer, head)}")
    show.metrics(habit=(named, show.text("figure.head_label", layer=layer, head=head)))
    show.readout("entropy", habits.of, "entropy", layer, head)
    show.readout("distance", habits.of, "distance", layer, head)
    show.readout("special", habits.idle, layer, head)
    say_what_was_read(found.text, show)
    content = partial(attention.tensor, p.model, text, other)
    show.download("tensor", content, f"attention-{p.model}.npz", "application/octet-stream")


@lesson.bench("apart", ApartParams, after=("real",))
def apart(p: ApartParams, show: Show) -> None:
    above = lesson.values("real")
    text, other = chosen(vars(above))
    show.model(above.model, text, other)
    found = show.run(attention.parts, above.model, text, other, above.layer, above.head)
    last = len(found.text.pieces)
    query, key = min(p.query, last), min(p.key, last)
    draw = query_key_products if p.view == "products" else scores_to_weights
    show.figure(draw, found, query, key, p.by)
    query, key = query - 1, key - 1
    pair = " · ".join(escape_markdown(found.text.pieces[place]) for place in (query, key))
    show.readout("product", found.product_at, query, key, beside=pair)
    root = f"√{found.keys.shape[1]}"
    show.readouts(found, divided_by="divisor", beside={"divided_by": root})
    show.readout("divided_score", found.divided_at, query, key)
    show.readout("weight", found.weight_at, query, key)
    say_parts(found, query, key, p, show)
    show.caption(show.text("figure.head_label", layer=found.layer, head=found.head))


@lesson.bench("trials", TryHeadsParams, after=("real",))
def trials(p: TryHeadsParams, show: Show) -> None:
    above = lesson.values("real")
    show.model(above.model)
    found = show.job(
        head_trials.try_heads,
        hypothesis=p.view,
        model=above.model,
        so_far=(trials_so_far,),
    )
    layers, heads = found.means.shape
    layer, head = min(p.layer, layers - 1), min(p.head, heads - 1)
    draw = head_on_pairs if p.view == "pronoun" else head_on_texts
    show.figure(
        draw, found, layer, head, picks=("layer", "head") if layers > heads else ("head", "layer")
    )
    low, high = found.interval(layer, head)
    beside = show.words("metric.tried.interval", low=percent(low), high=percent(high))
    show.readout("tried", found.mean_of, layer, head, beside=beside)
    best = "{}.{}".format(*found.best)
    show.readout("best", found.mean_of, *found.best, beside=best)
    if p.view == "pronoun":
        show.readouts(found, by_chance="best_by_chance")
        show.readout("followed", found.followed, layer, head)
    say_trials(found, layer, head, show)


@lesson.bench("masks", AttentionMaskParams, after=("real",))
def mask(p: AttentionMaskParams, show: Show) -> None:
    above = lesson.values("real")
    text, _ = chosen(vars(above))
    # On the axes places count from 1, in a mask from 0.
    cells = tuple((a - 1, b - 1) for a, b in masks.pairs(p.cells) if a and b)
    show.model(above.model, text)
    own = "causal" if above.model in DECODERS else "none"
    sparse = p.kind in masks.SPARSE
    if p.kind not in ("own", own) or p.pads or cells:
        ready.check_interactive_length(above.model, text)
    masking = Masking(p.kind, p.pads, p.told, cells, p.reach if sparse else masks.REACH)
    one = show.run(
        attention.head, above.model, text, "", above.layer, above.head, masking, name="one"
    )
    change = show.run(attention.masked, above.model, text, masking, name="change")
    show.figure(attention_mask, one, toggles=("cells", "yx"))
    show.readouts(one, allowed="share_allowed")
    if p.pads:
        show.readouts(one, on_pads="on_padding")
    read_change(change, show)
    say_mask(one, change, show)
    if sparse:
        long = show.derive(
            masks.cells_computed, p.kind, LONG, change.text.decoder, p.reach, name="long"
        )
        show.note("sparse", tokens=LONG, cells=f"{long:,}", all=f"{LONG**2:,}",
                  share=percent(long / LONG**2))  # fmt: skip
    if one.blind:
        show.note("blind")
    if above.model not in DECODERS:
        closed, kept = 1 - one.share_allowed, change.sentence
        reached = closed >= CLOSED and kept >= KEPT
        show.target("sparse", reached, closed=percent(closed), kept=number(kept, 4))


@lesson.bench("ablate", AblateParams, after=("real",))
def ablate(p: AblateParams, show: Show) -> None:
    above = lesson.values("real")
    text, _ = chosen(vars(above))
    off = masks.pairs(p.off)
    show.model(above.model, text)
    ready.check_interactive_length(above.model, text)
    if p.view == "each":
        found = show.job(
            head_effects.each_head,
            name="effects",
            model=above.model,
            text=text,
            then=(head_importance, above.layer, above.head),
            so_far=(importance_so_far, above.layer, above.head),
        )
        layer, head = found.most_missed
        label = show.text("figure.head_label", layer=layer, head=head)
        show.readouts(found, worth="largest", half="hardly_missed", beside={"worth": label})
        show.note("each", label=label, value=number(found.largest), heads=found.change.size,
                  median=number(float(np.median(found.change))),
                  share=percent(found.hardly_missed, 0))  # fmt: skip
        return
    means = None
    if p.view == "both":
        means = show.job(head_effects.mean_outputs, name="means", model=above.model,
                         so_far=(trials_so_far,))  # fmt: skip
    compare = p.compare if above.model in ENCODERS else ""
    change = show.run(attention.ablate, above.model, text, compare, off, name="change")
    order = "xy" if change.text.layers > change.text.heads else "yx"
    kept = None
    if means is not None:
        kept = show.run(attention.ablate, above.model, text, compare, off, means, name="kept")
    show.figure(head_switches, change, off, *((kept,) if kept else ()), toggles=("off", order))
    show.readouts(change, off_count="heads_off")
    read_change(change, show)
    if compare.strip():
        before = show.words("metric.pair.before", value=number(change.pair_before, 4))
        show.readouts(change, pair="pair_after", beside={"pair": before})
    show.note("off", off=change.off, all=change.heads_off[1], said=say_change(change, show))
    if means is not None and kept is not None:
        show.note("mean", sentences=means.sentences, said=say_change(kept, show))


@lesson.bench("bertviz", BertvizParams, after=("real",))
def bertviz(p: BertvizParams, show: Show) -> None:
    above = lesson.values("real")
    text, other = chosen(vars(above))
    if p.picture == "off":
        return show.hint("bertviz")
    show.model(above.model, text, other)
    found = forward_cache.read(above.model, text, other)
    weights = forward_cache.derived(attrgetter("weights"), above.model, text, other)
    layer = min(above.layer, len(weights) - 1)
    second = found.tokens.second or None
    made = bertviz_page.page(p.picture, weights, found.tokens.pieces, layer, second, show.dark)
    show.page(made.html, made.height, show.words("note.bertviz_alt", tokens=len(found.tokens.ids)))
    show.caption(show.words("note.bertviz", kilobytes=f"{made.bytes / 1000:,.0f}", layer=layer))


SCORES = ((8, 4, 16), (6, 3, 9), (10, 4, 4), (5, 5, 64), (2, 8, 36))


def first_weight(first: float, second: float, d_k: int) -> float:
    """The weight of the first of two keys with these scores."""
    return float(scaled.softmax(np.array([[first, second]]) / np.sqrt(d_k))[0, 0])


lesson.exercise(
    "weight",
    cases=[dict(zip(("first", "second", "d_k"), case, strict=True)) for case in SCORES],
    answer=first_weight,
    within=0.006,
)

lesson.sketch("scale", kind="curve", bench="scale", values={}, shown=(1, 3))
