"""The texts' numbers: those that follow from others in the same text do."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.bert_accuracy.reported import CURVES, REPORTED, adam_reach

BY_ROW = {record.row: record for record in REPORTED}
CURVE = {curve.row: curve for curve in CURVES}


def test_reported_accuracies_are_whole_review_counts():
    correct = {row: record.correct for row, record in BY_ROW.items()}
    assert correct == {
        "0-72": 12420, "0-73": 16737, "0-74": 23458, "4-46": 9250, "4-49": 9327, "4-50": None
    }  # fmt: skip
    for record in REPORTED:
        if record.n is not None:
            assert record.correct / record.n == pytest.approx(record.accuracy, abs=1e-12)


def test_reported_steps_match_printed_updates():
    assert BY_ROW["0-73"].steps == BY_ROW["0-74"].steps == 5 * 782
    assert BY_ROW["4-46"].steps == BY_ROW["4-49"].steps == 6564
    assert BY_ROW["0-72"].steps is None
    assert BY_ROW["4-50"].steps is None


@pytest.mark.parametrize("row", ["0-73", "0-74"])
def test_curves_train_accuracies_are_whole_review_counts(row):
    reviews = CURVE[row].train * BY_ROW[row].train
    np.testing.assert_allclose(reviews, np.round(reviews), atol=1e-6)  # float64 of 25,000


def test_curves_have_one_value_per_epoch_and_monotonic_training():
    for curve in CURVES:
        arrays = (curve.loss, curve.train, curve.validation)
        assert {len(array) for array in arrays} == {BY_ROW[curve.row].epochs}
        assert (np.diff(curve.train) > 0).all()
        assert not (np.diff(curve.loss) >= 0).any()  # nan where nothing is printed
    # The head's loss starts at that of a coin, ln 2, and barely leaves it (D-64).
    np.testing.assert_allclose(CURVE["0-73"].loss, np.log(2), atol=0.04)


def test_adam_reach_matches_torch():
    import torch

    head = BY_ROW["0-73"]
    assert adam_reach(head.rate, head.steps) == pytest.approx(0.0391)
    random = np.random.RandomState(0)
    gradients = np.stack([np.full(300, 0.7), np.full(300, -1e-3), random.randn(300)])
    weight = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    adam = torch.optim.Adam([weight], lr=1e-3)
    for gradient in gradients.T:
        weight.grad = torch.tensor(gradient)
        adam.step()
    moved = weight.detach().numpy()
    # A steady gradient reaches it, whatever its size; 1e-5 is Adam's epsilon beside 1e-3.
    np.testing.assert_allclose(moved[:2], [-0.3, 0.3], rtol=2e-5)
    assert abs(moved[2]) < adam_reach(1e-3, 300) / 3


def test_adam_reach_matches_decaying_rate():
    """Five epochs of 228 steps, as the page trains a head: half of rate times steps."""
    from seqviz.experiments.bert_accuracy.heads import Adam

    weight, steps, rate = np.zeros(1), 1140, 1e-5
    mover = Adam(weight, rate, 0.0)
    for step in range(steps):
        mover.step(np.array([-0.3]), 1 - step / steps)
    assert weight[0] == pytest.approx(adam_reach(rate, steps, falling=True), rel=1e-4)
    assert weight[0] == pytest.approx(0.0057, abs=5e-5)
