"""Benches on whole texts of a decoder: trees, surprisal, repetition, few-shot prompts, cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from seqviz.compute.attention.masks import cells_computed
from seqviz.compute.gpt.continuation import Continuation
from seqviz.compute.gpt.cost import readings
from seqviz.compute.gpt.filters import Chain
from seqviz.compute.gpt.methods import METHODS
from seqviz.compute.gpt.shots import CONDITIONS
from seqviz.compute.transformer.cost import in_a_row
from seqviz.core.errors import UserError
from seqviz.data import precomputed
from seqviz.experiments.gpt.continuation import greedy, next_token
from seqviz.experiments.gpt.cost import time_cache
from seqviz.experiments.gpt.futures import compare_decoding
from seqviz.experiments.gpt.methods import by_method
from seqviz.experiments.gpt.shots import (
    AMOUNTS,
    INSTRUCTIONS,
    LABELS,
    build_prompt,
    few_shots,
    in_template,
    special,
)
from seqviz.experiments.gpt.surprise import (
    COPIES,
    DELTAS,
    SEPARATOR,
    before_summary,
    repeated,
    scored,
)
from seqviz.experiments.gpt.vectors import CLASSES, FORMS, gpt2_ids, task_inputs, text_vectors
from seqviz.experiments.transformer import architectures
from seqviz.figures.attention.trials import trials_so_far
from seqviz.figures.gpt.cost import model_sizes, token_times
from seqviz.figures.gpt.futures import all_futures, futures_so_far
from seqviz.figures.gpt.methods import surprise_by_method
from seqviz.figures.gpt.scores import label_bars
from seqviz.figures.gpt.shots import shots_by_amount
from seqviz.figures.gpt.steps import written_bits
from seqviz.figures.gpt.surprise import repetition, token_losses
from seqviz.figures.gpt.vectors import vector_map
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
from seqviz.lessons.framework.host import FigureCall
from seqviz.lessons.framework.show import Show
from seqviz.models import ready
from seqviz.models.registry import DEFAULTS

R = TypeVar("R")
DECODER = DEFAULTS["decoder"]
MAX_PASTED_CHARS = 1_000  # limit of a text that is read after every interaction
STORY = "Once upon a time"
AGAIN = "The weather is nice today."
LOOP = 48  # number of tokens of a greedy text
SENTENCE = "Let us encode this sentence"  # S4's
SECOND = "This sentence is encoded."
REVIEW = "A slow and pointless film, but the music is wonderful."
DOCUMENT = "It snowed all night in Boston. Schools are closed today, and most buses are late."
# The article and the summary of S1 (Jurafsky and Martin, figure 9-22), in words of our own.
ARTICLE = (
    "Kyle Waring sells snow from Boston on the internet. For $89 he sends six pounds of it in an"
    " insulated box, enough for about 12 snowballs. He does not send it to New England."
)
SUMMARY = "Kyle Waring sends six pounds of Boston snow for $89."
SUMMARY_TOKENS = 24  # of a summary that the model writes
BEGIN = "<|endoftext|>"  # parts two documents in the training of SmolLM2
CONTEXT = 2048  # tokens that GPT-3 reads at most


def read(show: Show, text: str) -> None:
    """Require the model, and a text short enough for a pass after every interaction."""
    show.model(DECODER, text)
    ready.check_interactive_length(DECODER, text)


def job_on_text(show: Show, function: Callable[..., R], so_far: FigureCall, **request: Any) -> R:
    """Run a job on the reader's text; a shipped result needs no model."""
    request = {"model": DECODER, **request}
    if precomputed.find(function, request) is None:
        read(show, request["text"])
    return show.job(function, **request, so_far=so_far)


@dataclass(frozen=True)
class FuturesParams:
    """Controls of the bench on the tree of continuations."""

    prompt: str = text_input(STORY, MAX_PASTED_CHARS, above=True)
    beams: int = step_slider(1, 6, 3)
    length_penalty: float = stops((0.0, 0.5, 1.0, 2.0, 4.0), 1.0)
    shown: int = slider(8, 40, 16, 2, more=True)
    length: int = stops((4, 6, 8, 10), 8, more=True)
    seed: int = seed(0, more=True)


def futures(p: FuturesParams, show: Show) -> None:
    decoding_comparison = job_on_text(
        show, compare_decoding, (futures_so_far, p.shown), text=p.prompt, steps=p.length,
        beams=p.beams, penalty=p.length_penalty, seed=p.seed,
    )  # fmt: skip
    show.figure(all_futures, decoding_comparison, p.shown)
    metrics = ("best", "greedy", "beam", "covered")
    show.facts(decoding_comparison.compared, note="futures", metrics=metrics, shown=p.shown)
    show.facts(decoding_comparison.tree.followed, p.shown)
    show.facts(decoding_comparison.tree.bounded, note="futures")
    show.facts(decoding_comparison.beams.ranked, note="futures.beam", beams=p.beams)


@dataclass(frozen=True)
class LikelyParams:
    """Controls of the bench on the surprisal of human and generated texts."""

    method: str = choice(METHODS[1:], "greedy", menu=True)


def likely(p: LikelyParams, show: Show) -> None:
    result = show.job(by_method, model=DECODER, so_far=(trials_so_far,))
    show.figure(surprise_by_method, result)
    method = show.option("method", p.method)
    metrics = ("human", "method", "expected", "spread")
    show.facts(result.compared, p.method, note="likely", metrics=metrics, name=method)
    show.facts(result.split, note="likely.split")
    for name in ("human", p.method):
        show.notice("likely.text", who=show.option("method", name), text=result.spelled(name))


@dataclass(frozen=True)
class AgainParams:
    """Controls of the bench on repetition."""

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
    show.facts(result.compared, note="again", metrics=("first_copy", "last_copy"))
    return None


def say_loop(p: AgainParams, show: Show) -> None:
    """Show a greedy text, and how much of it repeats."""
    filters = Chain(penalty=p.penalty) if p.penalty != 1 else None
    continuation = job_on_text(
        show, greedy, (written_bits,), text=p.opening, count=LOOP, after=(), filters=filters
    )
    show.figure(written_bits, continuation)
    metrics = ("first_half", "second_half", "seen")
    summary = show.facts(continuation.summary, metrics=metrics)
    show_bits(continuation, show)
    show.note("again.loop", penalty=p.penalty, **summary)


def show_bits(continuation: Continuation, show: Show) -> None:
    """Show a text with each token colored by its surprisal."""
    bits = continuation.bits / max(8.0, float(continuation.bits.max()))
    show.passage(continuation.spelled, bits, signed=False, title=show.words("note.pieces"))


@dataclass(frozen=True)
class ShotsParams:
    """Controls of the bench on few-shot prompts."""

    view: str = view(("many", "one", "vectors"), "many")
    instruction: str = choice(INSTRUCTIONS, "none", menu=True, when=on(view="one"), more=True)
    amount: int = stops(AMOUNTS[:-1], 2, when=on(view="one", instruction=INSTRUCTIONS[:2]))
    condition: str = choice(CONDITIONS, "right", menu=True, when=on(view=("many", "one")))
    layout: str = choice(("plain", "chat"), "plain", when=on(view="one"))
    review: str = text_input(REVIEW, 200, when=on(view="one"))
    draw: int = seed(0, when=on(view="one"))
    sentence: str = text_input(SENTENCE, 200, when=on(view="vectors"))
    form: str = choice(FORMS, "text", menu=True, when=on(view="vectors"))
    second: str = text_input(SECOND, 200, when=on(view="vectors", form=FORMS[2:]))


def shots(p: ShotsParams, show: Show) -> None:
    if p.view == "one":
        return say_prompt(p, show)
    if p.view == "vectors":
        return say_vectors(p, show)
    accuracy = show.job(few_shots, model=DECODER, so_far=(trials_so_far,))
    show.figure(shots_by_amount, accuracy, p.condition)
    words = {"condition": show.option("condition", p.condition)}
    metrics = ("without", "behind", "form_without", "form_behind")
    show.facts(accuracy.compared, p.condition, note="shots", metrics=metrics, **words)
    if p.condition != "right":
        show.facts(accuracy.label_effect, p.condition, note="shots.labels", **words)
    return None


def say_prompt(p: ShotsParams, show: Show) -> None:
    """Show one prompt as the model reads it, and the prediction."""
    show.model(DECODER)
    extra = (p.instruction,) if p.instruction != "none" else ()
    prompt = show.derive(
        build_prompt, p.review, p.amount, p.condition, p.draw, *extra, name="prompt"
    )
    if p.layout == "chat":
        prompt = show.derive(in_template, DECODER, prompt, name="template")
    read(show, prompt)
    result = show.run(next_token, DECODER, prompt)
    show.figure(label_bars, result, LABELS)
    for label in LABELS:
        show.readout(label, result.chance_of, label)
    read_as = result.prompt
    marked = show.derive(special, DECODER, tuple(read_as.ids.tolist()), name="marked")
    title = show.words("note.special")
    show.passage(read_as.spelled, np.array(marked, float), signed=False, title=title)
    names = sorted({piece for piece, item in zip(read_as.pieces, marked, strict=True) if item})
    show.note(
        f"prompt.{p.layout}", tokens=len(marked), token=result.pieces[0],
        chance=float(result.chances[0]), special=sum(marked), names=", ".join(names),
    )  # fmt: skip


def say_vectors(p: ShotsParams, show: Show) -> None:
    """Show the vectors of a text, and the form in which GPT-1 is given a task."""
    second = p.second if p.form in FORMS[2:] else ""
    inputs = show.derive(task_inputs, p.form, p.sentence, second, name="inputs")
    for text in inputs:
        read(show, text)
    sequences = [show.run(text_vectors, DECODER, text) for text in inputs]
    first = sequences[0]
    show.figure(vector_map, first)
    show.readouts(first, positions="positions", numbers="numbers")
    if p.form == "text":
        small = show.run(architectures.architecture, "gpt2", name="small")
        ids = show.derive(gpt2_ids, p.sentence)
        show.note("vectors.text", result=first, ids=listed(first.tokens.ids), small=small,
                  small_ids=listed(ids), count=len(ids))  # fmt: skip
        return
    layer = show.readout("layer", first.task_parameters, CLASSES[p.form])
    marked = sum(len(item.tokens.ids) for item in sequences)
    show.note("vectors.task", result=first, sequences=len(sequences), marked=marked,
              classes=CLASSES[p.form], layer=layer)  # fmt: skip


def listed(ids: Iterable[int]) -> str:
    """Return token ids as a list."""
    return ", ".join(str(item) for item in ids)


@dataclass(frozen=True)
class CostParams:
    """Controls of the bench on cost: cache times, sizes, loss masking."""

    view: str = view(("time", "summary", "training", "sizes"), "time")
    given: int = slider(1, 200, 5, when=on(view="time"))
    written: int = slider(1, 200, 20, when=on(view="time"))
    article: str = text_input(ARTICLE, 500, when=on(view="summary"))
    writer: str = choice(("reader", "model"), "reader", when=on(view="summary"))
    summary: str = text_input(SUMMARY, 200, when=on(view="summary", writer="reader"))
    delta: str = choice(DELTAS, "line", menu=True, when=on(view="summary"), more=True)
    document: str = text_input(DOCUMENT, 500, when=on(view="training"), above=True)
    begin: bool = toggle(False, when=on(view="training"))
    compared: str = choice(architectures.FAMILY[:-1], "gpt2_xl", menu=True, when=on(view="sizes"))
    context: int = slider(64, CONTEXT, CONTEXT, 64, when=on(view="sizes"))
    band: int = stops((16, 32, 64, 128, 256, 512), 128, when=on(view="sizes"))


def cost(p: CostParams, show: Show) -> None:
    if p.view == "sizes":
        return say_sizes(p, show)
    if p.view == "training":
        return say_training(p, show)
    if p.view == "summary":
        return say_summary(p, show)
    cache_times = show.job(time_cache, model=DECODER, so_far=(trials_so_far,))
    show.figure(token_times, cache_times, p.given, p.written)
    cached = show.readout("cached", readings, p.given, p.written)
    uncached = show.readout("anew", readings, p.given, p.written, cached=False)
    show.facts(
        cache_times.at_longest, note="bill.time", metrics=("times",), prompt=p.given,
        written=p.written, all=p.given + p.written, cached=cached, uncached=uncached,
    )  # fmt: skip
    show.facts(cache_times.agreement, note="bill.logits")
    return None


def say_training(p: CostParams, show: Show) -> None:
    """Show the loss of every token of a text, each predicted from those before it."""
    document = f"{BEGIN}{p.document}" if p.begin else p.document
    read(show, document)
    result = show.run(scored, DECODER, document)
    show.figure(token_losses, result)
    show.readouts(result, "tokens", "scored", "loss", "nats")
    built = show.run(architectures.architecture, DECODER, name="built")
    waits = show.derive(in_a_row, built, name="waits")
    show.note("bill.training", result=result)
    show.note("bill.parallel", waits=waits, serial=waits * result.scored)


def say_summary(p: CostParams, show: Show) -> None:
    """Show the loss of a summary, with and without its article."""
    if not p.article.strip():
        raise UserError("empty_text", "There is no article yet: write a sentence or two.")
    summary = p.summary
    context, separator = (
        show.derive(before_summary, DECODER, text, p.delta, name=name)
        for text, name in ((p.article, "context"), ("", "separator"))
    )
    read(show, context if p.writer == "model" else f"{context} {summary}")
    if p.writer == "model":
        continuation = show.run(greedy, DECODER, f"{context}{SEPARATOR}", SUMMARY_TOKENS)
        summary = continuation.text
    result = show.run(scored, DECODER, summary, context)
    show.figure(token_losses, result)
    show.readouts(result, "tokens", "scored", "loss", "nats")
    rest = (summary, separator) if separator else (f"{SEPARATOR}{summary}",)
    alone = show.run(scored, DECODER, *rest, name="alone")
    if p.writer == "model":
        show.note("bill.written", text=summary)
    show.note("bill.summary", m=result.first - alone.first, result=result, alone=alone)


def say_sizes(p: CostParams, show: Show) -> None:
    """Show the parameters of the GPT family, and the weights that GPT-3's patterns compute."""
    models = {
        name: show.run(architectures.architecture, name, name=name) for name in architectures.FAMILY
    }
    show.figure(model_sizes, tuple(models.values()))
    dense = show.readout("dense", cells_computed, "causal", p.context, True)
    banded = show.readout("banded", cells_computed, "window", p.context, True, p.band)
    name = show.option("compared", p.compared)
    times = show.readout("larger", models["gpt3"].times, models[p.compared], caption=name)
    show.note("bill.sizes", times=times, first=models["gpt1"], second=models["gpt2_xl"],
              third=models["gpt3"], model=name)  # fmt: skip
    show.note("bill.pattern", context=p.context, band=p.band, dense=dense, banded=banded,
              share=banded / dense)  # fmt: skip


def read_anew(prompt: int, written: int) -> float:
    """Return the number of tokens read to generate `written` tokens without a cache."""
    return readings(prompt, written, cached=False)
