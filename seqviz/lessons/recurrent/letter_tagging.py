"""Which letters need the right side: three wirings of equal size find the words of a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from seqviz.compute.recurrent.tagging.letters import TAGS, WIRINGS, TaggedText
from seqviz.compute.recurrent.tagging.letters_compared import Compared, TrainedAhead
from seqviz.core.i18n import escape_markdown, number, percent
from seqviz.data.chinese import bundled_words
from seqviz.experiments.recurrent.tagging.letters import (
    LEARNED_AHEAD,
    MAX_SENTENCE_SIGNS,
    READERS,
    SHORT,
    SIZES,
    TASKS,
    compare_ahead,
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
    on,
    seed,
    select_slider,
    step_slider,
    text_input,
    view,
)
from seqviz.lessons.framework.lesson import SeedExperiment
from seqviz.lessons.framework.show import Show
from seqviz.stats.estimate import Estimate

ENGLISH = "I can not see the end of this story, but it is so funny."
CHINESE = "从马上下来的客人马上走了，我们都很高兴。"  # cut alike with all of jieba's words
_LISTED = 24  # letters that a sentence names


def _signs(values: Mapping[str, Any]) -> float:
    """How many signs of the text are read."""
    typed = values["english"] if values["task"] == "spaces" else values["chinese"]
    return float(min(MAX_SENTENCE_SIGNS, max(1, len("".join(typed.split())))))


@dataclass(frozen=True)
class TaggingParams:
    """One direction, two layers, two directions: where do the words begin?"""

    view: str = view(("errors", "ahead", "letters"), "errors")
    task: str = choice(TASKS, "spaces", shipped=True)
    english: str = text_input(ENGLISH, 100, above=True, typed=True,
                            when=on(view="letters", task="spaces"))  # fmt: skip
    chinese: str = text_input(CHINESE, 100, above=True, typed=True,
                            when=on(view="letters", task="words"))  # fmt: skip
    ahead: int = select_slider(LEARNED_AHEAD, 3, when=on(view=("ahead", "letters")))
    letter: int = step_slider(1, MAX_SENTENCE_SIGNS, 4, within=_signs, when=on(view="letters"))
    training: int = seed(1, when=on(view="letters"))


def class_tagging(p: TaggingParams, show: Show) -> SeedExperiment:
    """How often each seat's own taggers are wrong, of one direction and of two."""
    return SeedExperiment(
        partial(errors_of_seeds, task=p.task),
        show.words(f"class.tagging.{p.task}"),
        show.words("class.tagging.settings", updates=SHORT, usual=SIZES[p.task].updates),
        kinds=[show.text(f"figure.letters_{wiring}") for wiring in READERS],
        at_once=5, long=True,
    )  # fmt: skip


def tagging(p: TaggingParams, show: Show) -> None:
    {"errors": _held_out, "ahead": _ahead, "letters": _letters}[p.view](p, show)
    existing = bundled_words()
    show.caption(
        show.words(
            f"note.tagging.from_{p.task}",
            words=f"{existing.words:,}",
            all_words=f"{existing.all_words:,}",
            alike=existing.alike,
            sentences=existing.sentences,
            differ=percent(existing.differ / existing.tags),
        )
    )


def _held_out(p: TaggingParams, show: Show) -> None:
    comparison: Compared = show.job(compare_taggers, task=p.task, so_far=(trained_so_far,))
    show.figure(errors_by_wiring, comparison)
    show.metric("wrong_uni", comparison.error("uni").value)
    show.metric("wrong_two", comparison.error("two").value)
    show.metric("wrong_bi", comparison.error("bi").value)
    show.metric("wrong_alone", comparison.baseline("alone"))
    _say_better(comparison, show)
    _say_tags(comparison, show)
    sizes = {
        f"{item}_size": f"{n:,}"
        for item, n in zip(WIRINGS, comparison.parameters.tolist(), strict=True)
    }
    units = {
        f"{item}_units": n for item, n in zip(WIRINGS, comparison.widths.tolist(), strict=True)
    }
    times = comparison.seconds
    show.note("tagging.equal", **sizes, **units, least=number(times.min(), 2),
              most=number(times.max(), 2))  # fmt: skip


def _intervals(sentences: Estimate, seeds: Estimate) -> dict[str, str]:
    """The numbers of a difference for a sentence."""
    return {
        "gap": number(sentences.mean), "low": number(sentences.low), "high": number(sentences.high),
        "seed_low": number(seeds.low), "seed_high": number(seeds.high),
    }  # fmt: skip


def _say_better(comparison: Compared, show: Show) -> None:
    for wiring in ("bi", "two"):
        gap = comparison.better(wiring)
        show.note(
            f"tagging.{gap.verdict}", name=show.text(f"figure.letters_{wiring}"),
            wrong=comparison.error(wiring).value, uni=number(comparison.error("uni").value),
            sentences=comparison.sentences, seeds=comparison.seeds,
            **_intervals(*(gap if gap.verdict == "null" else map(abs, gap))),
        )  # fmt: skip


def _say_tags(comparison: Compared, show: Show) -> None:
    """Where the right side helps, where it harms, and where neither is shown."""
    groups: dict[str, list[str]] = {"more": [], "less": [], "null": []}
    for tag in TAGS:
        gap = comparison.better("bi", "uni", tag)
        groups[gap.verdict].append(
            show.words(
                "note.tagging.tag",
                name=show.text(f"figure.letters_tag_{tag}"),
                uni=number(comparison.error("uni", tag).value),
                bi=number(comparison.error("bi", tag).value),
                many=f"{comparison.many(tag):,}",
            )
        )
    for verdict, tags in groups.items():
        if tags:
            show.note(f"tagging.tags_{verdict}", tags=show.words("note.tagging.and").join(tags))


def _ahead(p: TaggingParams, show: Show) -> None:
    # A place on a page has one job: the other result is what came with the app.
    every = show.shipped(compare_taggers, name="every", task=p.task)
    if every is None:
        every = show.job(compare_taggers, name="every", task=p.task, so_far=(trained_so_far,))
    trained: TrainedAhead = show.job(
        compare_ahead, name="trained", task=p.task, so_far=(trained_so_far,)
    )
    comparison = show.derive(every.of_first, trained.seeds)
    show.figure(errors_ahead, comparison, trained, p.ahead)
    error, cut = trained.error(p.ahead).value, comparison.error_cut(p.ahead).value
    both, uni = comparison.error("bi").value, comparison.error("uni").value
    more = trained.beyond(p.ahead, comparison)
    show.metric("wrong_ahead", error)
    show.metric("wrong_cut", cut)
    show.metric("wrong_bi", both)
    show.metric("wrong_uni", uni)
    show.note(
        f"tagging.ahead_{more.verdict}", ahead=p.ahead, wrong=error, seeds=trained.seeds,
        bi=number(both), **_intervals(*map(abs, more)),
    )  # fmt: skip
    if p.ahead > 0:
        show.note("tagging.ahead_gained", ahead=p.ahead, none=number(trained.error(0).value),
                  bi=both, share=percent(trained.gained(p.ahead, comparison)))  # fmt: skip
    apart = cut - error
    show.note(
        f"tagging.ahead_cut_{'more' if apart > 0 else 'same'}", cut=number(cut), ahead=p.ahead,
        wrong=error, apart=number(apart), uni=uni,
    )  # fmt: skip
    if cut > uni:
        show.note("tagging.ahead_mismatch", uni=number(uni))


def _letters(p: TaggingParams, show: Show) -> None:
    taggers = show.job(
        train_taggers, name="taggers", task=p.task, seed=p.training, so_far=(losses_so_far,)
    )
    typed = p.english if p.task == "spaces" else p.chinese
    result: TaggedText = show.run(tag_text, p.task, taggers, typed, p.ahead)
    letter = min(p.letter, len(result.text))
    show.figure(tagged_text, result, p.ahead, letter)
    losses = result.losses.sum(1)
    show.metric("loss_uni", float(losses[0]))
    show.metric("loss_bi", float(losses[1]))
    _say_letters(p, result, letter, show)
    if result.unknown:
        show.note("tagging.unknown", unknown=result.unknown, letters=result.n_letters)
    if len("".join(typed.split())) > MAX_SENTENCE_SIGNS:
        show.note("tagging.longer", most=MAX_SENTENCE_SIGNS)


def _say_letters(p: TaggingParams, tagged_text: TaggedText, letter: int, show: Show) -> None:
    uni, bi, cut = tagged_text.wrong.sum(1).tolist()
    show.note(
        "tagging.letters", letters=tagged_text.n_letters, uni=uni, bi=bi, cut=cut, ahead=p.ahead
    )
    show.note("tagging.letters_cut", ahead=p.ahead)
    framed = tagged_text.needs_right.nonzero()[0].tolist()
    named = [
        show.words("note.tagging.letter", sign=escape_markdown(tagged_text.text[t]), place=t + 1,
                   said=tagged_text.tags_of(0)[t], true=TAGS[tagged_text.tags[t]])
        for t in framed[:_LISTED]
    ]  # fmt: skip
    if named:
        show.note("tagging.framed", many=len(framed),
                  letters=show.words("note.tagging.and").join(named))  # fmt: skip
    else:
        show.note("tagging.framed_none")
    t, losses = letter - 1, tagged_text.losses
    if tagged_text.tags[t] < 0:
        return show.note("tagging.no_tag", place=letter, sign=escape_markdown(tagged_text.text[t]))
    true = tagged_text.tags[t]
    uni, bi = (number(float(tagged_text.probabilities[k, t, true])) for k in (0, 1))
    show.note(
        "tagging.loss",
        place=letter,
        sign=escape_markdown(tagged_text.text[t]),
        true=TAGS[true],
        uni=uni,
        bi=bi,
        at_uni=number(losses[0, t]),
        at_bi=number(losses[1, t]),
        sum_uni=number(losses[0].sum()),
        sum_bi=number(losses[1].sum()),
    )
