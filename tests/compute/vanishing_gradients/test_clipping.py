"""Gradient clipping: the same descent by PyTorch's autograd, and what must not change at all."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.vanishing_gradients import descend, recurrent_matrix
from seqviz.compute.vanishing_gradients.clipping import FLOAT32_MAX
from tests.tiers import first_only

pytestmark = pytest.mark.filterwarnings("error")


def by_torch(activation, radius, threshold, rate, seed, steps, width, updates):
    """Loss and gradient norm of each update; the draws are those of the docstring, in its order."""
    phi = {"tanh": torch.tanh, "linear": lambda a: a}[activation]
    rng = np.random.RandomState(seed + 30_000)
    W = torch.tensor(rng.standard_normal((width, 1)))
    U = torch.tensor(recurrent_matrix("radius", width, radius, seed))
    b = torch.zeros(width, dtype=torch.float64)
    V = torch.tensor(rng.standard_normal((1, width)) / np.sqrt(width))
    parameters = [part.requires_grad_() for part in (W, U, b, V)]
    losses, norms = [], []
    for _ in range(updates):
        noise = 0.3 * rng.standard_normal((steps, 16, 1))
        noise[0] = first = rng.choice([-1.0, 1.0], (16, 1))
        h = torch.zeros(16, width, dtype=torch.float64)
        for x in torch.tensor(noise):
            h = phi(x @ W.T + h @ U.T + b)
        loss = torch.nn.functional.mse_loss(h @ V.T, torch.tensor(first))
        gradients = torch.autograd.grad(loss, parameters)
        norm = torch.cat([g.ravel() for g in gradients]).norm()
        losses.append(loss.item())
        norms.append(norm.item())
        scale = 1.0 if threshold is None else min(1.0, threshold / norm.item())
        with torch.no_grad():
            for part, g in zip(parameters, gradients, strict=True):
                part -= rate * scale * g
    return np.array(losses), np.array(norms)


@pytest.mark.parametrize(
    ("activation", "radius", "threshold", "rate"),
    [
        ("linear", 1.0, 0.3, 0.02),
        ("linear", 1.1, 1.0, 0.02),
        ("linear", 0.9, None, 0.02),
        ("tanh", 1.2, 0.1, 0.05),
        ("tanh", 1.2, None, 0.02),
        ("linear", 1.0, 1e30, 0.02),  # so large that nothing is clipped
    ],
)
def test_descend_matches_autograd(activation, radius, threshold, rate):
    """Every loss and norm of 40 updates: so every step had the right direction and length.

    Rounding of 1e-16 grows with the gradients, here by up to about 1e4 over the run.
    """
    descent = descend(activation, radius, threshold, rate, 3, 12, 8, 40)
    losses, norms = by_torch(activation, radius, threshold, rate, 3, 12, 8, 40)
    np.testing.assert_allclose(descent.loss, losses, rtol=1e-9)
    np.testing.assert_allclose(descent.norm, norms, rtol=1e-9)
    assert descent.left_float32 is None
    above = 0 if threshold is None else int((norms > threshold).sum())
    assert descent.clipped == above
    assert (above > 0) == (threshold not in (None, 1e30))


@pytest.mark.parametrize(("radius", "rate"), [(1.3, 0.1), (1.0, 0.02), (1.1, 0.005)])
def test_descend_reports_float32_overflow_and_drops_later_values(radius, rate):
    descent = descend("linear", radius, None, rate)
    assert descent.left_float32 is not None
    assert len(descent.loss) == len(descent.norm) == descent.left_float32 - 1 < 150
    for part in (descent.loss, descent.norm):
        assert np.isfinite(part).all()
        assert (part <= FLOAT32_MAX).all()
    # The update that left, by torch, which goes on in float64.
    with np.errstate(over="ignore", invalid="ignore"):
        losses, norms = by_torch("linear", radius, None, rate, 1, 30, 16, descent.left_float32)
    assert not (losses[-1] <= FLOAT32_MAX and norms[-1] <= FLOAT32_MAX)
    np.testing.assert_allclose(descent.norm, norms[:-1], rtol=1e-9)


@pytest.mark.parametrize("activation", ["linear", "tanh"])
@pytest.mark.parametrize("radius", first_only([1.3, 0.8]))
def test_descend_is_finite_at_slider_limits(activation, radius):
    """And without a warning: they are errors in this file."""
    for threshold, rate in ((None, 0.1), (0.01, 0.1), (1000.0, 0.001)):
        descent = descend(activation, radius, threshold, rate)
        assert np.isfinite([*descent.loss, *descent.norm]).all()
