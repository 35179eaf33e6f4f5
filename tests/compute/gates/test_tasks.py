"""The little tasks: right answers by counting in plain Python; tiny networks learn them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.gates import tiny
from seqviz.compute.gates.encoding import marks
from seqviz.compute.gates.networks import accuracy, inputs
from seqviz.compute.gates.observation import observe
from seqviz.compute.gates.tasks import ANSWERS, EXAMPLES, SYMBOLS, TASKS, draw, right_answers
from seqviz.compute.gates.tiny import TinySettings, recommended, train_tiny
from seqviz.compute.training.loop import distinct
from tests.tiers import first_only


def drawn(task: str, length: int = 13, size: int = 200):
    return draw(task, length, size, np.random.RandomState(3))


def columns(task: str):
    batch = drawn(task)
    for k in range(batch.symbols.shape[1]):
        read = [SYMBOLS[task][i] for i in batch.symbols[:, k]]
        answers = [ANSWERS[task][i] for i in batch.answers[:, k]]
        yield read, answers, batch.scored[:, k]


def test_latch_answers_first_letter():
    for read, answers, scored in columns("latch"):
        assert set(answers) == {read[0]}
        assert scored.all()


def test_parity_answers_parity_of_ones_so_far():
    for read, answers, scored in columns("parity"):
        for t, answer in enumerate(answers):
            assert answer == ("odd" if read[: t + 1].count("1") % 2 else "even")
        assert scored.all()


def test_count_answers_next_symbol_of_anbn():
    sizes = set()
    for read, answers, scored in columns("count"):
        n = read.count("a")
        assert read == ["a"] * n + ["b"] * n + ["."] * (13 - 2 * n)
        assert list(np.flatnonzero(scored)) == list(range(n, 2 * n))
        for t in np.flatnonzero(scored):
            assert answers[t] == read[t + 1]
        sizes.add(n)
    assert sizes == set(range(1, 7))


def test_adding_answers_sum_of_marked_digits():
    for read, answers, scored in columns("adding"):
        marked = [int(symbol[0]) for symbol in read if symbol.endswith("*")]
        assert len(marked) == 2
        assert answers[-1] == str(sum(marked))
        assert list(np.flatnonzero(scored)) == [12]


@pytest.mark.parametrize("task", TASKS)
def test_right_answers_match_drawn_batch(task):
    batch = drawn(task)
    for k in range(20):
        typed = right_answers(task, batch.symbols[:, k])
        where = batch.scored[:, k]
        assert typed.scored[where, 0].all()
        np.testing.assert_array_equal(typed.answers[where, 0], batch.answers[where, k])


@pytest.mark.parametrize("task", TASKS)
def test_right_answers_skip_empty_and_unknown_symbols(task):
    """Nor has a string that is not a^n b^n after its mistake."""
    mistaken = right_answers("count", marks("aabab", SYMBOLS["count"]).ids).scored[:, 0]
    assert list(mistaken) == [False, False, True, False, False]
    assert right_answers(task, np.zeros(0, np.int64)).scored.shape == (0, 1)
    ids = marks(EXAMPLES[task], SYMBOLS[task]).ids
    full = right_answers(task, ids)
    for index in range(len(ids)):
        broken = ids.copy()
        broken[index] = -1
        result = right_answers(task, broken)
        np.testing.assert_array_equal(result.scored[:index], full.scored[:index])
        assert not result.scored[index:].any()


def test_inputs_encode_unknown_symbol_as_zeros():
    network = train_tiny(TinySettings("parity", "gru", updates=1)).network
    result = inputs(network, np.array([1, -1, 0]))
    np.testing.assert_array_equal(result, [[0, 1], [0, 0], [1, 0]])
    assert result.dtype == np.float32


@pytest.mark.parametrize(
    ("task", "cell"),
    first_only([("latch", "gru"), ("count", "lstm"), ("parity", "gru"), ("latch", "lstm"),
            ("count", "gru"), ("parity", "lstm")], retained=3),
)  # fmt: skip
def test_train_tiny_learns_task(task, cell):
    settings = replace(recommended(task, cell), updates=300, seed=3)
    reports = []
    tiny = train_tiny(settings, reports.append)
    # First above 0.99 after 60 to 200 updates for seeds 0, 1 and 2.
    assert tiny.accuracy[-1] > 0.99
    fresh = draw(task, settings.length, 300, np.random.RandomState(77))
    assert accuracy(tiny.network, fresh) > 0.99  # numpy's kernel, not torch
    assert next(r.update for r in reports) == 0
    assert reports[-1].fraction == 1
    assert tiny.updates[-1] == 300


@pytest.mark.parametrize(("cell", "symbol"), [("lstm", "f"), ("gru", "z")])
def test_training_reports_gate_on_example_without_changing_network(cell, symbol, monkeypatch):
    settings, reports = TinySettings("count", cell, updates=60, keep_bias=3.0), []
    done = train_tiny(settings, reports.append)
    seen = observe(done.network, EXAMPLES["count"], symbol)
    assert seen.pieces == settings.example
    np.testing.assert_allclose(done.gate[-1], seen.values.mean(axis=1), rtol=1e-6)
    assert done.gate.shape == (len(done.updates), len(settings.example))
    once = distinct(reports)
    np.testing.assert_array_equal([report.gate for report in once], done.gate)
    # Before the first update its bias of 3 holds it open; then it learns.
    assert (done.gate[0] > 0.9).all()
    assert np.abs(done.gate[-1] - done.gate[0]).max() > 0.01
    monkeypatch.setattr(tiny, "_mean_gate", lambda network: np.zeros(1))
    blind = train_tiny(settings)
    np.testing.assert_array_equal(blind.accuracy, done.accuracy)
    np.testing.assert_array_equal(blind.network.head, done.network.head)
    np.testing.assert_array_equal(
        blind.network.weights.hidden_hidden, done.network.weights.hidden_hidden
    )


def test_draw_rejects_unknown_task_and_short_sequence():
    with pytest.raises(ValueError, match="Unknown task"):
        draw("sort", 9, 1, np.random.RandomState(0))
    with pytest.raises(ValueError, match="3 symbols"):
        draw("latch", 2, 1, np.random.RandomState(0))
