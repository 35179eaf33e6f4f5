"""Which letters need the right side: three wirings of equal size tag the letters of a text."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute.tagging.letters import TAGS, WIRINGS, TaggedText
from seqviz.compute.tagging.letters_compared import Compared, Estimate
from seqviz.experiments.tagging.letters import (
    AHEAD,
    MOST,
    TASKS,
    compare_taggers,
    tag_text,
    train_taggers,
)
from seqviz.figures.tagging.letters import (
    errors_ahead,
    errors_by_wiring,
    losses_so_far,
    tagged_text,
    trained_so_far,
)
from seqviz.lessons.bench.controls import choice, on, seed, sentence, steps, view
from seqviz.lessons.bench.show import Show
from seqviz.text import literal, number

ENGLISH = "In New York, the actor Tom Hanks said that I may see it in the cinema."
CHINESE = "我打车去商场，酒店的服务员很热情，早餐也非常丰富。"
_LISTED = 24  # letters that a sentence names


@dataclass(frozen=True)
class Tagging:
    """One direction, two layers, two directions: capitals of English, words of Chinese."""

    view: str = view(("errors", "ahead", "letters"), "errors")
    task: str = choice(TASKS, "capitals", shipped=True)
    english: str = sentence(ENGLISH, MOST, above=True, typed=True,
                            when=on(view="letters", task="capitals"))  # fmt: skip
    chinese: str = sentence(CHINESE, MOST, above=True, typed=True,
                            when=on(view="letters", task="words"))  # fmt: skip
    ahead: int = steps(AHEAD, 1, when=on(view=("ahead", "letters")))
    training: int = seed(1, when=on(view="letters"))


def tagging(p: Tagging, show: Show) -> None:
    if p.view == "letters":
        _letters(p, show)
        return
    found: Compared = show.job(
        compare_taggers, name="found", task=p.task, so_far=(trained_so_far,)
    )  # fmt: skip
    if p.view == "ahead":
        _ahead(p, found, show)
        return
    show.figure(errors_by_wiring, found)
    for wiring in WIRINGS:
        show.metric(f"wrong_{wiring}", found.error(wiring).value)
    show.metric("wrong_alone", found.baseline("alone"))
    _say_better(found, show)
    _say_kinds(found, show)
    sizes = {
        f"{one}_size": f"{n:,}" for one, n in zip(WIRINGS, found.parameters.tolist(), strict=True)
    }
    units = {f"{one}_units": n for one, n in zip(WIRINGS, found.widths.tolist(), strict=True)}
    times = found.seconds
    show.note("tagging.equal", **sizes, **units, least=number(times.min(), 2),
              most=number(times.max(), 2))  # fmt: skip


def _intervals(one: Estimate, sign: int = 1) -> dict[str, str]:
    """The numbers of a difference for a sentence, turned round where it is less than zero."""
    ends = {}
    for name, pair in (("", one.sentences), ("seed_", one.seeds)):
        low, high = sorted(sign * end for end in pair)
        ends |= {f"{name}low": number(low), f"{name}high": number(high)}
    return {"gap": number(sign * one.value), **ends}


def _verdict(one: Estimate) -> str:
    return "null" if not one.clear else "better" if one.value > 0 else "worse"


def _say_better(found: Compared, show: Show) -> None:
    for wiring in ("bi", "two"):
        gap = found.better(wiring)
        key = _verdict(gap)
        show.note(
            f"tagging.{key}", name=show.text(f"figure.letters_{wiring}"),
            wrong=number(found.error(wiring).value), uni=number(found.error("uni").value),
            sentences=found.sentences, seeds=found.seeds,
            **_intervals(gap, -1 if key == "worse" else 1),
        )  # fmt: skip


def _say_kinds(found: Compared, show: Show) -> None:
    """Where the right side helps, where it harms, and where neither is shown."""
    groups: dict[str, list[str]] = {"better": [], "worse": [], "null": []}
    for kind in found.kinds:
        gap = found.better("bi", "uni", kind)
        groups[_verdict(gap)].append(show.words(
            "tagging.kind", name=show.text(f"figure.letters_kind_{found.task}_{kind}"),
            uni=number(found.error("uni", kind).value), bi=number(found.error("bi", kind).value),
            many=f"{found.many(kind):,}",
        ))  # fmt: skip
    for verdict, kinds in groups.items():
        if kinds:
            show.note(f"tagging.kinds_{verdict}", kinds=show.words("tagging.and").join(kinds))


def _ahead(p: Tagging, found: Compared, show: Show) -> None:
    show.figure(errors_ahead, found, p.ahead)
    cut, every, uni = found.error_cut(p.ahead), found.error("bi"), found.error("uni")
    more = found.beyond(p.ahead)
    none = found.error_cut(0)
    show.metric("wrong_cut", cut.value)
    show.metric("wrong_bi", every.value)
    show.metric("wrong_uni", uni.value)
    show.note(
        f"tagging.ahead_{_verdict(more)}", ahead=p.ahead, cut=number(cut.value),
        bi=number(every.value), none=number(none.value), uni=number(uni.value),
        **_intervals(more, 1 if more.value > 0 else -1),
    )  # fmt: skip
    show.note("tagging.ahead_none", none=number(none.value), uni=number(uni.value))


def _letters(p: Tagging, show: Show) -> None:
    taggers = show.job(
        train_taggers, name="taggers", task=p.task, seed=p.training, so_far=(losses_so_far,)
    )  # fmt: skip
    typed = p.english if p.task == "capitals" else p.chinese
    found: TaggedText = show.run(tag_text, p.task, taggers, typed, p.ahead, name="found")
    show.figure(tagged_text, found, p.ahead)
    losses = found.losses.sum(1)
    for k, wiring in ((0, "uni"), (2, "bi")):
        show.metric(f"loss_{wiring}", float(losses[k]))
    _say_letters(p, found, show)
    if found.unknown:
        show.note("tagging.unknown", unknown=found.unknown, letters=found.letters)
    if len(typed) > MOST:
        show.note("tagging.longer", most=MOST, all=len(typed))


def _say_letters(p: Tagging, found: TaggedText, show: Show) -> None:
    uni, two, bi, cut = found.wrong.sum(1).tolist()
    show.note("tagging.letters", letters=found.letters, uni=uni, two=two, bi=bi, cut=cut,
              ahead=p.ahead)  # fmt: skip
    framed = found.needs_right.nonzero()[0].tolist()
    named = [
        show.words("tagging.letter", sign=literal(found.text[t]), place=t + 1,
                   said=literal(_said(found, 0, t)), true=literal(_said(found, 2, t)))
        for t in framed[:_LISTED]
    ]  # fmt: skip
    if named:
        show.note("tagging.framed", many=len(framed), letters=show.words("tagging.and").join(named))
    else:
        show.note("tagging.framed_none")
    losses = found.losses
    worst = int(losses[0].argmax())
    show.note("tagging.loss", uni=number(losses[0].sum()), bi=number(losses[2].sum()),
              place=worst + 1, sign=literal(found.text[worst]), at_uni=number(losses[0, worst]),
              at_bi=number(losses[2, worst]))  # fmt: skip


def _said(found: TaggedText, row: int, t: int) -> str:
    """What a network says of a letter: the letter as it would write it, or its tag."""
    if found.task == "capitals":
        return found.shown(row)[t]
    return TAGS["words"][found.answers[row, t]]
