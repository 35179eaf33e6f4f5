"""Benches on the heads of a pretrained model: their weights, one from inside, hypotheses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

from seqviz.compute.attention import patterns
from seqviz.compute.attention.results import BY
from seqviz.compute.attention.trials import HYPOTHESES
from seqviz.experiments import attention
from seqviz.experiments.attention import head_trials
from seqviz.experiments.bertviz import page as bertviz_page
from seqviz.figures.attention.heads import heads_by_measure
from seqviz.figures.attention.inside_head import query_key_products, scores_to_weights
from seqviz.figures.attention.maps import attention_map, head_mosaic, rollout_map
from seqviz.figures.attention.trials import head_on_pairs, head_on_texts, trials_so_far
from seqviz.lessons.attention.notes import draw_passage, say_what_was_read
from seqviz.lessons.framework.controls import choice, on, slider, text_input, view
from seqviz.lessons.framework.lesson import read_params
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
from seqviz.models import forward_cache, texts

MAX_PASTED_CHARS = 10_000  # limit of a text field; MAX_TEXT_TOKENS tokens are read
MAPS = ("head", "mean", "rollout")  # views of one matrix of weights
SHOWN = ("mosaic", "head", "mean")  # views with weights times norms of values
ENCODER_TEXT = "The animal did not cross the street because it was too tired."
DECODER_TEXT = "When Mary and John went to the store, John gave a drink to"


def chosen(v: Mapping[str, Any]) -> tuple[str, str]:
    """Return the text that the model reads and, for an encoder, the second one or ""."""
    return (v["encoder"], v["other"]) if v["model"] in ENCODERS else (v["decoder"], "")


def last_token(v: Mapping[str, Any]) -> int:
    """Return the number of tokens, once the model is available."""
    return attention.count(v["model"], *chosen(v))


@dataclass(frozen=True)
class PretrainedParams:
    """Controls of the pretrained model and its text, which the benches below read, too."""

    view: str = view(("mosaic", "head", "mean", "rollout", "heads"), "mosaic")
    model: str = choice(tuple(MODELS), DEFAULT, menu=True, more=True)
    encoder: str = text_input(ENCODER_TEXT, MAX_PASTED_CHARS, above=True, when=on(model=ENCODERS))
    decoder: str = text_input(DECODER_TEXT, MAX_PASTED_CHARS, above=True, when=on(model=DECODERS))
    other: str = text_input("", MAX_PASTED_CHARS, more=True, when=on(model=ENCODERS))
    layer: int = layer_slider(3)
    head: int = head_slider(1)
    by: str = choice(BY, "weight", when=on(view=SHOWN), more=True)
    over: str = choice(("layer", "all"), "layer", when=on(view="mean"))
    measure: str = choice(
        (*patterns.HABITS, "entropy", "distance"), "first", menu=True, when=on(view="heads")
    )
    query: int = slider(
        1, texts.MAX_TEXT_TOKENS, 10, within=last_token, more=True, when=on(view=MAPS)
    )
    key: int = slider(1, texts.MAX_TEXT_TOKENS, 3, within=last_token, more=True, when=on(view=MAPS))


def real(p: PretrainedParams, show: Show) -> None:
    text, other = chosen(vars(p))
    show.model(p.model, text, other)
    result = show.run(attention.mosaic, p.model, text, other, p.by)
    layer, head = min(p.layer, result.text.layers - 1), min(p.head, result.text.heads - 1)
    habits, label = result.habits, show.text("figure.head_label", layer=layer, head=head)
    picks = ("layer", "head") if result.text.layers > result.text.heads else ("head", "layer")
    if p.view == "mosaic":
        show.figure(head_mosaic, result, layer, head, picks=picks, opens=("view", "head"))
        show.facts(result.first_token, layer, head, note="mosaic", label=label)
    elif p.view == "heads":
        show.figure(heads_by_measure, result, p.measure, layer, head, picks=picks)
        measure = show.option("measure", p.measure)
        if p.measure not in patterns.HABITS:  # other measures need a unit
            measure = show.text(f"figure.habit_{p.measure}")
        show.facts(habits.ranking, p.measure, note="ranked", measure=measure)
    else:
        draw_map(p, layer, head, show)
    show.metrics(habit=(show.text(f"figure.name_{habits.name(layer, head)}"), label))
    show.readout("entropy", habits.of, "entropy", layer, head)
    show.readout("distance", habits.of, "distance", layer, head)
    show.readout("special", habits.idle, layer, head)
    say_what_was_read(result.text, show)
    content = partial(attention.tensor, p.model, text, other)
    show.download("tensor", content, f"attention-{p.model}.npz", "application/octet-stream")


def draw_map(p: PretrainedParams, layer: int, head: int, show: Show) -> None:
    """Show one matrix of weights: of a head, a mean over heads, or attention rollout."""
    read = p.model, *chosen(vars(p))
    if p.view == "head":
        item = show.run(attention.head, *read, layer, head, by=p.by, name="one")
    elif p.view == "mean":
        item = show.run(attention.average, *read, p.over, layer, p.by, name="mean")
    else:
        item = show.run(attention.average, *read, "rollout", layer, name="rollout")
    draw = rollout_map if p.view == "rollout" else attention_map
    show.figure(draw, item, p.query, p.key, picks=("key", "query"))
    draw_passage(item, p.query, show)
    row = show.derive(item.row, min(p.query, len(item.text.pieces)) - 1, name="row")
    if p.view == "rollout":
        show.note(f"rollout.{row.variant}", layer=item.layer, **row)
    else:
        show.note(f"map.{item.by}", **row)


def tokens_above(_: Mapping[str, Any]) -> int:
    """Return the number of tokens of the text above."""
    return last_token(vars(read_params("real", PretrainedParams)))


@dataclass(frozen=True)
class ApartParams:
    """Controls of the bench on one query and one key of the head chosen above."""

    view: str = view(("products", "chain"), "products")
    query: int = slider(1, texts.MAX_TEXT_TOKENS, 10, within=tokens_above)
    key: int = slider(1, texts.MAX_TEXT_TOKENS, 3, within=tokens_above)
    by: str = choice(BY, "weight", more=True)


def apart(p: ApartParams, show: Show) -> None:
    above = read_params("real", PretrainedParams)
    text, other = chosen(vars(above))
    show.model(above.model, text, other)
    result = show.run(attention.parts, above.model, text, other, above.layer, above.head)
    last = len(result.text.pieces)
    query, key = min(p.query, last), min(p.key, last)
    if p.view == "products":
        show.figure(query_key_products, result, query, key, p.by, picks=("", "key"))
    else:
        show.figure(scores_to_weights, result, query, key, p.by, picks=("key", ""))
    at = query - 1, key - 1
    score = show.derive(result.score, *at, name="score")
    pair = show.words("metric.product.pair", **score)
    show.readout("product", result.product_at, *at, caption=pair)
    show.readouts(result, divided_by="divisor", caption={"divided_by": f"√{score['d_k']}"})
    show.readout("divided_score", result.divided_at, *at)
    show.readout("weight", result.weight_at, *at)
    show.note(f"apart.{'products' if p.view == 'products' else score.variant}", **score)
    if p.by == "value":
        show.facts(result.value, *at, note="apart_value")
    show.caption(show.text("figure.head_label", layer=result.layer, head=result.head))


def model_above(_: Mapping[str, Any]) -> str:
    """Return the name of the model chosen above."""
    return str(read_params("real", PretrainedParams).model)


@dataclass(frozen=True)
class TryHeadsParams:
    """Controls of the bench on hypotheses about heads."""

    view: str = view(HYPOTHESES, "pronoun")
    layer: int = slider(
        0, MOST_LAYERS - 1, 3, within=lambda v: (MODELS[model_above(v)].layers or MOST_LAYERS) - 1
    )
    head: int = slider(
        0, MOST_HEADS - 1, 1, within=lambda v: (MODELS[model_above(v)].heads or MOST_HEADS) - 1
    )


def trials(p: TryHeadsParams, show: Show) -> None:
    above = read_params("real", PretrainedParams)
    show.model(above.model)
    result = show.job(head_trials.try_heads, hypothesis=p.view, model=above.model,
                      so_far=(trials_so_far,))  # fmt: skip
    layers, heads = result.means.shape
    layer, head = min(p.layer, layers - 1), min(p.head, heads - 1)
    draw = head_on_pairs if p.view == "pronoun" else head_on_texts
    picks = ("layer", "head") if layers > heads else ("head", "layer")
    show.figure(draw, result, layer, head, picks=picks)
    beside = show.words("metric.tried.interval", share=result.mean_of(layer, head))
    show.readout("tried", result.mean_of, layer, head, caption=beside)
    best = "{}.{}".format(*result.best)
    show.readout("best", result.mean_of, *result.best, caption=best)
    if p.view == "pronoun":
        show.readouts(result, by_chance="best_by_chance")
        show.readout("followed", result.followed, layer, head)
    show.facts(result.compared, layer, head, note="trials")


@dataclass(frozen=True)
class BertvizParams:
    """Controls of the BertViz bench."""

    picture: str = choice(("off", *bertviz_page.VIEWS), "off")


def bertviz(p: BertvizParams, show: Show) -> None:
    above = read_params("real", PretrainedParams)
    text, other = chosen(vars(above))
    if p.picture == "off":
        return show.hint("bertviz")
    show.model(above.model, text, other)
    result = forward_cache.read(above.model, text, other)
    weights = forward_cache.derived(attrgetter("weights"), above.model, text, other)
    layer = min(above.layer, len(weights) - 1)
    second = result.tokens.second or None
    created = bertviz_page.page(p.picture, weights, result.tokens.pieces, layer, second, show.dark)
    alt = show.words("note.bertviz_alt", tokens=len(result.tokens.ids))
    show.page(created.html, created.height, alt)
    show.caption(show.words("note.bertviz", kilobytes=created.bytes / 1000, layer=layer))
