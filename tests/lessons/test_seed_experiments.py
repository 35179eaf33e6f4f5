"""What a class runs at a bench: a seat's number is what the bench shows at that seed."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from seqviz import lessons
from seqviz.compute.bert_accuracy.results import TuneSettings
from seqviz.content import catalog
from seqviz.core.errors import UserError
from seqviz.data import precomputed
from seqviz.experiments.bert_accuracy import heads, systems
from seqviz.experiments.recurrent.tagging import letters
from seqviz.lessons.framework.lesson import Bench
from tests.shared_fixtures import models_of
from tests.tiers import first_only

RUN = [
    (record.slug, name)
    for record in catalog.LESSONS
    for name, bench in getattr(lessons, record.slug).lesson.benches.items()
    if bench.replicate is not None
]


NO_THEORY = ("language_models", "writing")  # spans that repeat a text follow no known law
LONG = {("vanishing_gradients", "race"), ("recurrent", "tagging")}  # that are trained


def bench_of(slug: str, name: str) -> Bench:
    return getattr(lessons, slug).lesson.benches[name]


def test_replicate_is_set_for_expected_benches():
    heads, draws = ("bert_accuracy", "heads"), ("gpt", "draws")
    expected = {("ar_fitting", "fit"), ("gpt", "scores"), draws, heads, NO_THEORY, *LONG}
    assert expected == set(RUN)


@pytest.mark.parametrize(("slug", "name"), sorted({*RUN} - {*LONG}))
def test_experiment_value_is_independent_of_other_seeds(slug, name, request):
    models_of(slug, request)
    values = {"sentences": 100} if name == "heads" else {}
    bench = bench_of(slug, name)
    experiment, chinese = (bench.experiment(values, language) for language in ("en", "zh"))
    together = np.asarray(experiment.values([1, 2, 3, 30]))
    assert np.isfinite(together).all()
    assert [float(experiment.values([seed])[0]) for seed in (1, 2, 3, 30)] == together.tolist()
    assert np.asarray(chinese.values([3])).tolist() == [together[2]]
    assert experiment.quantity != chinese.quantity
    assert experiment.settings != chinese.settings
    theory = experiment.theory(together)
    assert (theory is None) == ((slug, name) == NO_THEORY)
    assert theory is None or theory.low <= theory.mean <= theory.high
    assert "{" not in experiment.settings + experiment.quantity + chinese.settings


@pytest.mark.parametrize("texts", ["native", "foreign"])
def test_copying_experiment_matches_bench_at_same_seed(texts):
    bench = bench_of("language_models", "writing")
    experiment = bench.experiment({"texts": texts, "n": 5})
    spans = list(experiment.values([1, 59]))
    for seed, span in zip((1, 59), spans, strict=True):
        values = {"texts": texts, "n": 5, "seed": seed}
        assert bench.run(values, code=False).facts["longest"] == span
    assert ("English" in experiment.settings) == (texts == "native")


def test_fit_experiment_matches_bench_at_same_seed():
    bench = bench_of("ar_fitting", "fit")
    world = {"process.phi": 0.6, "process.n": 200, "intercept": True}
    mine = bench.experiment(world).values([7])[0]
    visible = bench.run({**world, "process.seed": 7}).readouts["estimate"].value
    assert visible == f"{mine:.3f}"


def test_experiment_without_theory_is_rejected_or_returns_none():
    bench = bench_of("ar_fitting", "fit")
    with pytest.raises(UserError, match="sampling_needs_ar1"):
        bench.experiment({"process.order": 2})
    walk = bench.experiment({"process.phi": 1.0})
    assert walk.theory(np.asarray(walk.values([1, 2]))) is None
    with pytest.raises(ValueError, match="no number"):
        bench_of("ar_fitting", "process").experiment()


def test_scores_experiment_matches_bench_at_same_seed(smollm2):
    bench = bench_of("gpt", "scores")
    bits = bench.experiment({"top_k": 5}).values([7])[0]
    output = bench.run({"top_k": 5, "seed": 7})
    low, high = map(float, re.findall(r"covers (\d\.\d+) to (\d\.\d+)", output.notes[0])[-1])
    assert -np.log2(high - low) == pytest.approx(bits, abs=0.02)


def test_draws_experiment_matches_bench_at_same_seed(smollm2):
    bench = bench_of("gpt", "draws")
    share = bench.experiment({"count": 100}).values([2])[0]
    assert share == pytest.approx(round(share))  # of a hundred draws
    figure = bench.run({"count": 100, "seed": 2}).figure
    assert figure.traces[0]["x"][0] == pytest.approx(share)


def test_head_accuracies_resample_only_partial_training_set(vectors):
    """With all sentences, a seed is its run; with fewer, it draws its own sample."""
    settings = TuneSettings("minilm", "head", "mean", 7272, 1, head_rate=3e-2, runs=3)
    runs = heads.train_head(settings).probability
    positive = systems.truth()
    shares = ((runs > 0.5) == positive).mean(1)
    assert heads.accuracies(settings, [0, 1, 2]) == pytest.approx(shares)
    few = TuneSettings("minilm", "head", "mean", 50, 5, head_rate=3e-2)
    samples = heads.accuracies(few, range(1, 13))
    fixed = ((heads.train_head(replace(few, runs=12)).probability > 0.5) == positive).mean(1)
    assert samples.std() > 2 * fixed.std()  # the fixed ones all learn from the same 50


QUICK = {"delay": 5, "hidden": 8, "updates": 200, "cells": ("rnn", "gru")}


def test_race_experiment_matches_bench_at_same_seed():
    race = bench_of("vanishing_gradients", "race")
    english, chinese = (race.experiment(QUICK, language) for language in ("en", "zh"))
    assert english.long
    assert list(english.kinds) == ["RNN", "GRU"]
    assert (english.quantity, english.settings) != (chinese.quantity, chinese.settings)
    assert "{" not in english.settings + chinese.settings
    assert "100 updates, half of the 200 above" in english.settings
    result = english.values((4, 2))
    for row, seed in zip(result, (4, 2), strict=True):
        done = race.run({**QUICK, "updates": 100, "seed": seed}, train=True)
        visible = [done.readouts[f"learned_{cell}"].value for cell in ("rnn", "gru")]
        assert row == pytest.approx([float(item.removesuffix("%")) for item in visible], abs=0.5)
    with pytest.raises(UserError, match="one delay"):
        race.experiment({"view": "ladder"})


@pytest.mark.parametrize("task", first_only(letters.TASKS))
def test_tagging_experiment_matches_taggers_with_fewer_updates(task, monkeypatch):
    bench = bench_of("recurrent", "tagging")
    english, chinese = (bench.experiment({"task": task}, language) for language in ("en", "zh"))
    assert len(english.kinds) == len(chinese.kinds) == 2
    assert english.long
    assert "100 updates, not 600" in english.settings
    assert "100 次，而不是上面的 600 次" in chinese.settings
    assert english.quantity != chinese.quantity
    payloads = []
    values = letters.errors_of_seeds((2,), task, 3, lambda _, share: payloads.append(share))
    assert payloads == pytest.approx(np.arange(1, 7) / 6)
    size = letters.SIZES[task]
    monkeypatch.setitem(letters.SIZES, task, size._replace(updates=3))
    compared = letters.compare_taggers(task, seeds=2)
    wrong = [compared.by_seed(wiring)[1] for wiring in letters.READERS]
    assert values[0] == pytest.approx(wrong, abs=0.05)


def test_tagging_experiment_errs_more_than_shipped_taggers():
    """With so few, both are wrong more often than the shipped ones: a ceiling for those."""
    for task in letters.TASKS:
        result = precomputed.result("compare_taggers", task=task)
        few = letters.errors_of_seeds((1,), task, letters.SHORT)[0]
        for wiring, error in zip(letters.READERS, few, strict=True):
            assert error > result.by_seed(wiring).max()
