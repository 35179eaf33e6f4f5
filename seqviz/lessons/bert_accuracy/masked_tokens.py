"""Benches on masked words and tokens: sentiment under masking, BERT's pretraining task."""

from __future__ import annotations

from dataclasses import dataclass, replace

from seqviz.compute.bert_accuracy import corruption
from seqviz.compute.bert_accuracy.results import ORDERS, TREATMENTS
from seqviz.core.i18n import percent
from seqviz.experiments.bert_accuracy import fill, shipped, systems, word_masking
from seqviz.figures.bert_accuracy.fill import (
    best_guesses,
    fill_in_accuracy,
    fill_in_accuracy_by_share,
)
from seqviz.figures.bert_accuracy.word_masking import accuracy_under_masking, sentence_under_masking
from seqviz.lessons.bert_accuracy.comparison_notes import say_compared
from seqviz.lessons.bert_accuracy.encoders import (
    FILMS,
    MAX_PASTED_CHARS,
    MAX_SENTENCE_TOKENS,
    REVIEW,
    TESTED_ON,
    choose_token,
    classified,
    last_token,
    model_menu,
)
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
from seqviz.lessons.framework.show import Show

UNLIKELY = 100  # target: the truth has a rank above this


@dataclass(frozen=True)
class MaskedParams:
    """Controls of the bench on sentiment under masking."""

    view: str = view(("class", "own"), "class")
    text: str = text_input(REVIEW, MAX_PASTED_CHARS, above=True, when=on(view="own"))
    order: str = choice(ORDERS, "random", menu=True)
    share: int = slider(0, 100, 35, 5, unit="percent")
    all_lines: bool = toggle(False, when=on(view="class"), more=True)
    sentences: int = stops(TESTED_ON, shipped.SENTENCES, more=True, when=on(view="class"))
    model: str = model_menu()


def own_masking(p: MaskedParams, show: Show) -> None:
    """Show a student's sentence with masked words."""
    classified(p.model, p.text, word_masking.MAX_USER_TOKENS, show)
    masking = show.run(word_masking.mask_user_text, p.model, p.text)
    masked = corruption.count(p.share / 100, len(masking.words))
    show.figure(sentence_under_masking, masking, p.order, masked)
    gone = masking.masked_words(p.order, masked)
    pieces = [f"{'[MASK]' if out else w} " for w, out in zip(masking.words, gone, strict=True)]
    show.passage(pieces, gone, signed=False, title=show.option("order", p.order))
    show.readout("positive", masking.positive, p.order, masked)
    show.readout("words_masked", masking.words_masked, masked)
    turned = show.readout("undecided", masking.undecided, p.order)
    here, full = (masking.positive(p.order, count) for count in (masked, 0))
    key = "own_kept" if turned is None else "own_turned"
    show.note(key, masked=masked, words=len(masking.words), here=here, whole=full, turned=turned)


def masking(p: MaskedParams, show: Show) -> None:
    if p.view == "own":
        return own_masking(p, show)
    guess = show.run(systems.majority, sentences=p.sentences, name="guess")
    share = p.share / 100
    request = {**shipped.KNIFE, "model": p.model}
    controls = show.shipped(word_masking.controls, name="controls", **request)
    result = show.job(
        word_masking.mask_words, **{**shipped.KNIFE, "model": p.model, "sentences": p.sentences},
        then=(accuracy_under_masking, p.order, share, guess, controls, p.all_lines),
    )  # fmt: skip
    tried = percent(result.nearest(share), 0)
    show.readout("accuracy_here", result.accuracy, p.order, share, caption=tried)
    show.readout("says_positive", result.says_positive, p.order, share)
    show.readout("accuracy_whole", result.accuracy, p.order, 0.0)
    show.metric("majority", guess)
    if controls is not None:
        fall = show.derive(result.fall, controls, share, name="fall")
        show.facts(fall.parts, note="fall")
    if p.order == "random" and not p.all_lines:
        return  # no other order is drawn
    other = "random" if p.order != "random" else "function"
    pair = show.derive(result.compared, p.order, other, share, name="pair")
    say_compared((show.option("order", p.order), show.option("order", other)), pair, show)


@dataclass(frozen=True)
class FillParams:
    """Controls of the bench on masked-token prediction."""

    view: str = view(("treatments", "share"), "treatments")
    selected: int = slider(5, 100, 15, 5, unit="percent")
    mask: int = slider(0, 100, 80, 5, when=on(view="treatments"), unit="percent")
    random: int = slider(
        0, 100, 10, 5, within=lambda v: 100 - v["mask"],
        when=lambda v: v["view"] == "treatments" and v["mask"] < 100,
        unit="percent", more=True)  # fmt: skip
    sentences: int = stops(TESTED_ON, shipped.SENTENCES, more=True)


def fill_in(p: FillParams, show: Show) -> None:
    share, settings = p.selected / 100, replace(shipped.FILL, sentences=p.sentences)
    if p.view == "share":
        fill_ins = show.job(
            fill.fill_in_by_share, settings=settings, shares=shipped.SELECTED,
            model=shipped.MODEL, then=(fill_in_accuracy_by_share, share),
        )  # fmt: skip
        item = min(fill_ins, key=lambda each: abs(each.settings.share - share))
    else:
        settings = replace(settings, share=share, mask=p.mask / 100, random=p.random / 100)
        item = show.job(
            fill.fill_in, settings=settings, model=shipped.MODEL, then=(fill_in_accuracy,)
        )
    for index, treatment in enumerate(TREATMENTS):
        show.readout(f"top_{treatment}", item.top, 1, index)
    show.readout("top_frequent", item.by_frequency, 1)
    right = item.first_guesses()
    parts = " · ".join(
        show.words("note.fill_part", name=show.text(f"figure.acc_condition_{name}"), right=each)
        for name, each in right.items()
    )
    key = "fill" if len(right) == len(TREATMENTS) else "fill_some"
    show.note(key, parts=parts, item=item, frequent=item.by_frequency(1), **right)


@dataclass(frozen=True)
class GuessParams:
    """Controls of the bench on one token of a student's sentence."""

    text: str = text_input(FILMS, MAX_PASTED_CHARS, above=True)
    place: int = step_slider(1, MAX_SENTENCE_TOKENS, 7, within=last_token)
    seed: int = seed(0, more=True)


def _chance(share: float) -> str:
    return "< 0.1%" if share < 0.0005 else percent(share)  # as in the figure


def guess_token(p: GuessParams, show: Show) -> None:
    index = choose_token(p.text, p.place, show)
    result = show.run(fill.guesses, shipped.MODEL, p.text, index, seed=p.seed)
    show.figure(best_guesses, result)
    for name, treatment in zip(("rank", "rank_random", "rank_kept"), TREATMENTS, strict=True):
        show.readout(name, result.rank_of, treatment, caption=_chance(result.chance_of(treatment)))
    rank, best = result.rank_of("mask"), result.candidates[0][0]
    key = "guess" if rank > 1 else "guess_right"
    other = result.visible("random")
    show.note(key, best=best, chance=result.probability[0, 0], truth=result.truth, rank=rank,
              other=other)  # fmt: skip
    show.target("surprise", rank > UNLIKELY, rank=rank)
