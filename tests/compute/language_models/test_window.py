"""The network that reads a window, against PyTorch and closed forms; agreement at a distance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from seqviz.compute.language_models import window
from seqviz.compute.language_models.agreement import AgreementByDistance
from seqviz.compute.language_models.window import HIDDEN, SIZE, WindowNetwork
from seqviz.compute.language_models.window_training import (
    WindowSettings,
    loss_of_softmax,
    train,
)

WORDS = tuple("abcdefghijkl")


def network(tied: bool = False, seed: int = 0) -> WindowNetwork:
    random = np.random.RandomState(seed)
    gains = random.normal(size=3) if tied else np.ones(3)
    return WindowNetwork(
        WORDS, random.normal(size=(12, 5)), random.normal(size=(1 if tied else 3, 5, 7)), gains,
        random.normal(size=7), random.normal(size=(12, 7)), random.normal(size=12),
    )  # fmt: skip


@pytest.mark.parametrize("tied", [False, True])
def test_log2_probabilities_equal_one_linear_layer_of_concatenated_embeddings(tied):
    net = network(tied)
    windows = np.random.RandomState(1).randint(12, size=(9, 3))
    rows = net.embedding[windows].reshape(9, 15)  # 1 x 3d
    matrix = np.concatenate(
        [gain * net.blocks[0 if tied else k] for k, gain in enumerate(net.gains)]
    )
    hidden = torch.tanh(torch.tensor(rows @ matrix + net.bias))
    scores = hidden @ torch.tensor(net.output.T) + torch.tensor(net.output_bias)
    wanted = torch.log_softmax(scores, -1).numpy() / np.log(2)
    ours = net.log2_probabilities(windows)
    np.testing.assert_allclose(ours, wanted, atol=1e-12)
    np.testing.assert_allclose((2**ours).sum(1), 1, atol=1e-12)


def test_windows_begin_with_ends_of_a_sentence():
    windows = window.windows_of(np.array([5, 6, 7, 8]), 3)
    assert windows.tolist() == [[1, 1, 1], [1, 1, 5], [1, 5, 6], [5, 6, 7]]
    assert window.windows_of(np.array([], int), 3).shape == (0, 3)


def test_bits_are_of_the_words_themselves():
    net, ids = network(), np.array([4, 0, 11, 2])
    log2 = net.log2_probabilities(window.windows_of(ids, 3))
    assert net.bits(ids).tolist() == [-log2[k, i] for k, i in enumerate(ids)]
    assert not len(net.bits(ids[:0]))


def test_similarity_is_one_where_blocks_are_tied_and_near_zero_where_they_are_independent():
    tied = network(tied=True).similarity(2, 0, 10)
    sign = np.sign(network(tied=True).gains[2] * network(tied=True).gains[0])
    np.testing.assert_allclose(sign * tied.same, 1)
    random = np.random.RandomState(2)
    means = []
    for _ in range(20):  # one draw of the blocks gives all words a cosine of 0 +- 0.02
        large = WindowNetwork(
            tuple(map(str, range(302))), random.normal(size=(302, 30)),
            random.normal(size=(3, 30, 100)), np.ones(3), np.zeros(100),
            np.zeros((302, 100)), np.zeros(302),
        )  # fmt: skip
        apart = large.similarity(2, 1)
        means.append(apart.mean.mean)
        assert 100 < apart.rank.mean() < 200
    assert abs(np.mean(means)) < 0.015
    assert len(apart.same) == 300
    assert len(apart.other) == 300 * 299
    same = replace(large, blocks=large.blocks[[0, 0, 0]]).similarity(2, 1)
    assert (same.rank == 1).all()
    np.testing.assert_allclose(same.same, 1)


def test_loss_of_softmax_and_its_gradients_are_those_of_pytorch():
    """Twice, as the array of the scores is kept; scores of 300 and more do not overflow."""
    loss = loss_of_softmax(8, 50)
    for seed, scale in ((0, 1.0), (1, 60.0)):
        generator = torch.Generator().manual_seed(seed)
        weights = [scale * torch.randn(*shape, generator=generator)
                   for shape in ((8, 6), (50, 6), (50,))]  # fmt: skip
        truth = torch.randint(50, (8,), generator=generator)
        ours, theirs = ([part.clone().requires_grad_() for part in weights] for _ in range(2))
        hidden, output, bias = theirs
        expected = 3 * torch.nn.functional.cross_entropy(hidden @ output.T + bias, truth)
        found = 3 * loss(*ours, truth)
        expected.backward()
        found.backward()
        assert found.item() == pytest.approx(expected.item(), rel=1e-5)
        for own, other in zip(ours, theirs, strict=True):
            torch.testing.assert_close(own.grad, other.grad, rtol=1e-4, atol=1e-5 * scale)


@pytest.mark.parametrize("tied", [False, True])
def test_train_learns_a_rule_of_the_second_word(tied):
    """The next word is the one two before; words drawn at random have log2(12) = 3.58 bits."""
    random = np.random.RandomState(3)
    windows = random.randint(12, size=(400, 3))
    settings = WindowSettings(words=12, tied=tied, updates=150)
    net, records = train(windows, windows[:, 1], WORDS, settings)
    assert net.blocks.shape == (1 if tied else 3, SIZE, HIDDEN)
    assert net.tied == tied
    assert (net.gains == 1).all() != tied
    log2 = net.log2_probabilities(windows)
    assert -log2[np.arange(400), windows[:, 1]].mean() < 0.1
    assert records[0].loss > 1
    assert records[-1].update == 150
    expected = 12 * SIZE + len(net.blocks) * SIZE * HIDDEN + HIDDEN + 12 * HIDDEN + 12 + 3 * tied
    assert net.parameters == expected


def test_agreement_effect_is_paired_and_blind_is_exact():
    plural = np.array([[[0.3, 0.5], [0.2, 0.4]], [[0.1, 0.1], [0.1, 0.1]]])
    singular = np.array([[[0.1, 0.3], [0.2, 0.4]], [[0.1, 0.1], [0.1, np.nextafter(0.1, 1)]]])
    found = AgreementByDistance(("a", "b"), np.array([0, 3]), plural, singular)
    assert found.effect("a").mean == pytest.approx([0.2, 0.0])
    assert found.preference("a").mean == pytest.approx([0.4, 0.3])
    assert not found.blind("a")
    assert not found.blind("b")
    assert replace(found, singular=plural).blind("b")
