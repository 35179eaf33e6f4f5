"""The heads of a pretrained model: what they look at, one from inside, what they are for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

from seqviz.compute.attention import patterns
from seqviz.compute.attention.results import BY
from seqviz.compute.attention.trials import HYPOTHESES
from seqviz.core.i18n import escape_markdown, percent
from seqviz.experiments import attention
from seqviz.experiments.attention import head_trials
from seqviz.experiments.bertviz import page as bertviz_page
from seqviz.figures.attention.heads import heads_by_measure
from seqviz.figures.attention.inside_head import query_key_products, scores_to_weights
from seqviz.figures.attention.maps import attention_map, head_mosaic, rollout_map
from seqviz.figures.attention.trials import head_on_pairs, head_on_texts, trials_so_far
from seqviz.lessons.attention.notes import (
    draw_passage,
    say_parts,
    say_trials,
    say_weights,
    say_what_was_read,
)
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

PASTED = 10_000  # characters that a text field takes; LONGEST tokens of them are read
MAPS = ("head", "mean", "rollout")  # views of one matrix of weights
SHOWN = ("mosaic", "head", "mean")  # views that can show weight times norm of the value
ENCODER_TEXT = "The animal did not cross the street because it was too tired."
DECODER_TEXT = "When Mary and John went to the store, John gave a drink to"


def chosen(v: Mapping[str, Any]) -> tuple[str, str]:
    """The text that the model reads, and for an encoder perhaps a second one."""
    return (v["encoder"], v["other"]) if v["model"] in ENCODERS else (v["decoder"], "")


def last_token(v: Mapping[str, Any]) -> int:
    """How many tokens there are, as soon as the model is here to say so."""
    return attention.count(v["model"], *chosen(v))


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


def tokens_above(_: Mapping[str, Any]) -> int:
    """How many tokens the text above has."""
    return last_token(vars(read_params("real", PretrainedParams)))


@dataclass(frozen=True)
class ApartParams:
    """One query and one key of the head chosen above."""

    view: str = view(("products", "chain"), "products")
    query: int = slider(1, texts.MAX_TEXT_TOKENS, 10, within=tokens_above)
    key: int = slider(1, texts.MAX_TEXT_TOKENS, 3, within=tokens_above)
    by: str = choice(BY, "weight")


def apart(p: ApartParams, show: Show) -> None:
    above = read_params("real", PretrainedParams)
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


def model_above(_: Mapping[str, Any]) -> str:
    """The model that is chosen above."""
    return str(read_params("real", PretrainedParams).model)


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


def trials(p: TryHeadsParams, show: Show) -> None:
    above = read_params("real", PretrainedParams)
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


@dataclass(frozen=True)
class BertvizParams:
    """BertViz itself."""

    picture: str = choice(("off", *bertviz_page.VIEWS), "off")


def bertviz(p: BertvizParams, show: Show) -> None:
    above = read_params("real", PretrainedParams)
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
