"""Benches on tokens that are not attended to: padding, and one direction."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute.bert_accuracy.results import DIRECTIONS, FEATURES, SIDES, TOLD
from seqviz.experiments.bert_accuracy import direction, encoding, fill, padding, shipped, systems
from seqviz.figures.bert_accuracy.direction import accuracy_by_direction
from seqviz.figures.bert_accuracy.fill import best_guesses
from seqviz.figures.bert_accuracy.ids import token_ids
from seqviz.figures.bert_accuracy.padding import padding_effect, sentence_padding
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
from seqviz.lessons.framework.controls import choice, on, step_slider, text_input, view
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show

MEASURED = ("accuracy", "flipped", "drift", "on_pads")  # views on the test sentences


@dataclass(frozen=True)
class PadsParams:
    """Controls of the bench on padding, with and without the mask."""

    view: str = view((*MEASURED, "own", "tokens"), "accuracy")
    text: str = text_input(REVIEW, MAX_PASTED_CHARS, above=True, when=on(view=("own", "tokens")))
    length: int = stops(shipped.LENGTHS, 128, when=on(view=(*MEASURED, "own")), unit="tokens")
    side: str = choice(SIDES, "right", when=on(view=(*MEASURED, "own")))
    sentences: int = stops(TESTED_ON, 2000, more=True, when=on(view=MEASURED))
    model: str = model_menu()


def own_padding(p: PadsParams, show: Show) -> None:
    """Show a student's sentence with more and more padding."""
    classified(p.model, p.text, encoding.MAX_TOKENS, show)
    if p.view == "tokens":
        short = show.run(padding.pad_user_text, p.model, p.text, shipped.LENGTHS[:1])
        show.figure(token_ids, short)
        real, longest = short.n_real, max(shipped.LENGTHS)
        return show.note("ids_real", real=real, length=longest, pads=longest - real)
    result = show.run(padding.pad_user_text, p.model, p.text, shipped.LENGTHS)
    show.figure(sentence_padding, result, p.length)
    show.facts(
        result.answers, p.side, p.length, note="own_pads", side=show.option("side", p.side),
        metrics=("positive_plain", "positive_told", "positive_untold", "on_pads"),
    )  # fmt: skip


def padded(p: PadsParams, show: Show) -> None:
    if p.view not in MEASURED:
        return own_padding(p, show)
    guess, in_mean = show.run(systems.majority, sentences=p.sentences, name="guess"), None
    if p.side == "right":
        about = {**shipped.PADS_IN_MEAN, "model": p.model}
        in_mean = show.shipped(padding.pads_in_mean, name="in_mean", **about)
    result = show.job(
        padding.padding, **{**shipped.PADDING, "model": p.model, "sentences": p.sentences},
        then=(padding_effect, p.view, p.length, p.side, guess, in_mean),
    )  # fmt: skip
    for masking in TOLD:
        show.readout(masking, result.accuracy, masking, p.side, p.length)
    show.readout("flipped", result.flipped, p.side, p.length)
    show.readout("on_pads", result.on_pads_untold, p.side, p.length)
    names = show.words("metric.told.label"), show.words("metric.untold.label")
    say_compared(names, show.derive(result.compared, p.side, p.length, name="pair"), show)
    if p.view in ("drift", "on_pads"):
        given, out = (result.middle(p.view, masking, p.side, p.length) for masking in TOLD)
        key = "median_drift" if p.view == "drift" else "median_attention"
        show.note(key, length=p.length, given=given, out=out)
    elif in_mean is not None:
        show.facts(in_mean.answers, p.length, result.unpadded, note="in_mean")
    if p.side == "left":
        show.note("left_side")


@dataclass(frozen=True)
class DirectionsParams:
    """Controls of the bench on the attention direction."""

    view: str = view(("class", "own"), "class")
    text: str = text_input(FILMS, MAX_PASTED_CHARS, above=True, when=on(view="own"))
    place: int = step_slider(1, MAX_SENTENCE_TOKENS, 7, when=on(view="own"), within=last_token)
    feature: str = choice(FEATURES[:2], "mean", when=on(view="class"))
    sentences: int = stops(TESTED_ON, shipped.SENTENCES, more=True, when=on(view="class"))


def directions(p: DirectionsParams, show: Show) -> None:
    if p.view == "own":
        index = choose_token(p.text, p.place, show)
        guesses = show.run(fill.guesses_by_direction, shipped.MODEL, p.text, index)
        show.figure(best_guesses, guesses)
        ranks = {direction: guesses.rank_of(direction) for direction in DIRECTIONS}
        return show.note("looks_own", truth=guesses.truth, **ranks)
    guess = show.run(systems.majority, sentences=p.sentences, name="guess")
    request = shipped.BY_CLS if p.feature == "cls" else shipped.DIRECTION
    result = show.job(
        direction.direction, **{**request, "sentences": p.sentences},
        then=(accuracy_by_direction, guess),
    )  # fmt: skip
    show.readout("look_both", result.accuracy, "both")
    show.readout("look_left", result.accuracy, "left")
    show.readout("look_refitted", result.refitted_accuracy, "left")
    show.readout("look_fill", result.guessed, "left")
    task = show.words("note.sentiment")
    show.facts(result.both_and_left, note="looks", task=task)
    low, high = result.ends("left")
    if p.feature == "cls" and round(low, 4) == round(high, 4):
        show.note("looks_cls", chance=low, n=len(result.positive))
    names = show.words("metric.look_both.label"), show.words("metric.look_left.label")
    say_compared(names, show.derive(result.compared, "both", "left", name="pair"), show)
