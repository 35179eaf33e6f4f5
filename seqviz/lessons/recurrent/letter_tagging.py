"""Bench on word boundaries: three taggers of equal size, one or two directions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from seqviz.compute.recurrent.tagging.letters import JOINED, TAGS, WIRINGS, TaggedText
from seqviz.compute.recurrent.tagging.letters_compared import Compared, TrainedAhead, TrainedJoined
from seqviz.data.chinese import bundled_words
from seqviz.experiments.recurrent.tagging.letters import (
    LEARNED_AHEAD,
    MAX_SENTENCE_SIGNS,
    READERS,
    SHORT,
    SIZES,
    TASKS,
    compare_ahead,
    compare_joined,
    compare_taggers,
    errors_of_seeds,
    tag_text,
    train_taggers,
)
from seqviz.figures.recurrent.tagging.letters import (
    errors_ahead,
    errors_by_wiring,
    losses_so_far,
    tagged_text,
    trained_so_far,
)
from seqviz.lessons.framework.controls import (
    choice,
    localized,
    on,
    seed,
    select_slider,
    step_slider,
    text_input,
    view,
)
from seqviz.lessons.framework.lesson import SeedExperiment
from seqviz.lessons.framework.show import Show

ENGLISH = "I can not see the end of this story, but it is so funny."
CHINESE = "从马上下来的客人马上走了，我们都很高兴。"  # cut equally by full jieba
_LISTED = 24  # maximum number of letters in a note


def _signs(values: Mapping[str, Any]) -> float:
    """Return the number of characters read."""
    typed = values["english"] if values["task"] == "spaces" else values["chinese"]
    return float(min(MAX_SENTENCE_SIGNS, max(1, len("".join(typed.split())))))


@dataclass(frozen=True)
class TaggingParams:
    """Controls of the bench on taggers with one direction, two layers or two directions."""

    view: str = view(("errors", "ahead", "letters"), "errors")
    task: str = localized(choice(TASKS, "spaces", shipped=True), zh="words")
    joined: str = choice(JOINED, "bi", shipped=True, more=True, when=on(view="errors"))
    english: str = text_input(ENGLISH, 100, above=True, typed=True,
                            when=on(view="letters", task="spaces"))  # fmt: skip
    chinese: str = text_input(CHINESE, 100, above=True, typed=True,
                            when=on(view="letters", task="words"))  # fmt: skip
    ahead: int = select_slider(LEARNED_AHEAD, 3, when=on(view=("ahead", "letters")))
    letter: int = step_slider(1, MAX_SENTENCE_SIGNS, 4, within=_signs, when=on(view="letters"))
    training: int = seed(1, when=on(view="letters"))


def class_tagging(p: TaggingParams, show: Show) -> SeedExperiment:
    """Return the class experiment: error rates of each seat's taggers."""
    return SeedExperiment(
        partial(errors_of_seeds, task=p.task),
        show.words(f"class.tagging.{p.task}"),
        show.words("class.tagging.settings", updates=SHORT, usual=SIZES[p.task].updates),
        kinds=[show.text(f"figure.letters_{wiring}") for wiring in READERS],
        at_once=5, long=True,
    )  # fmt: skip


def tagging(p: TaggingParams, show: Show) -> None:
    {"errors": _held_out, "ahead": _ahead, "letters": _letters}[p.view](p, show)
    words = bundled_words()
    share = words.differ / words.tags
    show.caption(show.words(f"note.tagging.from_{p.task}", words=words, differ=share))


def _held_out(p: TaggingParams, show: Show) -> None:
    comparison = _compared(p, show, is_second=p.joined != "bi")
    if p.joined != "bi":
        _say_joined(p, comparison, show)
    show.figure(errors_by_wiring, comparison)
    errors = show.derive(comparison.errors, name="errors")
    for name in (*WIRINGS, "alone"):
        show.metric(f"wrong_{name}", errors[name])
    for wiring in ("bi", "two"):
        gain = show.derive(comparison.gain, wiring, name=f"gain_{wiring}")
        name = show.text(f"figure.letters_{wiring}")
        show.note(f"tagging.{gain.variant}", name=name, **gain)
    _say_tags(comparison, show)
    show.facts(comparison.sizes, note="tagging.equal")


def _compared(p: TaggingParams, show: Show, *, is_second: bool) -> Compared:
    """Return the three networks; shipped where the bench's one job is another."""
    name = "every" if is_second else "result"
    shipped = show.shipped(compare_taggers, name=name, task=p.task) if is_second else None
    if shipped is not None:
        return shipped
    return show.job(compare_taggers, name=name, task=p.task, so_far=(trained_so_far,))


def _say_joined(p: TaggingParams, comparison: Compared, show: Show) -> None:
    """State the errors with both directions added or multiplied at each step."""
    trained: TrainedJoined = show.job(
        compare_joined, name="trained", task=p.task, so_far=(trained_so_far,)
    )
    same_seeds = show.derive(comparison.of_first, trained.seeds, name="same_seeds")
    facts = show.derive(trained.comparison, p.joined, same_seeds, name="joined")
    show.metric("wrong_joined", facts["wrong"])
    show.note(f"tagging.joined_{facts.variant}", name=show.option("joined", p.joined), **facts)


def _say_tags(comparison: Compared, show: Show) -> None:
    """State on which tags the right context helps, harms, and neither."""
    groups: dict[str, list[str]] = {"more": [], "less": [], "null": []}
    for tag in TAGS:
        facts, name = comparison.by_tag(tag), show.text(f"figure.letters_tag_{tag}")
        groups[facts.variant].append(show.words("note.tagging.tag", name=name, **facts))
    for verdict, tags in groups.items():
        if tags:
            show.note(f"tagging.tags_{verdict}", tags=show.words("note.tagging.and").join(tags))


def _ahead(p: TaggingParams, show: Show) -> None:
    every = _compared(p, show, is_second=True)
    trained: TrainedAhead = show.job(
        compare_ahead, name="trained", task=p.task, so_far=(trained_so_far,)
    )
    comparison = show.derive(every.of_first, trained.seeds)
    show.figure(errors_ahead, comparison, trained, p.ahead)
    reach = show.derive(trained.reach, p.ahead, comparison, name="reach")
    for name, key in (("ahead", "wrong"), ("cut", "cut"), ("bi", "bi"), ("uni", "uni")):
        show.metric(f"wrong_{name}", reach[key])
    show.note(f"tagging.ahead_{reach.variant}", **reach)
    if p.ahead > 0:
        show.note("tagging.ahead_gained", **reach)
    show.note(f"tagging.ahead_cut_{'more' if reach['apart'] > 0 else 'same'}", **reach)
    if reach["cut"] > reach["uni"]:
        show.note("tagging.ahead_mismatch", **reach)


def _letters(p: TaggingParams, show: Show) -> None:
    taggers = show.job(
        train_taggers, name="taggers", task=p.task, seed=p.training, so_far=(losses_so_far,)
    )
    typed = p.english if p.task == "spaces" else p.chinese
    result: TaggedText = show.run(tag_text, p.task, taggers, typed, p.ahead)
    letter = min(p.letter, len(result.text))
    show.figure(tagged_text, result, p.ahead, letter)
    for row, name in enumerate(READERS):
        show.metric(f"loss_{name}", float(result.losses[row].sum()))
    _say_framed(p, result, show)
    show.facts(result.loss_at, letter, note="tagging")
    if result.unknown:
        show.notice("tagging.unknown", unknown=result.unknown, letters=result.n_letters)
    if len("".join(typed.split())) > MAX_SENTENCE_SIGNS:
        show.notice("tagging.longer", most=MAX_SENTENCE_SIGNS)


def _say_framed(p: TaggingParams, tagged_text: TaggedText, show: Show) -> None:
    errors = show.derive(tagged_text.errors, name="errors")
    show.note("tagging.letters", ahead=p.ahead, **errors)
    show.note("tagging.letters_cut", ahead=p.ahead)
    named = [
        show.words("note.tagging.letter", sign=tagged_text.text[t], place=t + 1,
                   said=tagged_text.tags_of(0)[t], true=TAGS[tagged_text.tags[t]])
        for t in tagged_text.needs_right.nonzero()[0][:_LISTED].tolist()
    ]  # fmt: skip
    letters = show.words("note.tagging.and").join(named)
    show.note(f"tagging.{errors.variant}", many=errors["framed"], letters=letters)
