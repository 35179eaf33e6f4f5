"""What trainings, searches and comparisons could have found, seeded, and every figure of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from seqviz.compute.accuracy.counting import BERT_BASE, MINILM, count
from seqviz.compute.accuracy.findings import (
    Answers,
    Modes,
    Searched,
    SearchSettings,
    Surface,
    Tuned,
    TuneRecord,
    TuneSettings,
)
from seqviz.compute.accuracy.reported import CURVES, REPORTED
from seqviz.compute.proportions import Confusion, confusion, majority, mcnemar, running
from seqviz.figures.accuracy.compare import paired_view, running_view
from seqviz.figures.accuracy.confusion import confusion_view
from seqviz.figures.accuracy.counts import parts_view
from seqviz.figures.accuracy.curves import curves_view
from seqviz.figures.accuracy.modes import modes_view
from seqviz.figures.accuracy.progress import progress_view
from seqviz.figures.accuracy.race import search_race_view
from seqviz.figures.accuracy.regimes import regimes_view
from seqviz.figures.accuracy.search import search_view

SYSTEMS = {  # accuracy, runs
    "random_head": (0.52, 5), "head_pooler": (0.73, 5), "head_cls": (0.74, 5),
    "head_mean": (0.79, 5), "top_2": (0.83, 3), "lora": (0.855, 3), "all": (0.865, 3),
    "bag_of_words": (0.76, 1), "lstm": (0.74, 1), "gru": (0.75, 1), "masked_50": (0.53, 1),
    "pads_64": (0.71, 1), "pads_128": (0.68, 1), "causal": (0.75, 1),
}  # fmt: skip
SENTENCES = 2000
NAMES = ("head <b>&", "all weights")
RATES, BATCHES = np.logspace(-5, -1, 17), np.array([16, 32, 64])


def truth(sentences: int = SENTENCES) -> np.ndarray:
    return np.random.RandomState(0).uniform(size=sentences) < 0.5


def answers(share: float, runs: int = 1, seed: int = 1, sentences: int = SENTENCES) -> np.ndarray:
    """Probabilities that are on the right side about as often as told."""
    draw = np.random.RandomState(seed)
    right = draw.uniform(size=(runs, sentences)) < share
    return 0.5 + 0.4 * np.where(right == truth(sentences), 1, -1) * draw.uniform(
        0.1, 1, right.shape
    )


def systems(sentences: int = SENTENCES) -> tuple[Answers, ...]:
    return tuple(
        Answers(name, answers(share, runs, seed, sentences))
        for seed, (name, (share, runs)) in enumerate(SYSTEMS.items())
    )


def right(share: float, seed: int, sentences: int = SENTENCES) -> np.ndarray:
    """On which sentences a system is right; two of them share half of their errors."""
    hard = np.random.RandomState(7).uniform(size=sentences)
    own = np.random.RandomState(seed).uniform(size=sentences)
    return 0.5 * hard + 0.5 * own < np.quantile(0.5 * hard + 0.5 * own, share)


def tuned(runs: int = 3, epochs: int = 5, regime: str = "all") -> Tuned:
    """Losses that fall, and a validation that is best before the end."""
    draw = np.random.RandomState(2)
    time = np.arange(epochs + 1) / max(epochs, 1)
    noise = 0.02 * draw.standard_normal((3, runs, epochs + 1))
    loss = 0.69 * np.exp(-2.2 * time) + 0.01 + np.abs(noise[0]) / 4
    accuracy = 0.51 + 0.47 * (1 - np.exp(-2.5 * time)) + noise[1] / 4
    valid = 0.51 + 0.36 * (1 - np.exp(-5 * time)) - 0.03 * time**3 + noise[2] / 4
    settings = TuneSettings(regime=regime, epochs=epochs, runs=runs)
    return Tuned(
        settings, loss, accuracy, valid, answers(0.86, runs), 22_714_754, 22_714_754, 300.0
    )


def trail(settings: TuneSettings, until: float = 0.6) -> list[TuneRecord]:
    """What a training would have reported until this share of it was done."""
    draw = np.random.RandomState(3)
    epoch = -(-settings.sentences // settings.batch)
    steps = settings.epochs * epoch
    records = []
    for run in range(settings.runs):
        for step in sorted({*range(20, steps, 20), *range(epoch, steps + 1, epoch)}):
            fraction = (run + step / steps) / settings.runs
            if fraction > until:
                return records
            done, noise = step / steps, draw.standard_normal(2)
            loss, accuracy = 0.69 * np.exp(-2 * done), 0.52 + 0.43 * np.sqrt(done)
            after = 0.6 + 0.25 * np.sqrt(done) if step % epoch == 0 else np.nan
            values = (loss + 0.03 * noise[0], min(1.0, accuracy + 0.02 * noise[1]), after)
            records.append(TuneRecord(run, step, steps, *map(float, values), fraction))
    return records


def reached(rate: np.ndarray, batch: np.ndarray) -> np.ndarray:
    """A bump: the best rate is 10^-2.6, larger for larger batches."""
    best = -2.6 + 0.3 * np.log2(batch / 32)
    return np.round(800 * (0.55 + 0.245 * np.exp(-((np.log10(rate) - best) ** 2) / 1.2))) / 800


def surface() -> Surface:
    return Surface(RATES, BATCHES, reached(RATES, BATCHES[:, None]))


def searched(method: str = "bayes", trials: int = 12) -> Searched:
    """Bayesian search closes in on the best; the grid is a grid."""
    draw = np.random.RandomState(5)
    batch = draw.choice(BATCHES, trials)
    if method == "grid":
        rate = np.repeat(np.logspace(-5, -1, -(-trials // 3)), 3)[:trials]
        batch = np.resize(BATCHES, trials)
    elif method == "random":
        rate = 10 ** draw.uniform(-5, -1, trials)
    else:
        width = np.linspace(1.5, 0.15, trials)
        rate = 10 ** np.clip(-2.6 + width * draw.standard_normal(trials), -5, -1)
    found = reached(rate, batch)
    best = int(np.argmax(found)) if trials else 0
    return Searched(
        SearchSettings(method=method, budget=trials), rate, batch, found, best, answers(0.79)[0]
    )


def modes(repeats: int = 20) -> Modes:
    probability = np.full((2, repeats), 0.83)
    probability[1] += 0.05 * np.random.RandomState(6).standard_normal(repeats)
    return Modes(("eval", "train"), probability, np.array([[True, False], [True, False]]))


def baseline(sentences: int = SENTENCES) -> Any:
    return majority(np.array([True, True, False]), truth(sentences))


def confusions() -> tuple[Confusion, Confusion]:
    first, second = (answers(share, seed=seed)[0] >= 0.5 for share, seed in ((0.79, 8), (0.87, 9)))
    return confusion(truth(), first), confusion(truth(), second)


def accuracy_training_drawings() -> tuple[
    tuple[str, Callable[..., Any], tuple[Any, ...], float], ...
]:
    """Every figure function once or twice: name, function, arguments, key."""
    found, some = systems(), tuned()
    first, second = right(0.79, 8), right(0.87, 9)
    a, b = running(first), running(second)
    pair = mcnemar(first, second)
    settings = TuneSettings(regime="lora", epochs=3, runs=2)
    records = trail(settings)
    bayes = searched()
    by_head = float(((found[3].probability >= 0.5) == truth()).mean())
    small = count(MINILM, "lora")
    return (
        ("systems", regimes_view, (found, truth(), "head_mean", baseline(), REPORTED),
         100 * by_head),
        ("systems, ours alone", regimes_view, (found[:4], truth(), "head_mean", baseline()),
         100 * by_head),
        ("curves", curves_view, (some, None, baseline()),
         100 * float(some.validation.mean(0).max())),
        ("curves, text", curves_view, (some, CURVES[1], baseline()), float(some.loss.mean(0)[-1])),
        ("progress", progress_view, (records, settings, baseline()), float(records[-1].loss)),
        ("progress, nothing yet", progress_view, ([], settings, baseline()), 2),
        ("modes", modes_view, (modes(),), 100 * float(modes().probability[1].max())),
        ("search", search_view, (bayes, surface()), 100 * float(bayes.validation.max())),
        ("search, no map", search_view, (searched("random"),),
         100 * float(searched("random").validation.max())),
        ("race", search_race_view, (tuple(map(searched, ("grid", "random", "bayes"))),),
         100 * float(bayes.validation.max())),
        ("running", running_view, (a, b, NAMES, 500), 100 * float(a.share[499])),
        ("paired", paired_view, (pair, NAMES), pair.only_first),
        ("confusion", confusion_view, (*confusions(), NAMES), int(confusions()[0].counts[1, 1])),
        ("parameters of parts", parts_view, (small, "MiniLM, LoRA"),
         100 * small.trainable / small.total),
        ("parameters, bert-base", parts_view, (count(BERT_BASE, "head"), "bert-base"),
         100 * 1538 / 109_483_778),
    )  # fmt: skip
