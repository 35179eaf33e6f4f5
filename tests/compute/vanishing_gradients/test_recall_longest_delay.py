"""The ladder of delays: every rung is a race of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.vanishing_gradients.recall import RecallSettings, compare, find_longest_delay
from seqviz.compute.vanishing_gradients.recall.longest_delay import DELAYS
from seqviz.compute.vanishing_gradients.recall.tasks import LEARNED

SHORT = RecallSettings(
    delay=5, hidden=16, updates=60, learning_rate=0.01, forget_bias=1.0, cells=("rnn", "gru")
)


@pytest.mark.nightly
def test_find_longest_delay_matches_separate_comparisons():
    longest_delay = find_longest_delay(replace(SHORT, updates=100))
    assert longest_delay.delays.tolist() == [1, 2, 5]
    for rung, delay in enumerate(longest_delay.delays.tolist()):
        race = compare(replace(SHORT, updates=100, delay=delay))
        for c in range(2):
            if not longest_delay.tried[rung, c]:
                continue
            assert longest_delay.learned[rung, c] == race.learned[c]
            created = race.first_learned_update[c] if race.learned[c] else 100
            assert longest_delay.updates[rung, c] == created
            at = race.updates.tolist().index(created)
            assert longest_delay.accuracy[rung, c] == race.accuracy[at, c]
    assert longest_delay.learned.all()
    assert longest_delay.longest.tolist() == [5, 5]
    assert (longest_delay.seconds > 0).all()


def test_find_longest_delay_drops_failed_cells():
    # one update is never enough: all fail at once; the report says so
    observed = []
    longest_delay = find_longest_delay(replace(SHORT, updates=1), report=observed.append)
    assert longest_delay.tried.tolist() == [[True, True], [False, False], [False, False]]
    assert not longest_delay.learned.any()
    assert longest_delay.longest.tolist() == [0, 0]
    assert longest_delay.updates.tolist() == [[1, 1], [0, 0], [0, 0]]
    assert np.isnan(longest_delay.accuracy[1:]).all()
    assert (longest_delay.accuracy[0] < LEARNED).all()
    assert {record.delay for record in observed} == {1}


def test_find_longest_delay_continues_with_remaining_cell():
    # a rate at which the RNN needs more than its budget for a delay of 20, the GRU does not
    settings = RecallSettings(
        delay=20, hidden=16, updates=150, learning_rate=0.005, cells=("rnn", "gru"), seed=1
    )
    longest_delay = find_longest_delay(settings)
    assert longest_delay.longest[0] < longest_delay.longest[1] == 20
    failed = longest_delay.tried & ~longest_delay.learned
    assert failed.sum(axis=0).tolist() == [1, 0]
    assert (longest_delay.updates[failed] == 150).all()
    for c in range(2):  # tried up to the first failure, and no further
        count = int(longest_delay.tried[:, c].sum())
        assert longest_delay.tried[:count, c].all()
        assert longest_delay.learned[: count - 1, c].all()


def test_find_longest_delay_reports_longest_so_far():
    observed = []
    longest_delay = find_longest_delay(SHORT, report=observed.append)
    np.testing.assert_array_equal(observed[-1].longest, longest_delay.longest)
    heights = np.array([record.longest for record in observed])
    assert (np.diff(heights, axis=0) >= 0).all()
    for record in observed:
        assert record.delay in DELAYS
        assert 0 <= record.update <= record.budget == 60
        rung = longest_delay.delays.tolist().index(record.delay)
        np.testing.assert_array_equal(np.isnan(record.accuracy), ~longest_delay.tried[rung])
