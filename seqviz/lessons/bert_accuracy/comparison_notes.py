"""Two systems on the same sentences, and one system with several seeds, in sentences."""

from __future__ import annotations

from seqviz.compute.bert_accuracy.results import SystemPredictions, Tuned
from seqviz.core.i18n import format_value, percent
from seqviz.core.units import unbroken, unit_of
from seqviz.experiments.bert_accuracy import systems
from seqviz.lessons.framework.show import Show
from seqviz.stats import proportions
from seqviz.stats.proportions import Paired


def say_compared(names: tuple[str, str], pair: Paired, show: Show) -> None:
    """McNemar's test of two systems in one sentence under the figure."""
    p = format_value(pair.p, unit_of(Paired, "p"))
    show.shared_note(
        "readout.mcnemar", first=names[0], second=names[1], a=pair.only_first,
        b=pair.only_second, n=pair.n,
        p=p if p.startswith("<") else unbroken(f"= {p}"),
        verdict=show.text(f"readout.{pair.verdict}"),
    )  # fmt: skip


def say_against(result: Tuned, name: str, other: str, show: Show) -> None:
    """A trained classifier's first run against another system: the objection as a sentence."""
    run_predictions = show.run(systems.first_run, other, name="other")
    positive = show.run(systems.truth, name="positive")
    pair = show.derive(result.against, run_predictions.right, positive, name="pair")
    say_compared((name, show.option("first", other)), pair, show)


def say_runs(answers: SystemPredictions, show: Show) -> None:
    """What the random seeds of a system do, beside its interval, which is of the sentences."""
    positive = show.run(systems.truth, name="positive")
    runs, name = answers.runs(positive), answers.system
    low, high = percent(runs[0].share), percent(runs[-1].share)
    proportion = proportions.of_share(sum(run.share for run in runs) / len(runs), len(positive))
    ends = {
        "least": percent(proportion.low),
        "most": percent(proportion.high),
        "n": f"{proportion.n:,}",
    }
    values = {"name": show.option("first", name), "low": low, "high": high, "runs": len(runs)}
    alone = "no_seed" if name in systems.WITHOUT_SEED else "one_seed"
    show.note(alone if len(runs) == 1 else "seeds_between", **values, **ends)
