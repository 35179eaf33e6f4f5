"""`TrainingStep` against the loop that everybody writes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.training.step import TrainingStep


def batch(seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    return random.normal(size=(8, 3)), random.normal(size=(8, 2))


@pytest.mark.parametrize("clip", [None, 0.1])
def test_training_step_matches_plain_loop(clip):
    weights, expected = (torch.zeros(3, 2, dtype=torch.float64, requires_grad=True) for _ in "ab")
    optimizer = torch.optim.Adam([expected])
    step = TrainingStep(
        torch.optim.Adam([weights]),
        lambda x, y: ((x @ weights - y) ** 2).mean(0),  # of two networks, a column each
        [weights] if clip else (),
        clip or 1.0,
    )
    for k in range(5):
        x, y = map(torch.from_numpy, batch(k))
        losses = ((x @ expected - y) ** 2).mean(0)
        optimizer.param_groups[0]["lr"] = 0.1 / (k + 1)
        optimizer.zero_grad()
        losses.sum().backward()
        if clip:
            torch.nn.utils.clip_grad_norm_([expected], clip)
        optimizer.step()
        with torch.no_grad():  # as in a thread that computes figures
            observed = step(*batch(k), rate=0.1 / (k + 1))
        assert torch.equal(observed, losses.detach())
        assert not observed.requires_grad
        assert torch.equal(weights, expected)


def test_training_step_keeps_last_rate_by_default():
    weights = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    step = TrainingStep(torch.optim.SGD([weights], 0.5), lambda x, y: (x @ weights - y).mean())
    gradient = torch.from_numpy(batch(0)[0]).mean(0)[:, None].expand(3, 2) / 2
    step(*batch(0))
    assert torch.allclose(weights, -0.5 * gradient)
    step(*batch(0), rate=0.0)
    step(*batch(0))
    assert torch.allclose(weights, -0.5 * gradient)
