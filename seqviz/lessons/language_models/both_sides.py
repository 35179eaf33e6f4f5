"""Bench on what models read: the left side, whole sentences, or both sides."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute.language_models.sides import READERS, GapRanks
from seqviz.core.errors import UserError
from seqviz.data.word_lists import uses
from seqviz.experiments.language_models import sides
from seqviz.figures.attention.trials import trials_so_far
from seqviz.figures.language_models.sides import continuation_choice, gap_ranks, times_by_length
from seqviz.lessons.framework.controls import (
    choice,
    on,
    select_slider,
    slider,
    text_input,
    toggle,
    view,
)
from seqviz.lessons.framework.show import Show

DECODER, ENCODER = "smollm2", "minilm"
TASKS = ("translation", "sentiment", "question", "next_word")
N_ITEMS = 12  # of each task
MAX_CHARS = 200  # of a user's text


@dataclass(frozen=True)
class SidesParams:
    """Controls of the bench on the sides that a model reads."""

    view: str = view(("gap", "cost", "uses"), "gap")
    filler: str = choice(READERS[:3], "whole", menu=True, when=on(view="gap"))
    shuffled: bool = toggle(False, when=on(view="gap", filler="both"))
    own_gap: str = text_input("", MAX_CHARS, more=True, when=on(view="gap"))
    gap: int = slider(1, sides.N_GAPS, 1, when=on(view="gap", own_gap=""))
    length: int = select_slider(sides.LENGTHS, 32, when=on(view="cost"))
    prompt: str = text_input("", MAX_CHARS, more=True, when=on(view="uses"))
    first: str = text_input("", MAX_CHARS, more=True, when=on(view="uses"))
    second: str = text_input("", MAX_CHARS, more=True, when=on(view="uses"))
    task: str = choice(TASKS, "question", menu=True, when=on(view="uses", prompt=""))
    item: int = slider(1, N_ITEMS, 1, when=on(view="uses", prompt=""))


def read_sides(p: SidesParams, show: Show) -> None:
    if show.words.text.lang == "zh":
        show.caption(show.words("note.sides.english"))
    if p.view == "cost":
        return _cost(p, show)
    if p.view == "uses":
        return _uses(p, show)
    return _gap(p, show)


def _gap(p: SidesParams, show: Show) -> None:
    text, number = p.own_gap.strip(), p.gap - 1
    own: GapRanks | None = None
    if text:
        gap, number = show.derive(sides.cut, text, name="gap"), 0
        own = show.job(sides.fill, name="own", model=DECODER, encoder=ENCODER, text=text,
                       so_far=(trials_so_far,))  # fmt: skip
        ranks = show.shipped(sides.fill_bundled, name="ranks", model=DECODER, encoder=ENCODER)
    else:
        gap = show.derive(sides.gaps, name="gaps")[number]
        ranks = show.job(sides.fill_bundled, name="ranks", model=DECODER, encoder=ENCODER,
                         so_far=(trials_so_far,))  # fmt: skip
    shuffled = p.shuffled and p.filler == "both"
    reader = "shuffled" if shuffled else p.filler
    readers = READERS if shuffled else READERS[:3]
    if ranks is not None:
        _say_ranks(ranks, reader, readers, show)
    show.passage([gap.left, f" {gap.word or '___'}", gap.right], [0.0, 1.0, 0.0], signed=False,
                 title=show.words("note.sides.passage"))  # fmt: skip
    filled = own or ranks
    assert filled is not None
    rank = [str(row[number]) for row in filled.rank[: len(readers)].tolist()]
    show.rows("fillers", {
        "fillers.reader": [show.text(f"figure.sides_{key}") for key in readers],
        "fillers.words": [", ".join(filled.words(key, number)) for key in readers],
        **({} if own else {"fillers.rank": rank}),
    })  # fmt: skip


def _say_ranks(ranks: GapRanks, reader: str, readers: tuple[str, ...], show: Show) -> None:
    """Show how often the word left out ranks first, and what a gap costs."""
    reference = "both" if reader in ("shuffled", "left") else "left"
    show.figure(gap_ranks, ranks, readers, reader)
    facts = show.derive(ranks.compared, reader, reference, name="facts")
    name, other = (show.text(f"figure.sides_{key}") for key in (reader, reference))
    show.metric("first_place", facts["share"])
    show.metric("price", show.words("metric.price.value", value=facts["ms"]))
    show.note(f"sides.gap.{facts.variant}", **facts, name=name, reference=other)
    show.note("sides.once" if facts["sequences"] == 1 else "sides.often", **facts, name=name)


def _cost(p: SidesParams, show: Show) -> None:
    times = show.job(sides.time_sides, name="times", model=DECODER, encoder=ENCODER,
                     so_far=(trials_so_far,))  # fmt: skip
    show.figure(times_by_length, times, p.length)
    show.readout("passes", times.passes, "write", p.length)
    facts = show.derive(times.at, p.length, name="facts")
    show.metric("written", show.words("metric.written.value", value=facts["write"]))
    show.note("sides.cost", **facts)
    show.note("sides.filled", **facts)


def _uses(p: SidesParams, show: Show) -> None:
    judged = show.job(sides.judge, name="judged", model=DECODER, so_far=(trials_so_far,))
    item = show.derive(uses, name="items")[p.task][p.item - 1]
    prompt = p.prompt.strip() or item.text
    given = p.first.strip(), p.second.strip()
    first, second = given[0] or item.right, given[1] or item.wrong
    own = (prompt, first, second) != (item.text, item.right, item.wrong)
    if p.prompt.strip() and not all(given):
        raise UserError("two_continuations", "Type two continuations of your text.")
    facts = show.derive(judged.summary, p.task, p.item - 1, name="facts")
    bits = facts["first"], facts["second"]
    if own:
        show.model(DECODER)
        bits = show.run(sides.continuation_bits, DECODER, prompt, first, second, name="bits")
    show.figure(continuation_choice, judged, p.task, (first, second), bits)
    show.metric("first_bits", show.words("metric.first_bits.value", value=bits[0]), caption=first)
    show.metric("second_bits", show.words("metric.second_bits.value", value=bits[1]),
                caption=second)  # fmt: skip
    cheaper, dearer = (first, second) if bits[0] < bits[1] else (second, first)
    show.note("sides.chosen", prompt=prompt, cheaper=cheaper, dearer=dearer,
              difference=abs(bits[1] - bits[0]))  # fmt: skip
    if not own:
        show.note(f"sides.uses_{facts.variant}", right=first)
    show.note("sides.share", **facts, task=show.option("task", p.task))
