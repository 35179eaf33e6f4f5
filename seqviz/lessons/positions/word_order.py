"""Benches on word order: in one layer, in a pretrained encoder, in training tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from seqviz.compute.positions import orders, tiny
from seqviz.compute.positions.results import Reordered
from seqviz.compute.positions.tiny.training import train
from seqviz.experiments import positions
from seqviz.figures.positions.effects import both_orders, moved_words
from seqviz.figures.positions.encoder import encoder_maps, encoder_variants
from seqviz.figures.positions.tasks import accuracies, learning_curves, learning_progress
from seqviz.lessons.framework.controls import choice, on, seed, slider, text_input, toggle, view
from seqviz.lessons.framework.lesson import read_params
from seqviz.lessons.framework.model_controls import ENCODERS, MODELS, head_slider, layer_slider
from seqviz.lessons.framework.show import Show
from seqviz.lessons.positions.learned_table import DEFAULT
from seqviz.models import texts

FIRST, SECOND = "Mary gave John a flower", "John gave Mary a flower"
MAX_PASTED_CHARS = 2000  # characters of a text field


@dataclass(frozen=True)
class EffectParams:
    """Controls of the bench on two orders of the same words."""

    view: str = view(("moved", "maps"), "moved")
    first: str = text_input(FIRST, MAX_PASTED_CHARS)
    how: str = choice(("own", "shuffled"), "own", more=True)
    second: str = text_input(SECOND, MAX_PASTED_CHARS, when=on(how="own"))
    draw: int = slider(1, 50, 1, when=on(how="shuffled"), more=True)
    strength: float = slider(0.0, 2.0, 1.0, 0.01, when=on(view="moved"))
    causal: bool = toggle(False, more=True)
    scheme: str = choice(orders.SCHEMES, "none", when=on(view="maps"))
    seed: int = seed(0, more=True)


def other_order(p: EffectParams) -> str:
    """Return the second sentence: the typed one, or the shuffled words of the first."""
    return orders.shuffle(p.first, p.draw) if p.how == "shuffled" else p.second


def effect(p: EffectParams, show: Show) -> None:
    second = other_order(p)
    result = show.run(orders.compare_orders, p.first, second, p.causal, p.seed, p.strength)
    if p.view == "moved":
        show.figure(moved_words, result)
    else:
        show.figure(both_orders, result, p.scheme)
    if p.how == "shuffled":
        show.note("shuffled", text=second)
    for scheme in result.schemes:
        show.readout(f"moved_{scheme}", result.farthest, scheme)
    movers = result.movers("none")
    if result.strangers:
        show.notice("strangers")
    elif movers:
        show.note("causal", words=", ".join(movers))
    else:
        show.note("causal_same" if p.causal else "equivariant")
    far = {scheme: result.farthest(scheme) for scheme in result.schemes[1:]}
    if any(far.values()) and not any(map(math.isnan, far.values())):
        show.note("told_too" if movers else "told", **far)


@dataclass(frozen=True)
class EncoderParams:
    """Controls of the bench on a pretrained encoder with another position table."""

    view: str = view(("variants", "maps"), "variants")
    model: str = choice(ENCODERS or tuple(MODELS), DEFAULT, menu=True)
    variant: str = choice(("zero", "shuffled", "sinusoidal"), "zero", when=on(view="maps"))
    layer: int = layer_slider(0, on(view="maps"))
    head: int = head_slider(2, on(view="maps"))


def encoder(p: EncoderParams, show: Show) -> None:
    above = read_params("effect", EffectParams)
    second = other_order(above)
    show.model(p.model)
    result = show.run(positions.reordered, p.model, above.first, second, p.layer, p.head)
    if result.left_out:
        show.caption(show.words("note.first_tokens", limit=texts.MAX_TEXT_TOKENS - 2))
    if p.view == "variants":
        show.figure(encoder_variants, result)
    else:
        show.figure(encoder_maps, result, p.variant)
        show.note("head", result=result, table=show.words.text(f"figure.pos_table_{p.variant}"),
                  own_before=result.before_of("own"),
                  other_before=result.before_of(p.variant))  # fmt: skip
    show.readout("alike_own", result.alike_of, "own")
    show.readout("alike_zero", result.alike_of, "zero")
    show.readout("kept_zero", result.kept_of, "zero")
    own = show.words("metric.previous_zero.own", share=result.previous_of("own"))
    show.readout("previous_zero", result.previous_of, "zero", caption=own)
    show.unknown_tokens(
        *show.derive(texts.unknown_tokens, p.model, above.first, second, name="new")
    )
    _say_order(result, show)


def _say_order(result: Reordered, show: Show) -> None:
    if result.pieces == result.others:
        return show.notice("same_tokens")
    facts = show.derive(result.order_effect, name="order_effect")
    show.note("order_counts", **facts)
    if facts.variant:
        show.note(facts.variant, **facts)
    shares = {name: result.previous_of(name) for name in ("own", "zero", "sinusoidal")}
    return show.note("previous", **shares)


@dataclass(frozen=True)
class TaskParams:
    """Controls of the bench on small Transformers trained on order tasks."""

    view: str = view(("result", "curves"), "result")
    task: str = choice(tiny.TASKS, "reverse", menu=True, shipped=True)
    causal: bool = toggle(False)
    letters: int = slider(6, 12, 8, more=True)
    seed: int = seed(0, more=True)


def task(p: TaskParams, show: Show) -> None:
    settings = tiny.OrderSettings(p.task, p.letters, p.causal, p.seed)
    figure = accuracies if p.view == "result" else learning_curves
    result = show.job(
        train, settings=settings, then=(figure,), so_far=(learning_progress, settings)
    )
    for scheme in ("none", "sinusoidal", "rotary"):
        show.readout(f"task_{scheme}", result.right, scheme)
    best = result.best_longer
    names = {name: show.words.text(f"figure.pos_scheme_{name}") for name in settings.encodings}
    show.readout("task_longer", result.right_longer, best, caption=names[best])
    retained = ", ".join(names[name] for name in result.keepers)
    show.note(
        "extrapolates" if retained else "no_extrapolation", kept=retained, p=p, result=result,
        best=names[best], best_longer=result.right_longer(best), best_usual=result.right(best),
    )  # fmt: skip
    if p.view == "result":
        show.caption(show.words("note.task", result=result, sequences=tiny.TEST_SEQUENCES))
        show.caption(show.words("note.task_bounds", result=result))
