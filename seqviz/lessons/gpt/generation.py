"""Whole texts of a decoder: trees, surprise, repetition, examples in the prompt, and the bill."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqviz.compute.gpt import methods
from seqviz.compute.gpt.cost import readings
from seqviz.compute.gpt.filters import Chain
from seqviz.compute.gpt.methods import METHODS
from seqviz.compute.gpt.shots import CONDITIONS
from seqviz.core.i18n import escape_markdown, format_value
from seqviz.core.units import Unit
from seqviz.data import precomputed
from seqviz.experiments.gpt.continuation import greedy, next_token
from seqviz.experiments.gpt.cost import time_cache
from seqviz.experiments.gpt.methods import by_method
from seqviz.experiments.gpt.prompts import SEPARATOR, build_prompt, in_template, scored, special
from seqviz.experiments.gpt.shots import AMOUNTS, LABELS, few_shots
from seqviz.experiments.gpt.surprise import COPIES, repeated
from seqviz.experiments.gpt.ways import compare_decoding
from seqviz.experiments.transformer import architectures
from seqviz.figures.attention.trials import trials_so_far
from seqviz.figures.gpt.cost import token_times
from seqviz.figures.gpt.futures import all_futures, futures_so_far
from seqviz.figures.gpt.labels import label_bars
from seqviz.figures.gpt.losses import token_losses
from seqviz.figures.gpt.methods import surprise_by_method
from seqviz.figures.gpt.repeated import repetition
from seqviz.figures.gpt.shots import shots_by_amount
from seqviz.figures.gpt.sizes import model_sizes
from seqviz.figures.gpt.written import written_bits
from seqviz.lessons.framework.controls import (
    choice,
    on,
    seed,
    slider,
    step_slider,
    text_input,
    view,
)
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show
from seqviz.models import ready
from seqviz.models.registry import DEFAULTS

DECODER = DEFAULTS["decoder"]
MAX_PASTED_CHARS = 1_000  # characters of a text that is read anew after every press
STORY = "Once upon a time"
AGAIN = "The weather is nice today."
LOOP = 48  # tokens of a greedy text
REVIEW = "A slow and pointless film, but the music is wonderful."
ARTICLE = "It snowed all night in Boston. Schools are closed today, and most buses are late."
SUMMARY = "Snow closes the schools of Boston."


def read(show: Show, text: str) -> None:
    """The model is here, and the text is short enough for a pass after every press."""
    show.model(DECODER, text)
    ready.check_interactive_length(DECODER, text)


def read_for(show: Show, function: Callable[..., Any], request: Mapping[str, Any]) -> None:
    """The same before a job, for its text; what came with the app waits for no model."""
    if precomputed.find(function, request) is None:
        read(show, request["text"])


def fine(share: float) -> str:
    """A share in percent with three significant digits, however small."""
    return format_value(share, Unit("fine share"))


@dataclass(frozen=True)
class FuturesParams:
    """A tree of what may follow, and the ways of greedy decoding, beams and draws in it."""

    prompt: str = text_input(STORY, MAX_PASTED_CHARS, above=True)
    beams: int = step_slider(1, 6, 3)
    length_penalty: float = stops((0.0, 0.5, 1.0, 2.0, 4.0), 1.0)
    shown: int = slider(8, 40, 16, 2)
    length: int = stops((4, 6, 8, 10), 8, more=True)
    seed: int = seed(0, more=True)


def futures(p: FuturesParams, show: Show) -> None:
    requested: dict[str, Any] = {
        "model": DECODER, "text": p.prompt, "steps": p.length, "beams": p.beams,
        "penalty": p.length_penalty, "seed": p.seed,
    }  # fmt: skip
    read_for(show, compare_decoding, requested)
    decoding_comparison = show.job(compare_decoding, **requested, so_far=(futures_so_far, p.shown))
    show.figure(all_futures, decoding_comparison, p.shown)
    tree = decoding_comparison.tree
    show.readouts(
        decoding_comparison,
        best="best_probability",
        greedy="greedy_probability",
        beam="beam_probability",
    )
    show.readouts(tree, "covered")
    ratio = decoding_comparison.best_probability / decoding_comparison.greedy_probability
    show.note(
        f"futures.{'missed' if decoding_comparison.fork else 'found'}",
        best=tree.best_text,
        greedy=decoding_comparison.greedy.text,
        chance=decoding_comparison.best_probability,
        step=decoding_comparison.fork,
        times=ratio,
        covered=tree.covered,
        length=p.length,
        passes=tree.passes,
        shown=p.shown,
        beginnings=len(tree.pieces),
    )
    show.note("futures.proven" if tree.proven else "futures.open",
              bound=float(np.exp(tree.open_log)))  # fmt: skip
    best = decoding_comparison.beams.best
    show.note(
        "futures.beam", beams=p.beams, text=best.text, score=best.score,
        log=best.log, tokens=len(best.ids), penalty=p.length_penalty,
        chance=decoding_comparison.beam_probability,
    )  # fmt: skip


@dataclass(frozen=True)
class LikelyParams:
    """How likely texts of people are, and texts of five ways of writing."""

    method: str = choice(METHODS[1:], "greedy", menu=True)


def likely(p: LikelyParams, show: Show) -> None:
    result = show.job(by_method, model=DECODER, so_far=(trials_so_far,))
    show.figure(surprise_by_method, result)
    method = show.option("method", p.method)
    metrics = ("human", "method", "expected", "spread")
    show.facts(result.compared, p.method, note="likely", metrics=metrics, name=method)
    show.facts(result.split, note="likely.split")
    for name in ("human", p.method):
        show.note("likely.text", who=show.option("method", name), text=_spelled(result, name))


def _spelled(by_method: methods.ByMethod, method: str) -> str:
    """The beginning that is there to read, and how one goes on."""
    pieces = (*by_method.beginning, "…", *by_method.pieces[METHODS.index(method)])
    return escape_markdown("".join(pieces).replace("␣", " ").replace("⏎", " "))


@dataclass(frozen=True)
class AgainParams:
    """A sentence that is repeated, and a greedy text that repeats itself."""

    view: str = view(("copies", "loop"), "copies")
    copied: str = text_input(AGAIN, 200, when=on(view="copies"), above=True)
    opening: str = text_input(AGAIN, 200, when=on(view="loop"), above=True)
    copies: int = slider(2, COPIES, COPIES, when=on(view="copies"))
    penalty: float = slider(1.0, 2.0, 1.0, 0.05)


def again(p: AgainParams, show: Show) -> None:
    if p.view == "loop":
        return say_loop(p, show)
    read(show, p.copied)
    result = show.run(repeated, DECODER, p.copied, p.copies, p.penalty)
    show.figure(repetition, result)
    punished = result.penalty != 1
    first, last = (result.probability(k, punished) for k in (1, result.copies))
    show.readout("first_copy", result.probability, 1, punished)
    show.readout("last_copy", result.probability, result.copies, punished)
    show.note(
        "again.penalty" if punished else "again.plain", copies=result.copies,
        first=first, last=last, penalty=p.penalty,
        before=result.probability(result.copies), rises=result.rises(punished)[0],
        repeats=result.copies - 1,
    )  # fmt: skip
    return None


def say_loop(p: AgainParams, show: Show) -> None:
    """A greedy text, and how much of it stood there before."""
    filters = Chain(penalty=p.penalty) if p.penalty != 1 else None
    requested: dict[str, Any] = {
        "model": DECODER, "text": p.opening, "count": LOOP, "after": (), "filters": filters,
    }  # fmt: skip
    read_for(show, greedy, requested)
    continuation = show.job(greedy, **requested, so_far=(written_bits,))
    show.figure(written_bits, continuation)
    half = len(continuation.ids) // 2
    show.readout("first_half", continuation.mean_of, 0, half)
    show.readout("second_half", continuation.mean_of, half, len(continuation.ids))
    show.readouts(continuation, seen="seen_before")
    show.passage(
        continuation.spelled,
        continuation.bits / max(8.0, float(continuation.bits.max())),
        signed=False,
        title=show.words("note.pieces"),
    )
    show.note(
        "again.loop",
        tokens=len(continuation.ids),
        seen=continuation.seen_before,
        penalty=p.penalty,
        first=continuation.mean_of(0, half),
        second=continuation.mean_of(half, len(continuation.ids)),
    )


@dataclass(frozen=True)
class ShotsParams:
    """Solved examples in the prompt: on many reviews, or one prompt to read."""

    view: str = view(("many", "one"), "many")
    amount: int = stops(AMOUNTS[:-1], 2, when=on(view="one"))
    condition: str = choice(CONDITIONS, "right", menu=True)
    layout: str = choice(("plain", "chat"), "plain", when=on(view="one"))
    review: str = text_input(REVIEW, 200, when=on(view="one"))
    draw: int = seed(0, when=on(view="one"))


def shots(p: ShotsParams, show: Show) -> None:
    if p.view == "one":
        return say_prompt(p, show)
    accuracy = show.job(few_shots, model=DECODER, so_far=(trials_so_far,))
    show.figure(shots_by_amount, accuracy)
    words = {"condition": show.option("condition", p.condition)}
    metrics = ("without", "behind", "form_without", "form_behind")
    show.facts(accuracy.compared, p.condition, note="shots", metrics=metrics, **words)
    if p.condition != "right":
        show.facts(accuracy.label_effect, p.condition, note="shots.labels", **words)
    return None


def say_prompt(p: ShotsParams, show: Show) -> None:
    """One prompt as the model reads it, and what it would say next."""
    show.model(DECODER)
    prompt = show.derive(build_prompt, p.review, p.amount, p.condition, p.draw, name="prompt")
    if p.layout == "chat":
        prompt = show.derive(in_template, DECODER, prompt, name="template")
    read(show, prompt)
    result = show.run(next_token, DECODER, prompt)
    show.figure(label_bars, result, LABELS)
    for label in LABELS:
        show.readout(label, result.chance_of, label)
    read_as = result.prompt
    marked = show.derive(special, DECODER, tuple(read_as.ids.tolist()), name="marked")
    show.passage(read_as.spelled, np.array(marked, float), signed=False,
                 title=show.words("note.special"))  # fmt: skip
    names = sorted({piece for piece, item in zip(read_as.pieces, marked, strict=True) if item})
    show.note(
        f"prompt.{p.layout}", tokens=len(marked), token=result.pieces[0],
        chance=float(result.chances[0]), special=sum(marked),
        names=", ".join(map(escape_markdown, names)),
    )  # fmt: skip


@dataclass(frozen=True)
class CostParams:
    """Words and readings: time with a cache, sizes, and which tokens carry loss."""

    view: str = view(("time", "summary", "training", "sizes"), "time")
    given: int = slider(1, 200, 5, when=on(view="time"))
    written: int = slider(1, 200, 20, when=on(view="time"))
    article: str = text_input(ARTICLE, 500, when=on(view="summary"))
    summary: str = text_input(SUMMARY, 200, when=on(view="summary"))
    document: str = text_input(ARTICLE, 500, when=on(view="training"), above=True)


def cost(p: CostParams, show: Show) -> None:
    if p.view == "sizes":
        return say_sizes(show)
    if p.view != "time":
        return say_losses(p, show)
    cache_times = show.job(time_cache, model=DECODER, so_far=(trials_so_far,))
    show.figure(token_times, cache_times, p.given, p.written)
    cached = show.readout("cached", readings, p.given, p.written)
    rerun = show.readout("anew", readings, p.given, p.written, cached=False)
    longest = int(cache_times.tokens[-1])
    show.readout("times", cache_times.times, longest)
    show.note(
        "bill.time", prompt=p.given, written=p.written, all=p.given + p.written,
        cached=cached, anew=rerun, longest=longest,
        decode=1e3 * cache_times.at("decode", longest),
        slow=1e3 * cache_times.at("anew", longest),
    )  # fmt: skip
    show.note("bill.time_same" if cache_times.same else "bill.time_differs",
              difference=cache_times.largest_difference)  # fmt: skip
    return None


def say_losses(p: CostParams, show: Show) -> None:
    """Which tokens of a text are scored, and what a context saves."""
    if p.view == "training":
        read(show, p.document)
        result = show.run(scored, DECODER, p.document)
    else:
        read(show, f"{p.article} {p.summary}")
        result = show.run(scored, DECODER, p.summary, p.article)
    show.figure(token_losses, result)
    show.readouts(result, "tokens", "scored", "loss", "nats")
    if p.view == "training":
        show.note("bill.training", tokens=len(result.pieces), scored=result.scored,
                  loss=result.loss, nats=result.nats)  # fmt: skip
        return
    alone = show.run(scored, DECODER, f"{SEPARATOR}{p.summary}", name="alone")
    show.note(
        "bill.summary", m=result.first - 1, n=result.scored, all=len(result.pieces),
        loss=result.loss, alone=alone.loss,
    )  # fmt: skip


def say_sizes(show: Show) -> None:
    """The GPT family, counted."""
    models = tuple(
        show.run(architectures.architecture, name, name=name) for name in architectures.FAMILY
    )
    show.figure(model_sizes, models)
    _, _, xl, third = models
    show.note("bill.sizes", times=third.total / xl.total, first=models[0].total,
              second=xl.total, third=third.total)  # fmt: skip


def read_anew(prompt: int, written: int) -> float:
    """How many times is a token read for `written` tokens behind a prompt, without a cache?"""
    return readings(prompt, written, cached=False)
