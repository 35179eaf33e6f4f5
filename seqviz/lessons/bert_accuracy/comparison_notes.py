"""Notes that compare two systems, and one system over several seeds."""

from __future__ import annotations

from seqviz.compute.bert_accuracy.results import SystemPredictions, Tuned
from seqviz.experiments.bert_accuracy import systems
from seqviz.lessons.framework.show import Show
from seqviz.stats.proportions import Paired


def say_compared(names: tuple[str, str], pair: Paired, show: Show) -> None:
    """State McNemar's test of two systems."""
    verdict = show.text(f"readout.{pair.verdict}")
    show.shared_note("readout.mcnemar", first=names[0], second=names[1], pair=pair, verdict=verdict)


def say_against(result: Tuned, name: str, other: str, show: Show) -> None:
    """Compare a trained classifier's first run with another system."""
    run_predictions = show.run(systems.first_run, other, name="other")
    positive = show.run(systems.truth, name="positive")
    pair = show.derive(result.against, run_predictions.right, positive, name="pair")
    say_compared((name, show.option("first", other)), pair, show)


def say_runs(answers: SystemPredictions, show: Show) -> None:
    """State the variation between seeds, which the interval over sentences does not include."""
    facts = answers.between_seeds(show.run(systems.truth, name="positive"))
    alone = "no_seed" if answers.system in systems.WITHOUT_SEED else "one_seed"
    key = alone if facts["runs"] == 1 else "seeds_between"
    show.note(key, name=show.option("first", answers.system), **facts)
