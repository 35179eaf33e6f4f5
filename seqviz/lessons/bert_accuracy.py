"""Masked or not: what the word means four times, and what each costs in accuracy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from seqviz.compute import proportions
from seqviz.compute.accuracy import corruption, counting, reported
from seqviz.compute.accuracy.findings import FEATURES, METHODS, ORDERS, SIDES, TuneSettings
from seqviz.experiments.accuracy import (
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
)
from seqviz.experiments.accuracy import (
    word_masking as knife,
)
from seqviz.figures.accuracy.compare import confusion_matrices, paired_answers, running_accuracy
from seqviz.figures.accuracy.counts import parameter_counts
from seqviz.figures.accuracy.curves import learning_curves
from seqviz.figures.accuracy.direction import accuracy_by_direction
from seqviz.figures.accuracy.fill import best_guesses, fill_in_accuracy, fill_in_accuracy_by_share
from seqviz.figures.accuracy.ids import token_ids
from seqviz.figures.accuracy.modes import train_and_eval
from seqviz.figures.accuracy.padding import padding_effect, sentence_padding
from seqviz.figures.accuracy.progress import training_progress
from seqviz.figures.accuracy.regimes import system_accuracies
from seqviz.figures.accuracy.search import best_so_far, search_trials
from seqviz.figures.accuracy.word_masking import accuracy_under_masking, sentence_under_masking
from seqviz.lessons.bench import accuracy_words as readouts
from seqviz.lessons.bench.controls import choice, seed, sentence, slider, stepper, toggle, view
from seqviz.lessons.bench.controls import steps as stops
from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.bench.output import COMPUTED, Provenance
from seqviz.lessons.bench.show import Show
from seqviz.models import pretrained, store, texts
from seqviz.refusal import Problem
from seqviz.text import number, percent

MODELS = {record.name: record for record in store.offered() if record.kind == "encoder"}
DEFAULT = shipped.MODEL if shipped.MODEL in MODELS else next(iter(MODELS), shipped.MODEL)
REVIEW = "The story is simple, but the acting is wonderful and the film is a delight to watch."
MIXED = "The acting is fine, but the story is not as funny as it wants to be."
FILMS = "This is one of the best films of the year."
PASTED = 2000  # characters of a text field
LONGEST = 60  # tokens of a student's sentence that can be chosen
RATES = (1e-5, 3e-5, 5e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
TRAINED_ON = (50, 100, 200, 500, 1000, 2000, 4000, 7272)
TESTED_ON = (200, 500, shipped.SENTENCES)
READ = 30  # sentences to read, of those on which two systems differ
PARTS = {
    "token": ("knife", "fill", "guess"),
    "padding": ("padding",),
    "direction": ("looks",),
    "weights": ("heads", "tune", "count", "search", "modes"),
}

lesson = Lesson(
    "bert_accuracy",
    PARTS,
    code=(proportions.wilson, proportions.mcnemar, corruption.select, heads.fit),
)


def seen(*names):
    return lambda v: v["view"] in names


def model_menu():
    """Which encoder; not asked where there is only one."""
    return choice(tuple(MODELS) or (DEFAULT,), DEFAULT, menu=True, more=True, when=several)


def several(_):
    return len(MODELS) > 1


@dataclass(frozen=True)
class Knife:
    """Sentiment while words are masked."""

    view: str = view(("class", "own"), "class")
    text: str = sentence(REVIEW, PASTED, above=True, when=seen("own"))
    order: str = choice(ORDERS, "random", menu=True)
    share: int = slider(0, 100, 35)
    sentences: int = stops(TESTED_ON, shipped.SENTENCES, more=True, when=seen("class"))
    model: str = model_menu()


@dataclass(frozen=True)
class Fill:
    """The tokens that BERT's training hides."""

    view: str = view(("treatments", "share"), "treatments")
    selected: int = slider(5, 100, 15, 5)
    mask: int = slider(0, 100, 80, 5, when=seen("treatments"))
    random: int = slider(
        0, 100, 10, 5, within=lambda v: 100 - v["mask"],
        when=lambda v: v["view"] == "treatments" and v["mask"] < 100,
    )  # fmt: skip
    sentences: int = stops(TESTED_ON, shipped.SENTENCES, more=True)


@dataclass(frozen=True)
class Guess:
    """One token of one's own sentence."""

    text: str = sentence(FILMS, PASTED, above=True)
    place: int = stepper(1, LONGEST, 7)
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class Pads:
    """Padding, told or not told."""

    view: str = view(("accuracy", "flipped", "drift", "on_pads", "own", "tokens"), "accuracy")
    text: str = sentence(REVIEW, PASTED, above=True, when=seen("own", "tokens"))
    length: int = stops(shipped.LENGTHS, 128, when=lambda v: v["view"] != "tokens")
    side: str = choice(SIDES, "right", when=lambda v: v["view"] != "tokens")
    sentences: int = stops(
        TESTED_ON, 2000, more=True, when=lambda v: v["view"] not in ("own", "tokens")
    )
    model: str = model_menu()


@dataclass(frozen=True)
class Looks:
    """Both ways, only left, only right."""

    view: str = view(("class", "own"), "class")
    text: str = sentence(FILMS, PASTED, above=True, when=seen("own"))
    place: int = stepper(1, LONGEST, 7, when=seen("own"))
    sentences: int = stops(TESTED_ON, shipped.SENTENCES, more=True, when=seen("class"))


@dataclass(frozen=True)
class Heads:
    """A head on the frozen encoder: trained while you watch."""

    feature: str = choice(FEATURES, shipped.HEAD.feature)
    head_rate: float = stops(RATES, shipped.HEAD.head_rate)
    epochs: int = slider(1, 20, shipped.HEAD.epochs)
    sentences: int = stops(TRAINED_ON, shipped.HEAD.sentences)
    runs: int = slider(1, 5, shipped.HEAD.runs)
    texts: bool = toggle(False, more=True)
    model: str = model_menu()


@dataclass(frozen=True)
class Tune:
    """More than the head: last layers, adapters, all weights."""

    regime: str = choice(("top", "lora", "all"), "all")
    layers: int = slider(1, 6, 2, when=lambda v: v["regime"] == "top")
    rank: int = stops((1, 2, 4, 8, 16, 32), 8, when=lambda v: v["regime"] == "lora")
    rate: float = stops(RATES[:6], shipped.TUNE.rate)
    sentences: int = stops(TRAINED_ON, shipped.TUNE.sentences)
    epochs: int = slider(1, 5, shipped.TUNE.epochs)
    head_rate: float = stops(RATES, shipped.TUNE.head_rate, more=True)
    feature: str = choice(FEATURES, shipped.TUNE.feature, more=True)
    runs: int = slider(1, 5, shipped.TUNE.runs, more=True)
    texts: bool = toggle(False, more=True, when=lambda v: v["regime"] == "all")
    model: str = model_menu()


@dataclass(frozen=True)
class Count:
    """How many weights are trained."""

    network: str = choice(tuple(counting.CONFIGS), "bert_base", menu=True)
    regime: str = choice(("head", "top", "lora", "all"), "head")
    layers: int = slider(1, 12, 2, when=lambda v: v["regime"] == "top")
    rank: int = stops((1, 2, 4, 8, 16, 32), 8, when=lambda v: v["regime"] == "lora")


@dataclass(frozen=True)
class Search:
    """Looking for a learning rate and a batch size within a budget."""

    view: str = view(("surface", "race"), "surface")
    method: str = choice(METHODS, "bayes", when=seen("surface"))
    budget: int = stops((6, 9, 12, 18, 24, 30), 12)
    feature: str = choice(FEATURES, "mean", more=True)
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class Modes:
    """train() and eval()."""

    text: str = sentence(MIXED, PASTED, above=True)
    repeats: int = slider(5, 50, 20)
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class Compare:
    """Any two systems on the same sentences."""

    view: str = view(("systems", "running", "paired", "confusion"), "systems")
    first: str = choice(systems.NAMES, "all", menu=True)
    second: str = choice(
        systems.NAMES, "head_mean", menu=True, when=lambda v: v["view"] != "systems"
    )
    sentences: int = slider(20, 2000, 2000, 20, when=lambda v: v["view"] != "systems")


def right(probability: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Which answers are right; sentences without an answer are left out."""
    there = ~np.isnan(probability)
    return (probability[there] > 0.5) == positive[there]


def majority(part: str = "test") -> proportions.Proportion:
    """Always the class that is more frequent in training, on the sentences of a part."""
    parts = features.parts()
    return proportions.majority(parts["train"].positive, parts[part].positive)


def read(model: str, text: str, longest: int, show: Show) -> tuple[str, ...]:
    """The tokens of a student's sentence; a refusal where there are none.

    longest: how many are read, [CLS] and [SEP] among them; where that is not all, the page says so.
    """
    found = texts.tokens(pretrained.load(model), text)
    pieces = found.pieces[1:-1]
    if not pieces:
        raise Problem("empty_text")
    if found.left_out or len(found.pieces) > longest:
        show.caption(show.words("note.first_tokens", limit=longest - 2))
    return pieces


def choose_token(show, model: str, text: str, place: int) -> int:
    """The tokens to click on; the place of the chosen one, [CLS] being 0."""
    pieces = read(model, text, texts.LONGEST, show)
    show.caption(show.words("note.guess_pieces"))
    chosen = show.pieces("place", pieces[:LONGEST], min(place, len(pieces), LONGEST))
    if len(pieces) > LONGEST:
        show.caption(show.words("note.more_tokens", limit=LONGEST))
    return chosen


def need_head(model: str, show: Show) -> None:
    """The standard head is there, or can be fitted at once; else the vectors that it needs wait."""
    if not (heads.known(model) or features.ready(model)):
        show.note("features_first")
        show.job(features.make, name="made", model=model)


def own_knife(p: Knife, show: Show) -> None:
    """A student's sentence under the knife."""
    show.model(p.model)
    need_head(p.model, show)
    read(p.model, p.text, knife.OWN, show)
    found = show.run(knife.own_knife, p.model, p.text, name="found")
    row, words = found.orders.index(p.order), len(found.words)
    masked = corruption.count(p.share / 100, words)
    show.figure(sentence_under_masking, found, p.order, masked)
    gone = found.turns[row] < masked
    pieces = [f"{'[MASK]' if out else w} " for w, out in zip(found.words, gone, strict=True)]
    show.passage(pieces, gone.astype(float), signed=False, title=show.option("order", p.order))
    answers = found.probability[row] > 0.5
    turned = np.flatnonzero(answers != answers[0])
    show.metrics(
        positive=percent(found.probability[row, masked]),
        words_masked=f"{masked} / {words}",
        undecided=str(turned[0]) if len(turned) else "–",
    )


def own_padding(p: Pads, show: Show) -> None:
    """A student's sentence with more and more padding."""
    show.model(p.model)
    need_head(p.model, show)
    read(p.model, p.text, encoding.LONGEST, show)
    lengths = shipped.LENGTHS[: 1 if p.view == "tokens" else None]
    found = show.run(padding.own_padding, p.model, p.text, lengths, name="found")
    real = int(found.real.sum())
    if p.view == "tokens":
        show.figure(token_ids, found)
        longest = max(shipped.LENGTHS)
        show.note("ids_real", real=real, length=longest, pads=longest - real)
        return
    show.figure(sentence_padding, found, p.length)
    at = shipped.LENGTHS.index(p.length)
    side = SIDES.index(p.side)
    show.metrics(
        positive=percent(found.plain),
        positive_told=percent(found.probability[0, side, at]),
        positive_untold=percent(found.probability[1, side, at]),
        on_pads=percent(found.on_pads[1, side, at]),
    )


def say_what_was_trained(found, show: Show) -> None:
    """Read-outs of a trained classifier."""
    truth = systems.truth()
    runs = np.array([right(row, truth).mean() for row in found.probability])
    middle = proportions.of(round(float(runs.mean()) * len(truth)), len(truth))
    show.metrics(
        trained=readouts.accuracy(middle),
        spread=f"{100 * runs.min():.1f}–{percent(runs.max())}" if len(runs) > 1 else "–",
        trainable=(f"{found.trainable:,}", f"/ {found.total:,}"),
        seconds=f"{found.seconds:.2g} s"
        if found.seconds < 100
        else f"{found.seconds / 60:.0f} min",
    )


@lesson.bench("knife", Knife)
def knife_bench(p: Knife, show: Show) -> None:
    if p.view == "own":
        own_knife(p, show)
        return
    found = show.job(
        knife.knife,
        name="found",
        **{**shipped.KNIFE, "model": p.model, "sentences": p.sentences},
    )
    guess, share = majority(), p.share / 100
    show.figure(accuracy_under_masking, found, p.order, share, guess)
    at = int(np.argmin(abs(found.shares - share)))
    answers = found.probability[:, at]
    row = found.orders.index(p.order)
    here = right(answers[row], found.positive)
    value, ends = readouts.accuracy(proportions.proportion(here))
    whole = right(found.probability[0, 0], found.positive)
    show.metrics(
        accuracy_here=(value, f"{percent(found.shares[at], 0)}: {ends}"),
        says_positive=percent((answers[row] > 0.5).mean()),
        accuracy_whole=readouts.accuracy(proportions.proportion(whole)),
        majority=readouts.accuracy(guess),
    )
    other = "random" if p.order != "random" else "function"
    names = show.option("order", p.order), show.option("order", other)
    there = right(answers[found.orders.index(other)], found.positive)
    readouts.mcnemar(show, names, here, there)


@lesson.bench("fill", Fill)
def fill_bench(p: Fill, show: Show) -> None:
    share = p.selected / 100
    settings = replace(
        shipped.FILL,
        share=share,
        mask=p.mask / 100,
        random=p.random / 100,
        sentences=p.sentences,
    )
    if p.view == "share":
        settings = replace(shipped.FILL, sentences=p.sentences)
        found = show.job(
            fill.fill_in_by_share,
            name="found",
            settings=settings,
            shares=shipped.SELECTED,
            model=shipped.MODEL,
        )
        show.figure(fill_in_accuracy_by_share, found, share)
        shares = np.array([one.settings.share for one in found])
        one = found[int(np.argmin(abs(shares - share)))]
    else:
        one = show.job(fill.fill_in, name="found", settings=settings, model=shipped.MODEL)
        show.figure(fill_in_accuracy, one)
    top = {
        name: readouts.accuracy(one.top(1, place))
        for place, name in enumerate(("top_mask", "top_random", "top_kept"))
    }
    show.metrics(**top, top_frequent=readouts.accuracy(one.by_frequency(1)))


@lesson.bench("guess", Guess)
def guess_bench(p: Guess, show: Show) -> None:
    show.model(shipped.MODEL)
    place = choose_token(show, shipped.MODEL, p.text, p.place)
    found = show.run(fill.guesses, shipped.MODEL, p.text, place, seed=p.seed, name="found")
    show.figure(best_guesses, found)
    ranked = [
        (f"{rank:,}", percent(chance))
        for rank, chance in zip(found.rank, found.chance, strict=True)
    ]
    show.metrics(rank=ranked[0], rank_random=ranked[1], rank_kept=ranked[2])


@lesson.bench("padding", Pads)
def padding_bench(p: Pads, show: Show) -> None:
    if p.view in ("own", "tokens"):
        own_padding(p, show)
        return
    found = show.job(
        padding.padding,
        name="found",
        **{**shipped.PADDING, "model": p.model, "sentences": p.sentences},
    )
    show.figure(
        padding_effect,
        found,
        p.view,
        p.length,
        p.side,
        majority(),
    )
    side, at = SIDES.index(p.side), int(np.flatnonzero(found.lengths == p.length)[0])
    told, untold = found.probability[:, side, at]
    there = ~np.isnan(untold)
    flipped = (untold[there] > 0.5) != (found.plain[there] > 0.5)
    show.metrics(
        told=readouts.accuracy(proportions.proportion(right(told, found.positive))),
        untold=readouts.accuracy(proportions.proportion(right(untold, found.positive))),
        flipped=readouts.accuracy(proportions.proportion(flipped)),
        on_pads=percent(np.nanmean(found.on_pads[1, side, at])),
    )
    names = show.words("metric.told.label"), show.words("metric.untold.label")
    readouts.mcnemar(show, names, right(told, found.positive), right(untold, found.positive))
    if p.side == "left":
        show.note("left_side")


@lesson.bench("looks", Looks)
def looks_bench(p: Looks, show: Show) -> None:
    if p.view == "own":
        show.model(shipped.MODEL)
        place = choose_token(show, shipped.MODEL, p.text, p.place)
        one = show.run(fill.guesses_by_direction, shipped.MODEL, p.text, place, name="found")
        show.figure(best_guesses, one)
        return
    found = show.job(
        direction.direction,
        name="found",
        **{**shipped.DIRECTION, "sentences": p.sentences},
    )
    show.figure(accuracy_by_direction, found, majority())
    both, left = (right(found.probability[row], found.positive) for row in (0, 1))
    first = found.rank == 1
    show.metrics(
        look_both=readouts.accuracy(proportions.proportion(both)),
        look_left=readouts.accuracy(proportions.proportion(left)),
        look_refitted=readouts.accuracy(
            proportions.proportion(right(found.refitted[1], found.positive))
        ),
        look_fill=readouts.accuracy(proportions.proportion(first[1])),
    )
    names = show.words("metric.look_both.label"), show.words("metric.look_left.label")
    readouts.mcnemar(show, names, both, left)


@lesson.bench("heads", Heads)
def heads_bench(p: Heads, show: Show) -> None:
    settings = TuneSettings(
        p.model,
        "head",
        p.feature,
        sentences=p.sentences,
        epochs=p.epochs,
        head_rate=p.head_rate,
        runs=p.runs,
    )
    found = show.shipped(tuning.tune, name="found", settings=settings)
    if found is None or (pretrained.loaded(p.model) and features.ready(p.model)):
        show.model(p.model)
        need_head(p.model, show)
        found = show.run(heads.train_head, settings, name="found")
        show.origin = COMPUTED
    steps = settings.epochs * -(-min(settings.sentences, 7272) // settings.batch)
    text = reported.CURVES[0] if p.texts else None
    show.figure(learning_curves, found, text, majority("validation"))
    say_what_was_trained(found, show)
    reach = reported.adam_reach(settings.head_rate, steps)
    show.note("adam", steps=f"{steps:,}", rate=f"{settings.head_rate:g}", reach=number(reach, 2))


@lesson.bench("tune", Tune)
def tune_bench(p: Tune, show: Show) -> None:
    settings = TuneSettings(
        p.model,
        p.regime,
        p.feature,
        p.sentences,
        p.epochs,
        p.rate,
        p.head_rate,
        p.layers,
        p.rank,
        runs=p.runs,
    )
    show.note("shipped_runs")
    text, guess = reported.CURVES[1] if p.texts else None, majority("validation")
    found = show.job(
        tuning.tune,
        name="found",
        settings=settings,
        then=(learning_curves, text, guess),
        so_far=(training_progress, settings, guess),
    )
    say_what_was_trained(found, show)
    show.caption(show.words("note.split"))


@lesson.bench("count", Count)
def count_bench(p: Count, show: Show) -> None:
    config = counting.CONFIGS[p.network]
    layers = min(p.layers, config.layers)
    found = show.run(counting.count, config, p.regime, layers, p.rank, name="found")
    title = f"{show.option('network', p.network)}, {show.option('regime', p.regime)}"
    show.figure(parameter_counts, found, title)
    show.metrics(
        total=f"{found.total:,}",
        trainable=f"{found.trainable:,}",
        share_trained=f"{100 * found.trainable / found.total:.3g} %",
    )


@lesson.bench("search", Search)
def search_bench(p: Search, show: Show) -> None:
    settings = [
        replace(shipped.SEARCH, feature=p.feature, method=m, budget=p.budget, seed=p.seed)
        for m in (METHODS if p.view == "race" else (p.method,))
    ]
    found = show.job(search.searches, name="found", settings=tuple(settings))
    if p.view == "race":
        show.figure(best_so_far, found)
    else:
        surface = show.shipped(
            search.surface, name="surface", model=shipped.MODEL, feature=p.feature
        )
        show.figure(search_trials, found[0], surface)
    one = max(found, key=lambda each: each.validation[each.best])
    tested = right(one.probability, systems.truth())
    judges = features.VALIDATION
    show.metrics(
        best=readouts.accuracy(proportions.of(round(one.validation[one.best] * judges), judges)),
        best_rate=(number(float(one.rate[one.best]), 2), f"{one.batch[one.best]}"),
        best_test=readouts.accuracy(proportions.proportion(tested)),
    )


@lesson.bench("modes", Modes)
def modes_bench(p: Modes, show: Show) -> None:
    show.model(shipped.MODEL)
    need_head(shipped.MODEL, show)
    read(shipped.MODEL, p.text, encoding.LONGEST, show)
    found = show.run(modes.modes, shipped.MODEL, p.text, p.repeats, p.seed, name="found")
    show.figure(train_and_eval, found)
    spread = np.ptp(found.probability, axis=1)
    show.metrics(spread_eval=percent(spread[0]), spread_train=percent(spread[1]))


@lesson.bench("compare", Compare)
def compare_bench(p: Compare, show: Show) -> None:
    when = systems.origin()
    origin = Provenance("precomputed", f"{when.date} · {when.device}")
    truth = show.run(systems.truth, name="positive")
    if p.view == "systems":
        answers = show.run(systems.answers, name="found")
        show.figure(
            system_accuracies,
            answers,
            truth,
            p.first,
            majority(),
            reported.REPORTED,
            provenance=origin,
        )
        show.caption(show.words("note.seeds", n=f"{len(truth):,}"))
        return
    names = show.option("first", p.first), show.option("second", p.second)
    first = show.run(systems.first_run, p.first, name="first")
    second = show.run(systems.first_run, p.second, name="second")
    n = p.sentences
    if p.view == "confusion":
        tables = [
            show.run(proportions.confusion, truth[:n], said[:n], name=f"{name}_table")
            for name, said in (("first", first.positive), ("second", second.positive))
        ]
        show.figure(confusion_matrices, *tables, names)
    a, b = first.right, second.right
    if p.view == "running":
        runs = [
            show.run(proportions.running, one, name=f"{name}_running")
            for name, one in (("first", a), ("second", b))
        ]
        show.figure(running_accuracy, *runs, names, n)
    elif p.view == "paired":
        pair = show.run(proportions.mcnemar, a[:n], b[:n], name="pair")
        show.figure(paired_answers, pair, names)
    found = readouts.mcnemar(show, names, a[:n], b[:n])
    discordant = (found.only_first + found.only_second) / found.n
    needed = proportions.needed_n(float(a[:n].mean()), float(b[:n].mean()), discordant)
    show.metrics(
        system_a=readouts.accuracy(proportions.proportion(a[:n])),
        system_b=readouts.accuracy(proportions.proportion(b[:n])),
        p_value=readouts.p_value(found.p),
        needed=f"{needed:,.0f}" if np.isfinite(needed) else "∞",
    )
    differ = np.flatnonzero(a[:n] != b[:n])
    shown = differ[:READ]
    sentences = features.parts()["test"].texts
    show.caption(show.words("note.disagree", shown=len(shown), count=f"{len(differ):,}"))
    classes = show.words("class.negative"), show.words("class.positive")
    show.rows(
        "differ",
        {
            "sentence": [sentences[i] for i in shown],
            "truth": [classes[int(truth[i])] for i in shown],
            "first": [percent(first.probability[i], 0) for i in shown],
            "second": [percent(second.probability[i], 0) for i in shown],
        },
    )


REPLACED = ((400, 0.15), (200, 0.15), (1000, 0.15), (500, 0.4), (2000, 0.3))
JUDGED = ((80, 100), (1600, 2000), (320, 400), (45, 50), (500, 1000))


def replaced(tokens: int, share: float) -> float:
    """Tokens that BERT's training replaces by another one."""
    return tokens * share * 0.1


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
