"""Stacks that learn: which arrangement does, how its losses are counted, and what is the same."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.transformer.depth import ARRANGEMENTS
from seqviz.compute.transformer.learning import CHANCE, SCHEDULES, StackResult, StackSettings
from seqviz.compute.transformer.stack_training import train_stacks

PLACES = [(schedule, arrangement) for schedule in SCHEDULES for arrangement in ARRANGEMENTS]


@pytest.fixture(scope="module")
def shallow() -> StackResult:
    return train_stacks(StackSettings(blocks=1, rate=5e-3, updates=150, warm_up=30, runs=2))


def test_train_stacks_schedules_share_initial_weights_and_sequences():
    still = train_stacks(StackSettings(blocks=1, rate=1e-12, updates=3, runs=2))
    np.testing.assert_allclose(still.loss[:, 0], still.loss[:, 1], rtol=1e-5)
    assert (still.loss > CHANCE / 2).all()
    assert pytest.approx(np.log(6)) == CHANCE


@pytest.mark.nightly
def test_train_stacks_shallow_learns_to_reverse(shallow):
    for arrangement in ("post", "pre", "none"):
        for schedule in SCHEDULES:
            assert shallow.learned(schedule, arrangement) == (2, 2), (schedule, arrangement)
            assert shallow.median(schedule, arrangement) < 0.5


def test_train_stacks_runs_and_schedules_differ(shallow):
    for schedule, arrangement in PLACES:
        item, other = shallow.last(schedule, arrangement)
        assert item != other
    assert not np.array_equal(shallow.loss[:, 0], shallow.loss[:, 1])


def test_train_stacks_warm_up_of_one_matches_constant_schedule():
    same = train_stacks(StackSettings(blocks=1, updates=5, warm_up=1, runs=1))
    np.testing.assert_array_equal(same.loss[:, 0], same.loss[:, 1])


def test_stack_result_counts_nan_as_not_learned():
    settings = StackSettings(updates=1, runs=3)
    loss = np.full((1, 2, 4, 3), CHANCE / 4)
    loss[0, 0, 0] = [np.nan, np.nan, CHANCE / 4]
    loss[0, 1, 1] = [np.nan, CHANCE / 4, CHANCE]
    result = StackResult(settings, np.array([1]), loss)
    assert result.learned("constant", "post") == (1, 3)
    assert result.median("constant", "post") == np.inf
    assert result.learned("warm_up", "pre") == (1, 3)
    assert result.median("warm_up", "pre") == CHANCE
    assert result.learned("constant", "pre") == (3, 3)
