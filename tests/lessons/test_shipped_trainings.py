"""Training benches open with a result that came with the app, and it is what the code computes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from seqviz.data import precomputed
from seqviz.lessons.bench.output import Chart
from tools import measure_trainings

ALL = {
    f"{bench.lesson.slug}.{bench.name}.{function.__name__}": (bench, function, keywords)
    for bench in measure_trainings.benches()
    if bench.lesson.slug != "bert_accuracy"  # tests/models/test_accuracy_shipped.py
    for function, keywords in measure_trainings.calls(bench)
}
QUICK = "gates.learn.train_tiny"  # two seconds; the others by night
LATE = {"seconds", "device"}


def test_every_training_bench_is_there():
    assert len(ALL) == 6
    assert QUICK in ALL


@pytest.mark.parametrize("name", ALL)
def test_no_training_bench_opens_as_an_empty_box(name):
    bench, function, keywords = ALL[name]
    assert precomputed.find(function, keywords) is not None
    shown = bench.run({}) if name != "attention.ablate.each_head" else bench.run({"view": "each"})
    (chart,) = shown.of(Chart)
    assert chart.provenance.kind == "precomputed"
    assert not shown.waits
    space: dict[str, Any] = {}
    exec(shown.code, space)
    assert space["figure"] == shown.figure


def alike(one: Any, other: Any, place: str = "") -> None:
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            if field.name not in LATE:
                alike(getattr(one, field.name), getattr(other, field.name), f"{place}.{field.name}")
    elif isinstance(one, np.ndarray):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5, err_msg=place)
    elif isinstance(one, tuple):
        for k, (a, b) in enumerate(zip(one, other, strict=True)):
            alike(a, b, f"{place}[{k}]")
    elif isinstance(one, str | None):
        assert one == other, place
    else:
        assert one == pytest.approx(other, rel=1e-4, nan_ok=True), place


@pytest.mark.parametrize(
    "name",
    [name if name == QUICK else pytest.param(name, marks=pytest.mark.nightly) for name in ALL],
)
def test_it_is_what_this_very_code_computes(name, request):
    if name.startswith("attention"):
        request.getfixturevalue("minilm")
    _, function, keywords = ALL[name]
    found = function(**keywords, report=lambda *_: None, device="cpu")
    alike(precomputed.find(function, keywords).result, found)
