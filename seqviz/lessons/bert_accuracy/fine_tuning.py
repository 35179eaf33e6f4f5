"""Benches on training: heads, last layers, adapters, all weights; search; modes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from seqviz.compute import replicates
from seqviz.compute.bert_accuracy import counting, reported, searching
from seqviz.compute.bert_accuracy.results import FEATURES, METHODS, Tuned, TuneSettings, reached
from seqviz.experiments.bert_accuracy import (
    encoding,
    features,
    heads,
    modes,
    search,
    shipped,
    systems,
    tuning,
)
from seqviz.experiments.bert_accuracy.training import steps_of
from seqviz.figures.bert_accuracy.counts import parameter_counts
from seqviz.figures.bert_accuracy.curves import learning_curves
from seqviz.figures.bert_accuracy.modes import train_and_eval
from seqviz.figures.bert_accuracy.progress import training_progress
from seqviz.figures.bert_accuracy.search import best_so_far, search_trials
from seqviz.lessons.bert_accuracy.comparison_notes import say_against, say_runs
from seqviz.lessons.bert_accuracy.encoders import (
    MAX_PASTED_CHARS,
    classified,
    model_menu,
    need_head,
)
from seqviz.lessons.framework.controls import choice, on, seed, slider, text_input, toggle, view
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.host import PendingError
from seqviz.lessons.framework.lesson import SeedExperiment
from seqviz.lessons.framework.show import Show
from seqviz.models import pretrained

RATES = (1e-5, 3e-5, 5e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
TRAINED_ON = (50, 100, 200, 500, 1000, 2000, 4000, 7272)
HEADS_A_SECOND = 200_000  # sentences per second in the training of heads
MIXED = "The acting is fine, but the story is not as funny as it wants to be."


def say_trained(result: Tuned, show: Show) -> None:
    """Show the read-outs of a trained classifier."""
    positive = show.run(systems.truth, name="positive")
    show.readout("trained", result.tested, positive)
    show.readout("spread", result.spread, positive)
    show.readouts(result, "trainable", "seconds", caption={"trainable": f"/ {result.total:,}"})


@dataclass(frozen=True)
class HeadsParams:
    """Controls of the bench on heads on the frozen encoder."""

    feature: str = choice(FEATURES, shipped.HEAD.feature)
    head_rate: float = stops(RATES, shipped.HEAD.head_rate)
    epochs: int = slider(1, 20, shipped.HEAD.epochs)
    sentences: int = stops(TRAINED_ON, shipped.HEAD.sentences, more=True)
    runs: int = slider(1, 5, shipped.HEAD.runs, more=True)
    texts: bool = toggle(False, more=True)
    model: str = model_menu()


def of_head(p: HeadsParams) -> TuneSettings:
    """Return the settings of a head's training."""
    return TuneSettings(
        p.model, "head", p.feature, p.sentences, p.epochs, head_rate=p.head_rate, runs=p.runs
    )


def class_heads(p: HeadsParams, show: Show) -> SeedExperiment:
    """Return the class experiment: accuracy of each seat's head on the test sentences.

    Raises:
        PendingError: the features of the encoder are missing.
    """
    show.model(p.model)
    if not features.ready(p.model):
        raise PendingError(show.words("note.features_first"))
    settings, tested = of_head(p), len(systems.truth())
    which = "all" if p.sentences == TRAINED_ON[-1] else "some"
    return SeedExperiment(
        lambda seeds: 100 * heads.accuracies(settings, seeds),
        show.words("class.heads.quantity", n=tested),
        show.words(f"class.heads.{which}", sentences=p.sentences, n=tested),
        lambda values: replicates.share_of(float(values.mean()) / 100, tested).times(100.0),
        at_once=min(30, max(1, HEADS_A_SECOND // (p.sentences * p.epochs))),
    )


def head(p: HeadsParams, show: Show) -> None:
    settings = of_head(p)
    here = pretrained.loaded(p.model) and features.ready(p.model)
    result = None if here else show.shipped(tuning.tune, settings=settings)
    if result is None:
        show.model(p.model)
        need_head(p.model, show)
        result = show.run(heads.train_head, settings)
    guess = show.run(systems.majority, "validation", name="guess")
    show.figure(learning_curves, result, reported.CURVES[0] if p.texts else None, guess)
    say_trained(result, show)
    say_against(result, show.words("option.regime.head"), "bag_of_words", show)
    steps, rate = steps_of(settings, settings.sentences), settings.head_rate
    reach = reported.adam_reach(rate, steps, falling=True)
    show.note("adam", steps=steps, rate=f"{rate:g}".replace("e-0", "e-"), reach=reach)


@dataclass(frozen=True)
class TuneParams:
    """Controls of the bench on training last layers, adapters or all weights."""

    regime: str = choice(("top", "lora", "all"), "all")
    layers: int = slider(1, 6, 2, when=on(regime="top"))
    rank: int = stops((1, 2, 4, 8, 16, 32), 8, when=on(regime="lora"))
    rate: float = stops(RATES[:6], shipped.TUNE.rate, when=on(regime=("top", "all")))
    # Each regime opens with its shipped run; adapters need a larger rate.
    lora_rate: float = stops(RATES[:6], shipped.TUNED["lora"].rate, when=on(regime="lora"))
    sentences: int = stops(TRAINED_ON, shipped.TUNE.sentences, more=True)
    epochs: int = slider(1, 5, shipped.TUNE.epochs)
    head_rate: float = stops(RATES, shipped.TUNE.head_rate, more=True)
    feature: str = choice(FEATURES, shipped.TUNE.feature, more=True)
    runs: int = slider(1, 5, shipped.TUNE.runs, more=True)
    texts: bool = toggle(False, more=True, when=on(regime="all"))
    model: str = model_menu()


def tune(p: TuneParams, show: Show) -> None:
    rate = p.lora_rate if p.regime == "lora" else p.rate
    settings = TuneSettings(
        p.model, p.regime, p.feature, p.sentences, p.epochs, rate, p.head_rate, p.layers, p.rank,
        runs=p.runs,
    )  # fmt: skip
    show.notice("shipped_runs")
    guess = show.run(systems.majority, "validation", name="guess")
    result = show.job(
        tuning.tune, settings=settings, so_far=(training_progress, settings, guess),
        then=(learning_curves, reported.CURVES[1] if p.texts else None, guess),
    )  # fmt: skip
    say_trained(result, show)
    say_against(result, show.option("regime", p.regime), "head_mean", show)
    for name in shipped.AGAIN:
        if settings == shipped.TUNED[name]:
            say_runs(systems.predictions_of(name), show)
    show.note("epoch_time", seconds=result.epoch_seconds)
    show.caption(show.words("note.split"))


@dataclass(frozen=True)
class CountParams:
    """Controls of the bench on trainable parameters."""

    network: str = choice(tuple(counting.CONFIGS), "bert_base", menu=True)
    regime: str = choice(("head", "top", "lora", "all"), "head")
    layers: int = slider(1, 12, 2, when=on(regime="top"))
    rank: int = stops((1, 2, 4, 8, 16, 32), 8, when=on(regime="lora"))


def count(p: CountParams, show: Show) -> None:
    config = counting.CONFIGS[p.network]
    layers = min(p.layers, config.layers)
    result = show.run(counting.count, config, p.regime, layers, p.rank)
    title = f"{show.option('network', p.network)}, {show.option('regime', p.regime)}"
    show.figure(parameter_counts, result, title)
    show.readouts(result, "total", "trainable", "share_trained")
    show.facts(result.trained, note="trained")


@dataclass(frozen=True)
class SearchParams:
    """Controls of the bench on the search for learning rate and batch size."""

    view: str = view(("surface", "race"), "surface")
    method: str = choice(METHODS, "bayes", when=on(view="surface"))
    budget: int = stops((6, 9, 12, 18, 24, 30), 12)
    feature: str = choice(FEATURES, "mean", more=True)
    seed: int = seed(0, more=True)


def find_settings(p: SearchParams, show: Show) -> None:
    base = replace(shipped.SEARCH, feature=p.feature, budget=p.budget, seed=p.seed)
    if p.view == "race":
        settings = tuple(replace(base, method=method) for method in METHODS)
        results = show.job(search.searches, settings=settings, then=(best_so_far,))
        show.facts(reached, results, features.VALIDATION)
    else:
        request = {"model": shipped.MODEL, "feature": p.feature}
        existing = show.shipped(search.surface, name="known", **request)
        results = show.job(
            search.searches, settings=(replace(base, method=p.method),), first=True,
            then=(search_trials, existing),
        )  # fmt: skip
    item = max(results, key=lambda each: each.validation[each.best])
    positive = show.run(systems.truth, name="positive")
    show.readout("best", item.validated, features.VALIDATION)
    show.readouts(item, "best_rate", caption={"best_rate": f"{item.batch[item.best]}"})
    show.readout("best_test", item.tested, positive)
    show.facts(item.chosen, features.VALIDATION, positive, note="best")
    if searching.RATES[1] < 2 * item.best_rate:
        show.note("at_the_edge", rate=item.best_rate)


@dataclass(frozen=True)
class ModesParams:
    """Controls of the bench on train() and eval()."""

    text: str = text_input(MIXED, MAX_PASTED_CHARS, above=True)
    repeats: int = slider(5, 50, 20)
    seed: int = seed(0, more=True)


def both_modes(p: ModesParams, show: Show) -> None:
    classified(shipped.MODEL, p.text, encoding.MAX_TOKENS, show)
    mode_comparison = show.run(modes.modes, shipped.MODEL, p.text, p.repeats, p.seed)
    show.figure(train_and_eval, mode_comparison)
    still, noisy = (
        show.readout(f"spread_{mode}", mode_comparison.spread, mode)
        for mode in mode_comparison.modes
    )
    able = [show.words(f"note.{'yes' if can else 'no'}") for can in mode_comparison.gradient.flat]
    show.note("gradient", able=able, repeats=p.repeats, still=still, noisy=noisy)
