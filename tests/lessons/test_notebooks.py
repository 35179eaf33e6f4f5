"""The notebook of every bench, run in this process: its figure is the one that the bench gives.

Benches that train have two states: the result that came with the app, and settings of which nobody
has one, so that the bench trains and its notebook trains again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons.framework.lesson import Bench
from seqviz.lessons.framework.output import Chart
from seqviz.ui.page import notebook
from tests.pages.scenes import as_json, same
from tests.shared_fixtures import MODELS, models_of
from tools import measure_trainings

BENCHES = {f"{bench.lesson.slug}.{bench.name}": bench for bench in measure_trainings.benches()}
del BENCHES["attention.bertviz"]  # draws no figure of ours: a page of BertViz
TINY: dict[str, dict[str, Any]] = {
    "gates.learn": {"seed": 12},
    "ar_fitting.networks": {"preset": "own", "cell": "mlp", "hidden": 2, "epochs": 50, "seed": 9},
    "vanishing_gradients.race": {"cells": ("rnn",), "hidden": 16, "updates": 200, "seed": 6},
    "positions.task": {"letters": 6, "seed": 4},
    "bert_accuracy.heads": {"sentences": 50, "epochs": 1, "runs": 1},
    "bert_accuracy.tune": {"regime": "top", "layers": 1, "sentences": 50, "epochs": 1},
    "bert_accuracy.search": {"budget": 6, "seed": 3},
}
QUICK = "gates.learn"  # two seconds; the other trainings by night


def turns(names: dict[str, Any], expensive: Any) -> Iterator[Any]:
    """(name, language): the languages take turns; what costs much is left to the night."""
    for index, name in enumerate(names):
        marks = [pytest.mark.nightly] if expensive(name) else []
        yield pytest.param(name, LANGUAGES[index % len(LANGUAGES)], marks=marks, id=name)


def check(bench: Bench, values: dict[str, Any], language: str, kind: str | None = None) -> None:
    visible = bench.run(values, language, train=True)
    assert visible.figure is not None
    charts = visible.of(Chart)
    if kind is not None:
        assert [chart.provenance.kind for chart in charts] == [kind]
    built = notebook.build(bench.lesson.slug, Text(language), {bench.name: visible.code})
    cells = nbformat.reads(built.decode(), as_version=4).cells
    (code,) = [cell.source for cell in cells if cell.cell_type == "code"]
    space: dict[str, Any] = {}
    exec(compile(code, f"<notebook of {bench.name}>", "exec"), space)
    same(as_json(visible.figure), as_json(space["figure"]))


@pytest.mark.parametrize(
    ("name", "language"), turns(BENCHES, lambda name: name.partition(".")[0] in MODELS)
)
def test_notebook_reproduces_bench_figure(name, language, request):
    bench = BENCHES[name]
    models_of(bench.lesson.slug, request)
    check(bench, {}, language)


@pytest.mark.parametrize(("name", "language"), turns(TINY, lambda name: name != QUICK))
def test_notebook_reproduces_live_training_figure(name, language, request):
    bench = BENCHES[name]
    models_of(bench.lesson.slug, request)
    check(bench, TINY[name], language, kind="live")
