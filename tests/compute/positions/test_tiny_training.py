"""Training: what is learned with which encoding, and that it can be repeated and stopped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from statsmodels.stats.proportion import proportion_confint

from seqviz.compute.positions.tiny import training
from seqviz.compute.positions.tiny.results import TEST_SEQUENCES, OrderResult
from seqviz.compute.positions.tiny.settings import ENCODINGS, OrderSettings
from seqviz.compute.positions.tiny.tasks import TASKS, draw
from seqviz.compute.positions.tiny.training import train, training_batch
from seqviz.compute.training.progress import moments

SMALL = OrderSettings(task="copy", length=6, updates=3, runs=2)


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def small() -> OrderResult:
    return train(SMALL)


# --- what is learned ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reversing() -> OrderResult:
    return train(OrderSettings("reverse", 6, encodings=("none", "learned"), updates=100))


def test_train_reverse_needs_positions(reversing):
    none, learned = reversing.test.accuracy.share
    # 1,000 sequences; a standard error of 0.005, as the share of the most frequent letter varies
    # by about 0.15 between sequences. Five of these.
    assert np.abs(none - reversing.test.order_blind).max() < 0.025
    assert learned.min() > 0.95
    assert reversing.test.accuracy.low[1].min() > reversing.test.accuracy.high[0].max()


def test_train_without_encoding_answers_most_frequent_letter(reversing):
    for run in reversing.given[0]:
        for letters, given in zip(reversing.examples.letters, run, strict=True):
            assert len(set(given.tolist())) == 1
            assert (letters == given[0]).sum() >= np.bincount(letters).max() - 1
    right = (reversing.given[1] == reversing.examples.answers).mean()
    assert right > 0.9


def test_train_learned_encoding_has_no_longer_scores(reversing):
    """Longer sequences have no rows in a learned table."""
    longer = reversing.longer
    assert longer.length == 12
    result = longer.accuracy
    assert np.isnan([result.low[1], result.high[1], result.share[1]]).all()
    assert not result.n[1].any()
    assert np.isnan(reversing.right_longer("learned"))
    # the most frequent letter is found among twice as many
    assert np.abs(longer.accuracy.share[0] - longer.order_blind).max() < 0.05


def test_train_count_needs_no_positions():
    result = train(OrderSettings("count", 6, encodings=("none",), updates=100))
    assert result.test.order_blind == 1
    assert result.test.accuracy.share.min() > 0.95
    assert result.curve[0].max() < 0.5  # it did not know at the beginning; chance is 1/7


def test_train_before_needs_encoding_or_causal_mask():
    settings = OrderSettings("before", 6, encodings=("none", "rotary"), updates=100)
    open_, masked = train(settings), train(replace(settings, encodings=("none",), causal=True))
    none, rotated = open_.test.accuracy.share
    # a standard error of sqrt(0.63 x 0.37 / 1000) = 0.015; four of these
    assert none.max() < open_.test.order_blind + 0.06
    assert rotated.min() > 0.95
    assert masked.test.accuracy.share.min() > 0.95  # D-40: a causal mask alone tells the order


def test_scores_match_definition_and_wilson_intervals(reversing):
    test = reversing.test
    assert test.mean.tolist() == [reversing.right(name) for name in ("none", "learned")]
    np.testing.assert_array_equal(test.mean, test.accuracy.share.mean(1))
    right = test.accuracy.share * TEST_SEQUENCES
    wilson = proportion_confint(right, TEST_SEQUENCES, method="wilson")
    np.testing.assert_allclose([test.accuracy.low, test.accuracy.high], wilson, rtol=1e-12)


# --- data ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_training_batch_excludes_test_sequences(task):
    settings = OrderSettings(task, 6)
    test = draw(task, 6, TEST_SEQUENCES, np.random.RandomState(0))
    held = set(map(tuple, test.letters.tolist()))
    random, plain = np.random.RandomState(1), np.random.RandomState(1)
    met = drawn_anyway = 0
    for _ in range(200):
        batch = training_batch(settings, random, test)
        met += sum(tuple(row) in held for row in batch.letters.tolist())
        letters = draw(task, 6, len(batch.letters), plain).letters
        drawn_anyway += sum(tuple(row) in held for row in letters.tolist())
    assert drawn_anyway > 0  # so there was something to keep out
    assert (met > 0) == (task == "count")


def test_rate_warms_up_and_decays():
    rates = [training.rate(update, 500) for update in range(500)]
    assert rates[0] == training.RATE / 50
    assert max(rates) == rates[49] == rates[250] == training.RATE
    assert np.all(np.diff(rates[:50]) > 0)
    assert np.all(np.diff(rates[250:]) < 0)
    assert 0 < rates[-1] < 0.01 * training.RATE


# --- the same again -----------------------------------------------------------------------------


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_train_on_gpu_matches_cpu(small):
    gpu = train(SMALL, device="cuda")
    np.testing.assert_array_equal(gpu.examples.letters, small.examples.letters)
    # 192 answers a batch; float32 in another order may turn a few between close scores
    np.testing.assert_allclose(gpu.curve, small.curve, atol=3.5 / 192)


def test_train_encodings_do_not_affect_each_other(small):
    """Side by side they do not disturb each other."""
    for i, encoding in enumerate(ENCODINGS):
        alone = train(replace(SMALL, encodings=(encoding,)))
        np.testing.assert_array_equal(alone.curve[:, 0], small.curve[:, i])
        np.testing.assert_array_equal(alone.given[0], small.given[i])


def test_train_parameters_match_two_layer_formula(small):
    d, symbols, letters = 32, 7, 6
    layer = (d + 1) * 3 * d + (d + 1) * d + (d + 1) * 2 * d + (2 * d + 1) * d
    numbers = symbols * d + 2 * layer + (d + 1) * letters
    table = 2 * 6 * d  # a row for each of 6 letters and of 6 slots
    expected = [numbers + table * (encoding == "learned") for encoding in ENCODINGS]
    assert small.parameters.tolist() == expected
    assert training._network(SMALL, "none").heads == 4


def test_train_matches_plain_adam_loop():
    """The first of two runs, trained by a plain loop without the second."""
    settings = replace(SMALL, encodings=("rotary",), runs=1, updates=40)
    test = draw("copy", 6, TEST_SEQUENCES, training._stream(settings, 0, 2))
    network = training._network(settings, "rotary")
    optimizer = torch.optim.Adam(network.parameters(), fused=False)
    random, right = training._stream(settings, 0, 1), []
    for update in range(40):
        batch = training_batch(settings, random, test)
        scores = network(torch.as_tensor(batch.symbols)[None])[0, :, 6:]
        right.append((scores.argmax(-1).numpy() == batch.answers).mean())
        loss = torch.nn.functional.cross_entropy(
            scores.transpose(1, 2), torch.as_tensor(batch.answers)
        )
        optimizer.param_groups[0]["lr"] = training.rate(update, 40)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    got = train(replace(settings, runs=2)).curve[:, 0, 0]
    assert right[-1] > right[0] + 0.1  # it has learned something that could be missed
    # 192 answers a batch; float32 in another order may turn a few between close scores
    np.testing.assert_allclose(got, right, atol=3.5 / 192)


# --- reports and cancel -------------------------------------------------------------------------


def test_train_reports_match_curve():
    observed = []
    result = train(replace(SMALL, encodings=("none", "alibi"), updates=60), report=observed.append)
    latest = {record.update: record for record in observed}  # a slow machine repeats some
    assert np.isnan(latest.pop(0).accuracy).all()  # it has begun
    assert list(latest) == result.updates.tolist() == moments(60)[1:]
    for i, record in enumerate(latest.values()):
        assert record.fraction == result.updates[i] / 60
        np.testing.assert_array_equal(record.accuracy, result.curve[i])
    assert result.curve.shape == (30, 2, 2)


def test_train_curve_uses_fresh_sequences_and_starts_at_chance():
    """The first record of an untrained network is at chance level."""
    result = train(OrderSettings("before", 6, encodings=("none",), updates=1, runs=5))
    # 5 x 32 answers; the other encodings would read the same
    assert abs(result.curve.mean() - 0.5) < 5 * (0.25 / 160) ** 0.5
