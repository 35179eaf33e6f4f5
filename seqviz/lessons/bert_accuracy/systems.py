"""Bench that compares any two systems on the same sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from seqviz.compute.bert_accuracy import reported
from seqviz.compute.bert_accuracy.results import SystemPredictions
from seqviz.core.i18n import percent
from seqviz.experiments.bert_accuracy import features, systems
from seqviz.figures.bert_accuracy.compare import (
    confusion_matrices,
    paired_answers,
    running_accuracy,
)
from seqviz.figures.bert_accuracy.regimes import system_accuracies
from seqviz.lessons.bert_accuracy.comparison_notes import say_compared, say_runs
from seqviz.lessons.framework.controls import choice, on, slider, view
from seqviz.lessons.framework.output import Provenance
from seqviz.lessons.framework.show import Show
from seqviz.stats import proportions
from seqviz.stats.proportions import Paired, Proportion

Runs: TypeAlias = Mapping[str, systems.RunPredictions]
Names: TypeAlias = tuple[str, str]
READ = 30  # maximum number of differing sentences listed
PAIRS = ("running", "paired", "confusion")  # views of two systems


@dataclass(frozen=True)
class CompareParams:
    """Controls of the bench on two systems."""

    view: str = view(("systems", *PAIRS), "systems")
    first: str = choice(systems.NAMES, "all", menu=True)
    second: str = choice(systems.NAMES, "head_mean", menu=True, when=on(view=PAIRS))
    sentences: int = slider(20, 2000, 2000, 20, when=on(view=PAIRS))


def say_random_head(
    answers: tuple[SystemPredictions, ...], guess: Proportion, positive: np.ndarray, show: Show
) -> None:
    """Warn that an interval over sentences ignores seeds, with a head that learned nothing."""
    worst, *_, best = runs = next(a for a in answers if a.system == "random_head").runs(positive)
    key = "random_seeds" if best.low > guess.share else "random_seeds_within"
    show.note(key, runs=len(runs), worst=worst, best=best, guess=guess)


def all_systems(chosen: str, positive: np.ndarray, show: Show) -> None:
    """Show every system of the lesson, with one highlighted."""
    answers = show.run(systems.answers)
    guess = show.run(systems.majority, name="guess")
    show.figure(system_accuracies, answers, positive, chosen, guess, reported.REPORTED)
    say_runs(systems.predictions_of(chosen), show)
    say_random_head(answers, guess, positive, show)
    show.caption(show.words("note.seeds", n=len(positive)))


def draw_pair(p: CompareParams, runs: Runs, pair: Paired, names: Names, show: Show) -> None:
    """Show two systems in the chosen view."""
    n, positive = p.sentences, show.run(systems.truth, name="positive")
    if p.view == "paired":
        show.figure(paired_answers, pair, names)
    elif p.view == "running":
        curves = [show.run(proportions.running, run.right, name=f"{name}_running")
                  for name, run in runs.items()]  # fmt: skip
        show.figure(running_accuracy, *curves, names, n)
    else:
        tables = [show.run(proportions.confusion, positive[:n], run.positive[:n],
                           name=f"{name}_table") for name, run in runs.items()]  # fmt: skip
        show.figure(confusion_matrices, *tables, names)


def list_differing(runs: Runs, n: int, show: Show) -> None:
    """List the first sentences on which two systems differ."""
    differ = systems.differing(runs["first"], runs["second"], n)
    if not differ:
        return
    visible = differ[:READ]
    show.caption(show.words("note.disagree", shown=len(visible), count=len(differ)))
    sentences, positive = features.parts()["test"].texts, systems.truth()
    classes = show.words("class.negative"), show.words("class.positive")
    columns = {
        "sentence": [sentences[i] for i in visible],
        "truth": [classes[int(positive[i])] for i in visible],
        **{name: [percent(run.probability[i], 0) for i in visible] for name, run in runs.items()},
    }
    show.rows("differ", columns)


def compare(p: CompareParams, show: Show) -> None:
    when = systems.origin()
    show.origin = Provenance("precomputed", f"{when.date} · {when.device}")
    positive = show.run(systems.truth, name="positive")
    if p.view == "systems":
        return all_systems(p.first, positive, show)
    chosen, n = {"first": p.first, "second": p.second}, p.sentences
    names = show.option("first", p.first), show.option("second", p.second)
    runs = {key: show.run(systems.first_run, name, name=key) for key, name in chosen.items()}
    pair = show.run(proportions.mcnemar, *(run.right[:n] for run in runs.values()), name="pair")
    draw_pair(p, runs, pair, names, show)
    if p.first == p.second:
        show.notice("same_system")
    else:
        say_compared(names, pair, show)
    for system in dict.fromkeys(chosen.values()):
        say_runs(systems.predictions_of(system), show)
    for name, run in zip(("system_a", "system_b"), runs.values(), strict=True):
        show.readout(name, proportions.proportion, run.right[:n])
    show.readouts(pair, p_value="p", needed="needed")
    return list_differing(runs, n, show)
