"""Benches on the next token: from scores to a draw, a text by token, many draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from seqviz.compute import replicates
from seqviz.compute.gpt import draw
from seqviz.compute.gpt.continuation import Continuation
from seqviz.compute.gpt.draw import uniforms
from seqviz.compute.gpt.filtered import Filtered, filtered, first_words, largest_difference
from seqviz.compute.gpt.filters import ORDER, Chain
from seqviz.experiments.gpt.continuation import greedy, next_token, pieces, sampled
from seqviz.figures.gpt.draws import many_first_words
from seqviz.figures.gpt.scores import filter_name, next_token_bars
from seqviz.figures.gpt.steps import RANKS, text_steps
from seqviz.lessons.framework.controls import (
    choice,
    on,
    seed,
    slider,
    sortable,
    step_slider,
    text_input,
)
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.lesson import SeedExperiment, read_params
from seqviz.lessons.framework.output import Note
from seqviz.lessons.framework.show import Show
from seqviz.lessons.gpt.client_payload import EVEN, FEW, ROUNDING
from seqviz.lessons.gpt.generation import DECODER, MAX_PASTED_CHARS, read, show_bits
from seqviz.plotting import escape
from seqviz.plotting.tokens import short

TEXT = "Hey readers, today is"  # S4's prompt
COUNT = 12  # number of generated tokens


@dataclass(frozen=True)
class ScoresParams:
    """Controls of the bench on one next token, its filters and the draw."""

    text: str = text_input(TEXT, MAX_PASTED_CHARS, above=True)
    temperature: float = slider(0.1, 3.0, 1.0, 0.05)
    top_p: float = slider(0.05, 1.0, 0.9, 0.05)
    top_k: int = stops((0, 1, 2, 3, 5, 10, 20, 50, 100, 200), 0, more=True)
    min_p: float = slider(0.0, 0.5, 0.0, 0.01, more=True)
    number: int = step_slider(1, 200, 1)
    penalty: float = slider(1.0, 2.0, 1.0, 0.05, more=True)
    typical: float = slider(0.05, 1.0, 1.0, 0.05, more=True)
    order: tuple[str, ...] = sortable(ORDER, more=True)
    seed: int = seed(2, more=True)


def chain_of(p: ScoresParams) -> Chain:
    """Return the filter chain of the controls."""
    return Chain(p.penalty, p.temperature, p.top_k, p.top_p, p.min_p, p.typical, p.order)


def class_surprise(p: ScoresParams, show: Show) -> SeedExperiment:
    """Return the class experiment: surprisal of each seat's token, drawn with its own u."""
    read(show, p.text)
    result = show.run(next_token, DECODER, p.text)
    after = filtered(result, chain_of(p))
    left = after.ranked[: after.n_kept]
    bits = dict(zip(left.tolist(), -np.log2(after.chances[left]), strict=True))
    expected = replicates.drawn_from(np.array([*bits.values()]), after.chances[left])

    def values(seeds: Sequence[int]) -> list[float]:
        samples = draw.draws(after.scores, [uniforms(seed, p.number)[-1] for seed in seeds])
        return [float(bits[token]) for token in samples.tolist()]

    return SeedExperiment(
        values, show.words("class.scores.quantity"),
        show.words("class.scores.settings", kept=after.n_kept, number=p.number,
                   entropy=after.entropy),
        lambda _: expected,
    )  # fmt: skip


def scores(p: ScoresParams, show: Show) -> None:
    read(show, p.text)
    result = show.run(next_token, DECODER, p.text)
    rendered = show.derive(filtered, result, chain_of(p), p.seed, p.number, name="drawn")
    show.figure(next_token_bars, rendered)
    facts = rendered.summary()
    caption = {"entropy": show.words("metric.entropy.beside", before=facts["before"])}
    show.readouts(rendered, kept="n_kept", cut="cut", entropy="entropy", caption=caption)
    (token,) = show.derive(pieces, DECODER, (rendered.token,), name="token")
    names = (filter_name(name, show.text) for name, _ in rendered.stages)
    filters = show.words("note.between_filters").join(names)
    key = "note.scores_none"
    if filters:
        key = "note.scores" if rendered.cut else "note.scores_kept"
    summary = show.words(key, token=token, filters=filters, **facts)
    show.emit(Note(summary + of_order(p, rendered, show)))
    show.target("even", rendered.n_kept <= FEW and rendered.entropy > EVEN, **facts)


def of_order(p: ScoresParams, distribution: Filtered, show: Show) -> str:
    """Return the paragraph on the difference from transformers' filter order, or "".

    It belongs to the same note, so a changed order updates a single element.
    """
    if p.order == ORDER:
        return ""
    usual = replace(chain_of(p), order=ORDER)
    other = show.derive(filtered, distribution.next_token, usual, p.seed, p.number, name="usual")
    apart = largest_difference(distribution, other)
    key = "note.order" if apart > ROUNDING else "note.order_same"
    return "\n\n" + show.words(key, apart=apart, **other.summary())


@dataclass(frozen=True)
class GenerationParams:
    """Controls of the bench on a text with one replaced token."""

    way: str = choice(("greedy", "sampled"), "greedy")
    step: int = step_slider(1, COUNT, 2)
    rank: int = step_slider(0, RANKS, 0)
    temperature: float = slider(0.1, 2.0, 0.7, 0.1, when=on(way="sampled"))
    seed: int = seed(1, when=on(way="sampled"))


def written(
    p: GenerationParams, after: tuple[int, ...], temperature: float, name: str, show: Show
) -> Continuation:
    """Return a text of `COUNT` tokens that begins with those of `after`."""
    text = read_params("scores", ScoresParams).text
    if p.way == "greedy":
        return show.run(greedy, DECODER, text, COUNT - len(after), after, name=name)
    left = uniforms(p.seed, COUNT)[len(after) :]
    filters = Chain(temperature=temperature) if temperature != 1 else None
    return show.run(sampled, DECODER, text, left, after, filters, name=name)


def steps(p: GenerationParams, show: Show) -> None:
    read(show, read_params("scores", ScoresParams).text)
    base = written(p, (), p.temperature, "base", show)
    position = min(p.step, len(base.ids))
    forced = int(base.candidates[position - 1][p.rank - 1]) if p.rank else base.ids[position - 1]
    other = None
    if forced != base.ids[position - 1]:
        after = (*base.ids[: position - 1], forced)
        other, base = base, written(p, after, p.temperature, "branch", show)
    show.figure(text_steps, base, other, position, p.rank, picks=("rank", "step"))
    show.readouts(base, bits="mean_bits", chance="probability")
    show_bits(base, show)
    if other is not None:
        show.facts(base.replaced, other, position, note="steps.branch")
        return
    show.facts(base.at_step, position, note=f"steps.{p.way}")
    if p.way == "sampled" and p.temperature != 1:
        plain = written(p, (), 1.0, "plain", show)
        show.facts(base.compared, plain, note="steps", temperature=p.temperature)


@dataclass(frozen=True)
class DrawsParams:
    """Controls of the bench on many draws of the first token."""

    count: int = stops((10, 20, 50, 100, 200, 500, 1000, 2000, 5000), 200)
    seed: int = seed(2)


def behind_filters(show: Show) -> Filtered:
    """Return the filtered distribution of the first bench."""
    above = read_params("scores", ScoresParams)
    read(show, above.text)
    result = show.run(next_token, DECODER, above.text)
    return show.derive(filtered, result, chain_of(above), name="behind")


def class_shares(p: DrawsParams, show: Show) -> SeedExperiment:
    """Return the class experiment: share of the likeliest token in each seat's draws."""
    after = behind_filters(show)
    first = int(after.ranked[0])
    (piece,) = pieces(DECODER, (first,))
    probability = float(after.chances[first])
    expected = replicates.share_of(probability, p.count).times(100.0)

    def values(seeds: Sequence[int]) -> list[float]:
        samples = [draw.draws(after.scores, uniforms(seed, p.count)) for seed in seeds]
        return [float(100 * (item == first).mean()) for item in samples]

    return SeedExperiment(
        values, show.words("class.draws.quantity", token=escape(short(piece))),
        show.words("class.draws.settings", count=p.count, chance=probability,
                   token=piece),
        lambda _: expected,
    )  # fmt: skip


def draws(p: DrawsParams, show: Show) -> None:
    after = behind_filters(show)
    many = show.derive(first_words, after, p.seed, p.count, name="many")
    names = show.derive(pieces, DECODER, tuple(many.ids.tolist()), name="names")
    show.figure(many_first_words, many, names, p.count)
    show.readout("within", many.within)
    show.readout("distance", many.distance)
    show.facts(many.compared, note="draws", first=names[0])
