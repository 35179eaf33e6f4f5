"""The ladder of delays: every rung is a race of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seqviz.compute.vanishing_gradients.recall import RecallSettings, compare, find_longest_delay
from seqviz.compute.vanishing_gradients.recall.longest_delay import DELAYS
from seqviz.compute.vanishing_gradients.recall.tasks import LEARNED

SHORT = RecallSettings(
    delay=5, hidden=16, updates=60, learning_rate=0.01, forget_bias=1.0, cells=("rnn", "gru")
)


def test_every_rung_is_a_race_of_its_own():
    ladder = find_longest_delay(replace(SHORT, updates=100))
    assert ladder.delays.tolist() == [1, 2, 5]
    for rung, delay in enumerate(ladder.delays.tolist()):
        race = compare(replace(SHORT, updates=100, delay=delay))
        for c in range(2):
            if not ladder.tried[rung, c]:
                continue
            assert ladder.learned[rung, c] == race.learned[c]
            made = race.first_learned_update[c] if race.learned[c] else 100
            assert ladder.updates[rung, c] == made
            at = race.updates.tolist().index(made)
            assert ladder.accuracy[rung, c] == race.accuracy[at, c]
    assert ladder.learned.all()
    assert ladder.longest.tolist() == [5, 5]
    assert (ladder.seconds > 0).all()


def test_a_cell_that_fails_is_out():
    # one update is never enough: all fail at once; the report says so
    seen = []
    ladder = find_longest_delay(replace(SHORT, updates=1), report=seen.append)
    assert ladder.tried.tolist() == [[True, True], [False, False], [False, False]]
    assert not ladder.learned.any()
    assert ladder.longest.tolist() == [0, 0]
    assert ladder.updates.tolist() == [[1, 1], [0, 0], [0, 0]]
    assert np.isnan(ladder.accuracy[1:]).all()
    assert (ladder.accuracy[0] < LEARNED).all()
    assert {record.delay for record in seen} == {1}


def test_one_cell_goes_on_without_the_other():
    # a rate at which the RNN needs more than its budget for a delay of 20, the GRU does not
    settings = RecallSettings(
        delay=20, hidden=16, updates=150, learning_rate=0.005, cells=("rnn", "gru"), seed=1
    )
    ladder = find_longest_delay(settings)
    assert ladder.longest[0] < ladder.longest[1] == 20
    failed = ladder.tried & ~ladder.learned
    assert failed.sum(axis=0).tolist() == [1, 0]
    assert (ladder.updates[failed] == 150).all()
    for c in range(2):  # tried up to the first failure, and no further
        count = int(ladder.tried[:, c].sum())
        assert ladder.tried[:count, c].all()
        assert ladder.learned[: count - 1, c].all()


def test_reports_tell_the_height_reached():
    seen = []
    ladder = find_longest_delay(SHORT, report=seen.append)
    np.testing.assert_array_equal(seen[-1].longest, ladder.longest)
    heights = np.array([record.longest for record in seen])
    assert (np.diff(heights, axis=0) >= 0).all()
    for record in seen:
        assert record.delay in DELAYS
        assert 0 <= record.update <= record.budget == 60
        rung = ladder.delays.tolist().index(record.delay)
        np.testing.assert_array_equal(np.isnan(record.accuracy), ~ladder.tried[rung])
