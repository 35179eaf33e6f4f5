"""Signal and gradient by depth: against torch's own layers and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.transformer import depth_signal, stack
from seqviz.compute.transformer.depth import ARRANGEMENTS, HEADS, RUNS, TOKENS, WIDTH


@pytest.mark.parametrize("arrangement", ["pre", "post"])
def test_block_matches_torch(arrangement):
    torch.manual_seed(0)
    sizes = ((WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH))
    weights = tuple(torch.randn(1, *size) / 8 for size in sizes)
    theirs = torch.nn.TransformerEncoderLayer(
        WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=arrangement == "pre"
    ).eval()
    with torch.no_grad():
        for parameter, value in zip(
            (theirs.self_attn.in_proj_weight, theirs.self_attn.out_proj.weight,
             theirs.linear1.weight, theirs.linear2.weight),
            weights,
            strict=True,
        ):  # fmt: skip
            parameter.copy_(value[0].T)
        theirs.linear1.bias.zero_()
        theirs.linear2.bias.zero_()
        x = torch.randn(1, TOKENS, WIDTH)
        ours = stack.block(x, weights, arrangement, HEADS)
        np.testing.assert_allclose(ours, theirs(x), atol=1e-5)


def test_depth_norms_are_one_at_boundaries():
    depth = depth_signal.depth(6, seed=2)
    assert depth.signal.shape == depth.gradient.shape == (len(ARRANGEMENTS), RUNS, 7)
    np.testing.assert_allclose(depth.gradient[:, :, -1], 0, atol=1e-12)
    np.testing.assert_allclose(10 ** depth.signal[:, :, 0], 1, atol=0.1)
    np.testing.assert_array_equal(depth.signal[:1, :, 0], depth.signal[1:2, :, 0])
    post = depth.signal[depth.arrangements.index("post"), :, 1:]
    np.testing.assert_allclose(post, 0, atol=1e-5)  # every row is normalized
    assert depth.at("signal", "pre", 6) == np.median(depth.signal[1, :, 6])


def test_depth_gradient_matches_finite_differences():
    """The gradient at the input, along one direction, from two losses."""
    random = np.random.default_rng(1)
    x, direction, method = (
        torch.from_numpy(random.standard_normal((RUNS, 3, WIDTH))) for _ in "xdw"
    )
    sizes = ((WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH))
    layers = [
        tuple(torch.from_numpy(random.standard_normal((RUNS, *size)) / 8) for size in sizes)
        for _ in range(2)
    ]

    def loss(start: torch.Tensor) -> torch.Tensor:
        for weights in layers:
            start = stack.block(start, weights, "pre", HEADS)
        return (start * direction).sum((1, 2))

    _, gradient = depth_signal._norms(x, direction, layers, "pre")
    start = x.clone().requires_grad_()
    (full,) = torch.autograd.grad(loss(start).sum(), start)
    along = (full * method).sum((1, 2)).numpy()
    step = 1e-5
    np.testing.assert_allclose(
        (loss(x + step * method) - loss(x - step * method)) / (2 * step), along, rtol=1e-5
    )
    expected = np.log10(full.norm(dim=(1, 2)) / direction.norm(dim=(1, 2)))
    np.testing.assert_allclose(gradient[:, 0], expected)


def test_depth_gradient_vanishes_without_residual():
    depth = depth_signal.depth(24)
    assert depth.at("gradient", "plain", 0) < -6
    for arrangement in ("pre", "none"):
        assert depth.at("gradient", arrangement, 0) > -0.1
    assert depth_signal.depth(24).gradient == pytest.approx(depth.gradient)


def test_depth_rejects_settings_out_of_range():
    for bad in ({"blocks": 1}, {"blocks": 65}, {"gain": 5.0}):
        with pytest.raises(ValueError, match=r"blocks|gain"):
            depth_signal.depth(**bad)
