"""The two memory tasks: against slow plain loops, and closed forms of what forgetting gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from seqviz.compute.vanishing_gradients.recall.tasks import (
    DISTRACTORS,
    SYMBOLS,
    TASKS,
    TOLERANCE,
    baseline,
    draw,
    score,
    sizes,
    slope,
)

MANY = 20_000


def seeded(seed: int = 0) -> np.random.RandomState:
    return np.random.RandomState(seed)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("delay", [1, 2, 7, 200])
def test_draw_returns_expected_shapes_and_targets(task, delay):
    examples = draw(task, delay, 50, seeded())
    assert examples.inputs.shape == (delay + 1, 50, sizes(task)[0])
    assert examples.inputs.dtype == np.float32
    for b in range(50):
        steps = examples.inputs[:, b]
        if task == "first":
            assert (steps.sum(axis=1) == 1).all()
            symbols = [int(np.flatnonzero(step)[0]) for step in steps]
            assert examples.targets[b] == symbols[0] < SYMBOLS
            assert all(SYMBOLS <= s < SYMBOLS + DISTRACTORS for s in symbols[1:])
        else:
            marked = [t for t in range(delay + 1) if steps[t, 1] == 1]
            assert (steps[:, 1] != 0).sum() == len(marked) == 2
            assert marked[0] < (delay + 1) // 2 <= marked[1]
            assert examples.targets[b] == steps[marked[0], 0] + steps[marked[1], 0]
            assert ((steps[:, 0] >= 0) & (steps[:, 0] <= 1)).all()


def test_draw_symbols_and_distractors_are_uniform():
    examples = draw("first", 9, MANY, seeded(1))
    for steps, count, slots in ((slice(0, 1), MANY, SYMBOLS), (slice(1, 10), 9 * MANY, 4)):
        stage = examples.inputs[steps].sum(axis=(0, 1))
        stage = stage[stage > 0]
        assert len(stage) == slots
        # five standard deviations of a binomial count with p = 1/4
        assert np.abs(stage - count / slots).max() < 5 * math.sqrt(count * 3 / 16)


def test_draw_marks_are_uniform_within_halves():
    marks = draw("adding", 6, MANY, seeded(2)).inputs[..., 1].sum(axis=1)  # 7 steps: 3 and 4
    for half in (marks[:3], marks[3:]):
        p = 1 / len(half)
        assert half.sum() == MANY
        assert np.abs(half - p * MANY).max() < 5 * math.sqrt(MANY * p * (1 - p))


def test_draw_first_symbol_is_independent_of_distractors():
    examples = draw("first", 1, MANY, seeded(3))
    table = examples.inputs[0].T @ examples.inputs[1]
    # each pair has probability 1/16; five standard deviations
    pairs = table[:SYMBOLS, SYMBOLS:]
    assert np.abs(pairs - MANY / 16).max() < 5 * math.sqrt(MANY * 15 / 256)


def test_score_of_constant_answer_matches_baseline():
    symbols = draw("first", 1, MANY, seeded(6)).targets
    forgotten = score("first", np.zeros((MANY, SYMBOLS)), symbols)
    # a constant answer is right for one symbol in four, within five standard deviations
    assert forgotten.accuracy == pytest.approx(0.25, abs=5 * math.sqrt(3 / 16 / MANY))
    assert forgotten.loss == pytest.approx(math.log(4), rel=1e-12)
    assert baseline("first").accuracy == 0.25
    assert baseline("first").loss == pytest.approx(math.log(4), rel=1e-12)

    sums = draw("adding", 1, MANY, seeded(6)).targets
    ones = score("adding", np.ones((MANY, 1)), sums)
    expected = baseline("adding")
    assert expected.loss == pytest.approx(1 / 6, rel=1e-12)
    p = expected.accuracy
    assert ones.accuracy == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / MANY))
    # (sum - 1)^2 has variance 1/15 - 1/36 = 7/180 (triangular density)
    assert ones.loss == pytest.approx(1 / 6, abs=5 * math.sqrt(7 / 180 / MANY))


def test_score_tolerance_matches_hochreiter_and_schmidhuber():
    """Their target is 0.5 + (X1 + X2) / 4 with X in [-1, 1], right within 0.04."""
    ours, theirs = [], []
    for u1, u2, error in seeded(7).uniform((0, 0, -0.2), (1, 1, 0.2), (500, 3)):
        ours.append(score("adding", np.array([[u1 + u2 + error]]), np.array([u1 + u2])).accuracy)
        answer_there = 0.5 + (2 * (u1 + u2 + error) - 2) / 4
        target_there = 0.5 + ((2 * u1 - 1) + (2 * u2 - 1)) / 4
        theirs.append(float(abs(answer_there - target_there) < 0.04))
    assert ours == theirs
    assert 0 < sum(ours) < 500
    assert TOLERANCE == 0.08


@pytest.mark.parametrize("task", TASKS)
def test_score_and_slope_match_torch(task):
    examples = draw(task, 3, 30, seeded(8))
    answers = torch.tensor(seeded(9).normal(size=(30, sizes(task)[1])), requires_grad=True)
    targets = torch.from_numpy(examples.targets)
    if task == "first":
        loss = torch.nn.functional.cross_entropy(answers, targets)
        right = (answers.argmax(1) == targets).double().mean().item()
    else:
        loss = torch.nn.functional.mse_loss(answers[:, 0], targets.double())
        right = ((answers[:, 0] - targets).abs() < TOLERANCE).double().mean().item()
    loss.backward()
    got = score(task, answers.detach().numpy(), examples.targets)
    # 1e-12: both in float64, sums of 30 terms
    assert got.loss == pytest.approx(loss.item(), rel=1e-12)
    assert got.accuracy == pytest.approx(right, rel=1e-12)
    np.testing.assert_allclose(
        slope(task, answers.detach().numpy(), examples.targets), answers.grad.numpy(), atol=1e-14
    )


def test_score_handles_large_logits():
    answers = np.array([[1000.0, -1000.0, 0.0, 0.0]])
    assert score("first", answers, np.array([0])).loss == 0
    assert score("first", answers, np.array([1])).loss == 2000
