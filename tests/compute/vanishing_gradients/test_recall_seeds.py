"""Cells at many seeds side by side, against one comparison after another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.vanishing_gradients.recall.comparison import TRAIN, compare, stream
from seqviz.compute.vanishing_gradients.recall.seeds import compare_seeds
from seqviz.compute.vanishing_gradients.recall.settings import RecallSettings
from seqviz.compute.vanishing_gradients.recall.tasks import draw
from seqviz.core.errors import UserError

SMALL = RecallSettings(delay=8, hidden=16, batch=16, updates=16, learning_rate=1e-2)
SEEDS = (3, 1, 8)
# Float32 numbers that are added in another order. Weights are of the order of 0.1; 16 updates.
WEIGHTS = 1e-4
ANSWERS = 2 / 400  # test sequences near the border between right and wrong


@pytest.mark.parametrize("change", [
    {}, {"task": "adding", "forget_bias": 2.0}, {"optimizer": "sgd", "clip": None},
    {"clip": 0.01}, {"delay": 20, "updates": 3},
])  # fmt: skip
def test_compare_seeds_matches_sequential_comparisons(change):
    settings = replace(SMALL, **change)
    values = compare_seeds(SEEDS, settings)
    alone = [compare(replace(settings, seed=seed)).accuracy[-1] for seed in SEEDS]
    assert values.shape == (len(SEEDS), 3)
    np.testing.assert_allclose(values / 100, alone, rtol=0, atol=ANSWERS + 1e-9)


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_stacked_weights_match_separate_trainings(cell):
    from seqviz.compute.vanishing_gradients.recall.runners import CellTrainer
    from seqviz.compute.vanishing_gradients.recall.stacked import Stacked

    each = [replace(SMALL, seed=seed) for seed in SEEDS]
    together, alone = Stacked(cell, each), [CellTrainer(cell, item) for item in each]
    streams = [stream(item, TRAIN) for item in each]
    for _ in range(SMALL.updates):
        rendered = [draw("first", SMALL.delay, SMALL.batch, stream) for stream in streams]
        together.update(rendered)
        for runner, batch in zip(alone, rendered, strict=True):
            runner.update(batch)
    together.test(rendered)
    moved = 0.0
    for entry, other, begun in zip(
        together.runners, alone, map(CellTrainer, [cell] * 3, each), strict=True
    ):
        for mine, its, first in zip(
            entry.parameters, other.parameters, begun.parameters, strict=True
        ):
            np.testing.assert_allclose(mine.detach(), its.detach(), rtol=0, atol=WEIGHTS)
            moved = max(moved, float((its - first).detach().abs().max()))
    assert moved > 1000 * WEIGHTS


def test_compare_seeds_reports_fraction_and_stops_if_report_raises():
    payloads = []
    compare_seeds(SEEDS, replace(SMALL, updates=5), payloads.append)
    assert sorted({item.fraction for item in payloads}) == [0.2, 0.4, 0.6, 0.8, 1.0]

    def stop(record):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        compare_seeds(SEEDS, SMALL, stop)


def test_compare_seeds_rejects_diverging_rate():
    with pytest.raises(UserError, match="infinite or undefined"):
        compare_seeds(
            SEEDS, replace(SMALL, task="adding", optimizer="sgd", clip=None, learning_rate=1e6)
        )
