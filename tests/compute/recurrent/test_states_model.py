"""The wrapper around any recurrent layer, which S3 prints in part (row 3-23, D-23)."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from seqviz.compute.recurrent.states.model import LAYERS, RNNModel, wrapped

IDS = np.array([3, 1, 4, 1, 5, 9, 2, 6])


@pytest.mark.parametrize("cell", LAYERS)
@pytest.mark.parametrize("both", [False, True])
def test_rnn_model_matches_layer_and_linear_per_step(cell, both):
    torch.manual_seed(1)
    layer = LAYERS[cell](10, 7, bidirectional=both)
    model = RNNModel(layer, 10)
    ids = torch.randint(10, (2, 5))
    scores, state = model(ids)
    assert scores.shape == (10, 10)
    outputs, last = layer(torch.eye(10)[ids.T])
    expected = torch.stack([model.linear(outputs[t, row]) for t in range(5) for row in range(2)])
    torch.testing.assert_close(scores, expected)
    torch.testing.assert_close(state, last)


@pytest.mark.parametrize(("cell", "gates"), [("rnn", 1), ("gru", 3), ("lstm", 4)])
def test_wrapped_counts_parameters(cell, gates):
    result = wrapped(cell, IDS, 10, 16)
    assert result.parameters == gates * (16 * (10 + 16) + 2 * 16) + 16 * 10 + 10
    assert result.shape == (len(IDS) - 1, 10)


def test_wrapped_untrained_is_near_chance_and_reproducible():
    before = torch.random.get_rng_state()
    result = wrapped("gru", IDS, 10, 16)
    assert result == wrapped("gru", IDS, 10, 16)
    assert result.bits == pytest.approx(result.uniform_bits, abs=0.5)
    assert torch.equal(before, torch.random.get_rng_state())


def test_rnn_model_bidirectional_doubles_linear_inputs():
    assert RNNModel(nn.GRU(10, 7, bidirectional=True), 10).linear.in_features == 14
