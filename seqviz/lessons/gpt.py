"""GPT and decoding: from the scores of a next token to a text, and what a likely text is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from seqviz.compute import replicates
from seqviz.compute.decoding import draw
from seqviz.compute.decoding.continuation import Continuation, parted
from seqviz.compute.decoding.filtered import Filtered, filtered, first_words, largest_difference
from seqviz.compute.decoding.filters import ORDER, Chain
from seqviz.compute.decoding.uniform import uniforms
from seqviz.experiments.decoding.continuation import greedy, next_token, pieces, sampled
from seqviz.figures.decoding.draws import many_first_words
from seqviz.figures.decoding.scores import filter_name, next_token_bars
from seqviz.figures.decoding.steps import RANKS, text_steps
from seqviz.figures.grammar import plain
from seqviz.figures.grammar.tokens import short
from seqviz.lessons.bench.controls import choice, on, order, seed, sentence, slider, stepper
from seqviz.lessons.bench.controls import steps as stops
from seqviz.lessons.bench.lesson import Experiment, Lesson
from seqviz.lessons.bench.output import Note
from seqviz.lessons.bench.show import Show
from seqviz.lessons.gpt_browser import ANSWERS, EVEN, FEW, ROUNDING
from seqviz.lessons.gpt_texts import (
    DECODER,
    PASTED,
    Again,
    Cost,
    Futures,
    Likely,
    Shots,
    again,
    cost,
    fine,
    futures,
    likely,
    read,
    read_anew,
    shots,
)
from seqviz.text import literal, number, percent

TEXT = "Hey readers, today is"  # S4's prompt
COUNT = 12  # tokens that are written

lesson = Lesson("gpt", code=(filtered,))


@dataclass(frozen=True)
class Scores:
    """One next token on its way through the filters to a draw."""

    text: str = sentence(TEXT, PASTED, above=True)
    temperature: float = slider(0.1, 3.0, 1.0, 0.05)
    top_p: float = slider(0.05, 1.0, 0.9, 0.05)
    top_k: int = stops((0, 1, 2, 3, 5, 10, 20, 50, 100, 200), 0)
    min_p: float = slider(0.0, 0.5, 0.0, 0.01)
    number: int = stepper(1, 200, 1)
    penalty: float = slider(1.0, 2.0, 1.0, 0.05, more=True)
    typical: float = slider(0.05, 1.0, 1.0, 0.05, more=True)
    order: tuple[str, ...] = order(ORDER, more=True)
    seed: int = seed(2, more=True)


def chain_of(p: Scores) -> Chain:
    """The filters as they stand."""
    return Chain(p.penalty, p.temperature, p.top_k, p.top_p, p.min_p, p.typical, p.order)


def class_surprise(p: Scores, show: Show) -> Experiment:
    """How many bits the token has that each seat draws: its own u, the same distribution."""
    read(show, p.text)
    found = show.run(next_token, DECODER, p.text)
    behind = filtered(found, chain_of(p))
    left = behind.ranked[: behind.kept]
    bits = dict(zip(left.tolist(), -np.log2(behind.chances[left]), strict=True))
    expected = replicates.drawn_from(np.array([*bits.values()]), behind.chances[left])

    def values(seeds: Sequence[int]) -> list[float]:
        drawn = draw.draws(behind.scores, [uniforms(seed, p.number)[-1] for seed in seeds])
        return [float(bits[token]) for token in drawn.tolist()]

    return Experiment(
        values, show.words("class.scores.quantity"),
        show.words("class.scores.settings", kept=f"{behind.kept:,}", number=p.number,
                   entropy=number(behind.entropy)),
        lambda _: expected,
    )  # fmt: skip


@lesson.bench("scores", Scores, leads=True, answers=ANSWERS, replicate=class_surprise)
def scores(p: Scores, show: Show) -> None:
    read(show, p.text)
    found = show.run(next_token, DECODER, p.text)
    drawn = show.value(filtered, found, chain_of(p), p.seed, p.number, name="drawn")
    show.figure(next_token_bars, drawn)
    show.readouts(drawn, "kept", "cut", "entropy", beside={
        "entropy": show.words("metric.entropy.beside", before=number(drawn.entropy_before)),
    })  # fmt: skip
    (token,) = show.value(pieces, DECODER, (drawn.token,), name="token")
    filters = show.words("note.between_filters").join(
        filter_name(name, show.text) for name, _ in drawn.stages
    )
    low, high = drawn.ends
    said = show.words(
        "note.scores" if filters else "note.scores_none", token=literal(token), u=f"{drawn.u:.3f}",
        low=f"{low:.3f}", high=f"{high:.3f}", filters=filters,
        kept=f"{drawn.kept:,}", cut=percent(drawn.cut), entropy=number(drawn.entropy),
        before=number(drawn.entropy_before),
    )  # fmt: skip
    show.put(Note(said + of_order(p, drawn, show)))
    reached = drawn.kept <= FEW and drawn.entropy > EVEN
    show.target("even", reached, kept=f"{drawn.kept:,}", entropy=number(drawn.entropy))


def of_order(p: Scores, drawn: Filtered, show: Show) -> str:
    """How far the distribution is from that of transformers' order, where another is chosen.

    A paragraph of the same note: a hand that changes the order changes the words of one place.
    """
    if p.order == ORDER:
        return ""
    usual = replace(chain_of(p), order=ORDER)
    other = show.value(filtered, drawn.found, usual, p.seed, p.number, name="usual")
    apart = largest_difference(drawn, other)
    key = "note.order" if apart > ROUNDING else "note.order_same"
    return "\n\n" + show.words(key, apart=percent(apart), kept=f"{other.kept:,}",
                               entropy=number(other.entropy))  # fmt: skip


@dataclass(frozen=True)
class Steps:
    """A text written token by token; one of them may be replaced."""

    way: str = choice(("greedy", "sampled"), "greedy")
    step: int = stepper(1, COUNT, 2)
    rank: int = stepper(0, RANKS, 0)
    temperature: float = slider(0.1, 2.0, 0.7, 0.1, when=on(way="sampled"))
    seed: int = seed(1, when=on(way="sampled"))


def written(
    p: Steps, after: tuple[int, ...], temperature: float, name: str, show: Show
) -> Continuation:
    """A text of `COUNT` tokens that begins with those of `after`."""
    text = lesson.values("scores").text
    if p.way == "greedy":
        return show.run(greedy, DECODER, text, COUNT - len(after), after, name=name)
    left = uniforms(p.seed, COUNT)[len(after) :]
    filters = Chain(temperature=temperature) if temperature != 1 else None
    return show.run(sampled, DECODER, text, left, after, filters, name=name)


@lesson.bench("steps", Steps, after=("scores",))
def steps(p: Steps, show: Show) -> None:
    read(show, lesson.values("scores").text)
    base = written(p, (), p.temperature, "base", show)
    place = min(p.step, len(base.ids))
    forced = int(base.candidates[place - 1][p.rank - 1]) if p.rank else base.ids[place - 1]
    other = None
    if forced != base.ids[place - 1] and place < COUNT:
        after = (*base.ids[: place - 1], forced)
        other, base = base, written(p, after, p.temperature, "branch", show)
    show.figure(text_steps, base, other, place, p.rank, picks=("rank", "step"))
    show.readouts(base, bits="mean_bits", chance="chance")
    show.passage(base.spelled, base.bits / max(8.0, float(base.bits.max())), signed=False,
                 title=show.words("note.pieces"))  # fmt: skip
    say_steps(p, base, other, place, show)


def say_steps(
    p: Steps, found: Continuation, other: Continuation | None, place: int, show: Show
) -> None:
    """What was written, what the replaced token has changed, and what the temperature has."""
    facts = {
        "text": literal(found.text), "bits": number(found.mean_bits), "step": place,
        "chance": fine(found.chance), "token": literal(found.pieces[place - 1]),
        "own": percent(float(2 ** -found.bits[place - 1])),
    }  # fmt: skip
    if other is None:
        show.note(f"steps.{p.way}", **facts)
    else:
        show.note(
            "steps.branch", **facts, instead=literal(other.pieces[place - 1]),
            before=fine(other.chance), dearer=number(found.mean_bits - other.mean_bits),
        )  # fmt: skip
    if p.way == "sampled" and p.temperature != 1 and other is None:
        plain = written(p, (), 1.0, "plain", show)
        apart = parted(found.ids, plain.ids)
        same = apart >= min(len(found.ids), len(plain.ids))
        show.note("steps.same" if same else "steps.parted", temperature=f"{p.temperature:g}",
                  step=apart + 1, plain=literal(plain.text))  # fmt: skip


@dataclass(frozen=True)
class Draws:
    """Many first words from the distribution behind the filters of the first figure."""

    count: int = stops((10, 20, 50, 100, 200, 500, 1000, 2000, 5000), 200)
    seed: int = seed(2)


def behind_filters(show: Show) -> Filtered:
    """The distribution of the first figure that is drawn from."""
    above = lesson.values("scores")
    read(show, above.text)
    found = show.run(next_token, DECODER, above.text)
    return show.value(filtered, found, chain_of(above), name="behind")


def class_shares(p: Draws, show: Show) -> Experiment:
    """How often the likeliest token comes in each seat's own draws."""
    behind = behind_filters(show)
    first = int(behind.ranked[0])
    (piece,) = pieces(DECODER, (first,))
    chance = float(behind.chances[first])
    expected = replicates.share_of(chance, p.count).times(100.0)

    def values(seeds: Sequence[int]) -> list[float]:
        drawn = [draw.draws(behind.scores, uniforms(seed, p.count)) for seed in seeds]
        return [float(100 * (one == first).mean()) for one in drawn]

    return Experiment(
        values, show.words("class.draws.quantity", token=plain(short(piece))),
        show.words("class.draws.settings", count=f"{p.count:,}", chance=percent(chance),
                   token=literal(piece)),
        lambda _: expected,
    )  # fmt: skip


@lesson.bench("draws", Draws, after=("scores",), replicate=class_shares)
def draws(p: Draws, show: Show) -> None:
    behind = behind_filters(show)
    many = show.value(first_words, behind, p.seed, p.count, name="many")
    names = show.value(pieces, DECODER, tuple(many.ids.tolist()), name="names")
    show.figure(many_first_words, many, names, p.count)
    show.readout("within", many.within)
    show.readout("distance", many.distance)
    within, bars = many.within()
    show.note(
        "draws", count=f"{p.count:,}", within=within, bars=bars,
        expected=number(many.expected_within()), first=literal(names[0]),
        share=percent(float(many.counts()[0]) / p.count), chance=percent(float(many.chance[0])),
        distance=percent(many.distance()),
    )  # fmt: skip


lesson.bench("futures", Futures)(futures)
lesson.bench("likely", Likely)(likely)
lesson.bench("again", Again)(again)
lesson.bench("shots", Shots)(shots)
lesson.bench("cost", Cost)(cost)

lesson.exercise(
    "readings",
    cases=[
        {"prompt": prompt, "written": count}
        for prompt, count in ((5, 20), (10, 10), (8, 4), (20, 5), (3, 12))
    ],
    answer=read_anew,
    within=0.5,
)

# It came with the app: the page needs no model for it.
lesson.sketch(
    "coin", kind="curve", bench="shots", values={"condition": "random"}, answer=(3, 4),
)  # fmt: skip
