"""Any two systems on the same sentences."""

from __future__ import annotations

from dataclasses import dataclass

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
from seqviz.stats.proportions import Proportion

READ = 30  # sentences to read, of those on which two systems differ
PAIRS = ("running", "paired", "confusion")  # views of two systems


@dataclass(frozen=True)
class CompareParams:
    """Any two systems on the same sentences."""

    view: str = view(("systems", *PAIRS), "systems")
    first: str = choice(systems.NAMES, "all", menu=True)
    second: str = choice(systems.NAMES, "head_mean", menu=True, when=on(view=PAIRS))
    sentences: int = slider(20, 2000, 2000, 20, when=on(view=PAIRS))


def say_random_head(
    answers: tuple[SystemPredictions, ...], guess: Proportion, positive: np.ndarray, show: Show
) -> None:
    """A head that has learned nothing, the warning: an interval of the sentences knows no seeds."""
    worst, *_, best = runs = next(a for a in answers if a.system == "random_head").runs(positive)
    ends = {"least": best.low, "most": best.high, "low": worst.share, "high": best.share}
    shares = {name: percent(item) for name, item in {**ends, "guess": guess.share}.items()}
    key = "random_seeds" if best.low > guess.share else "random_seeds_within"
    show.note(key, runs=len(runs), **shares)


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
        show.caption(show.words("note.seeds", n=len(positive)))
        return
    names, n = (show.option("first", p.first), show.option("second", p.second)), p.sentences
    first = show.run(systems.first_run, p.first, name="first")
    second = show.run(systems.first_run, p.second, name="second")
    pair = show.run(proportions.mcnemar, first.right[:n], second.right[:n], name="pair")
    if p.view == "paired":
        show.figure(paired_answers, pair, names)
    elif p.view == "confusion":
        tables = [
            show.run(
                proportions.confusion, positive[:n], summary.positive[:n], name=f"{name}_table"
            )
            for name, summary in (("first", first), ("second", second))
        ]
        show.figure(confusion_matrices, *tables, names)
    else:
        runs = [
            show.run(proportions.running, summary.right, name=f"{name}_running")
            for name, summary in (("first", first), ("second", second))
        ]
        show.figure(running_accuracy, *runs, names, n)
    if p.first == p.second:
        show.note("same_system")
    else:
        say_compared(names, pair, show)
    for name in dict.fromkeys((p.first, p.second)):
        say_runs(systems.predictions_of(name), show)
    for name, message in (("system_a", first), ("system_b", second)):
        show.readout(name, proportions.proportion, message.right[:n])
    show.readouts(pair, p_value="p", needed="needed")
    differ = systems.differing(first, second, n)
    if not len(differ):
        return
    visible = differ[:READ]
    show.caption(show.words("note.disagree", shown=len(visible), count=len(differ)))
    sentences = features.parts()["test"].texts
    classes = show.words("class.negative"), show.words("class.positive")
    columns: dict[str, list[str]] = {
        "sentence": [sentences[i] for i in visible],
        "truth": [classes[int(positive[i])] for i in visible],
        "first": [percent(first.probability[i], 0) for i in visible],
        "second": [percent(second.probability[i], 0) for i in visible],
    }
    show.rows("differ", columns)
