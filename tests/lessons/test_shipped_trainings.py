"""Training benches open with a result that came with the app, and it is what the code computes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from seqviz.data import precomputed
from seqviz.experiments.bert_accuracy import shipped
from seqviz.lessons.framework.lesson import Bench
from seqviz.lessons.framework.output import Chart
from tools import measure_trainings

QUICK = "gates.learn.train_tiny"  # two seconds; the others by night
NAMES = (
    "ar_fitting.networks.fit_network", "ar_fitting.networks.fit_windows",
    "ar_fitting.networks.fit_network 2", "ar_fitting.networks.fit_network 3",
    "ar_fitting.nonlinear.fit_network", "text.merges.train_tokenizer", "text.ids.permute_many",
    "text.map.analogies", "text.map.analogies 2", "text.reading.sense_pairs",
    "text.neighbors.substitutes", "text.windows.read_windows",
    "language_models.counts.held_out_texts",
    "language_models.counts.held_out_texts 2", "language_models.counts.held_out_texts 3",
    "language_models.counts.held_out_texts 4", "language_models.ladder.bits_per_character",
    "language_models.ladder.bits_by_amount", "language_models.ladder.bits_per_character 2",
    *(f"language_models.ladder.bits_by_amount {k}" for k in range(2, 7)),
    "language_models.writing.copying_by_order",
    "language_models.writing.copying_by_order 2", "language_models.writing.copying_by_order 3",
    "language_models.writing.copying_by_order 4", "language_models.writing.copying_by_order 5",
    "language_models.writing.copying_by_order 6", "language_models.window.agreement_by_distance",
    "language_models.window.compare_blocks",
    "language_models.sides.fill_bundled", "language_models.sides.time_sides",
    "language_models.sides.judge",
    "recurrent.tagging.compare_taggers",
    "recurrent.tagging.compare_ahead", "recurrent.tagging.train_taggers",
    "recurrent.tagging.compare_taggers 2", "recurrent.tagging.compare_joined",
    "recurrent.tagging.compare_joined 2", "recurrent.tagging.compare_ahead 2",
    "recurrent.tagging.train_taggers 2", "recurrent.bill.time_steps",
    "recurrent.tagger.lac_changes", "recurrent.writing.run_on", "recurrent.writing.compare_tied",
    "recurrent.writing.run_on 2",
    "recurrent.readout.compare_readouts", "vanishing_gradients.race.compare",
    "vanishing_gradients.race.compare 2", "vanishing_gradients.race.find_longest_delay", QUICK,
    "attention.ablate.mean_outputs", "attention.ablate.each_head", "attention.trials.try_heads",
    "attention.trials.try_heads 2", "attention.trials.try_heads 3", "positions.task.train",
    "positions.task.train 2", "positions.task.train 3", "positions.task.train 4",
    "positions.task.train 5", "transformer.stream.decoder_parts",
    "transformer.account.account_capitals",
    "transformer.remove.remove", "transformer.remove.remove_from_many",
    "transformer.remove.remove_from_many 2", "transformer.pair.train_pair",
    "transformer.pair.train_pair 2", "transformer.lens.fit_lens",
    "transformer.induction.copy_twice", "transformer.induction.copy_twice 2",
    "transformer.depths.train_stacks", "transformer.depths.train_stacks 2",
    "transformer.depths.train_stacks 3", "transformer.bill.time_passes",
    "gpt.futures.compare_decoding", "gpt.likely.by_method", "gpt.again.greedy",
    "gpt.shots.few_shots", "gpt.cost.time_cache",
)  # fmt: skip
# Where it is not the first view that asks.
VIEWS = {
    "each_head": "each",
    "account_capitals": "capitals",
    "mean_outputs": "both",
    "fit_windows": "window",
    "time_passes": "time",
    "train_stacks": "training",
    "remove_from_many": "many",
    "fit_lens": "reviews",
    "greedy": "loop",
    "read_windows": "memory",
    "analogies": "classes",
    "substitutes": "list",
    "sense_pairs": "many",
    "train_taggers": "letters",
    "compare_ahead": "ahead",
    "run_on": "free",
    "compare_tied": "tied",
    "compare_blocks": "blocks",
    "compare_readouts": "readouts",
    "lac_changes": "counted",
    "time_steps": "time",
    "time_sides": "cost",
    "judge": "uses",
    "bits_by_amount": "amount",
}
IN_WORDS = {"compare_tied"}  # the figure above the sentence counts parameters
LATE = {"seconds", "device"}


@cache
def asked() -> tuple[tuple[Bench, Callable[..., Any], Mapping[str, Any]], ...]:
    """What the benches ask for. Every bench is run for it: not while the tests are collected."""
    return tuple(
        (bench, function, keywords)
        for bench in measure_trainings.benches()
        for function, keywords in measure_trainings.calls(bench)
    )


@cache
def trainings() -> dict[str, tuple[Bench, Callable[..., Any], Mapping[str, Any]]]:
    """By name, without those that tests/experiments/bert_accuracy/test_shipped.py recomputes."""
    result: dict[str, Any] = {}
    for bench, function, keywords in asked():
        if bench.lesson.slug != "bert_accuracy":
            name = f"{bench.lesson.slug}.{bench.name}.{function.__name__}"
            again = sum(item.split()[0] == name for item in result)  # in another view
            result[f"{name} {again + 1}" if again else name] = bench, function, keywords
    return result


def test_trainings_match_expected_names():
    assert tuple(trainings()) == NAMES


def test_shipped_results_match_requested_calls():
    index = json.loads((precomputed.FOLDER / "index.json").read_text("utf-8"))
    calls = {
        precomputed._call(function.__name__, keywords)
        for function, keywords in shipped.calls().values()
    }
    trained = {precomputed.call_name(function, keywords) for _, function, keywords in asked()}
    seeds = {
        precomputed.call_name(*call) for call in shipped.seeds().values()
    }  # some may be missing
    there = {entry["call"] for entry in index}
    assert there - seeds == calls | trained


@pytest.mark.parametrize("name", NAMES)
def test_training_bench_opens_with_precomputed_figure(name):
    bench, function, keywords = trainings()[name]
    assert precomputed.find(function, keywords) is not None
    view = VIEWS.get(function.__name__)
    visible = bench.run({"view": view} if view else {})
    (chart,) = visible.of(Chart)
    assert not visible.waits
    assert (chart.provenance.kind == "precomputed") == (function.__name__ not in IN_WORDS)
    space: dict[str, Any] = {}
    exec(visible.code, space)
    assert space["figure"] == visible.figure


# Of the length of the list. Another processor adds in another order, and a thousand updates carry
# that to 2% (AVX2 against AVX-512); another seed, rate or start gives other weights altogether.
APART = 0.05


def alike(left: Any, right: Any, location: str = "") -> None:
    if dataclasses.is_dataclass(left):
        for field in dataclasses.fields(left):
            if field.name not in LATE:
                alike(
                    getattr(left, field.name),
                    getattr(right, field.name),
                    f"{location}.{field.name}",
                )
    elif isinstance(left, tuple):
        for k, (a, b) in enumerate(zip(left, right, strict=True)):
            alike(a, b, f"{location}[{k}]")
    elif isinstance(left, str | None):
        assert left == right, location
    else:
        left, right = np.asarray(left, float), np.asarray(right, float)
        assert left.shape == right.shape, location
        assert (np.isfinite(left) == np.isfinite(right)).all(), location
        gap = np.nan_to_num(left - right, posinf=0, neginf=0)
        assert np.linalg.norm(gap) <= APART * np.linalg.norm(
            np.nan_to_num(left, posinf=0, neginf=0)
        ), location


@pytest.mark.parametrize(
    "name",
    [name if name == QUICK else pytest.param(name, marks=pytest.mark.nightly) for name in NAMES],
)
def test_shipped_result_matches_recomputation(name, request):
    for lesson, model in (("attention", "minilm"), ("transformer", "smollm2"), ("gpt", "smollm2"),
                          ("text", "minilm"), ("recurrent.tagger", "lac"),
                          ("language_models.sides", "smollm2"),
                          ("language_models.sides", "minilm")):  # fmt: skip
        if name.startswith(lesson):
            request.getfixturevalue(model)
    _, function, keywords = trainings()[name]
    result = function(**keywords, report=lambda *_: None)
    alike(precomputed.find(function, keywords).result, result)
