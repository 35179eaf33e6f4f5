"""The encoder's ten steps against PyTorch's layer, and masks against the numbers of the texts."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seqviz.compute.transformer import flow, masking
from seqviz.core.errors import UserError


def torch_layer(layer: flow.LayerWeights, heads: int) -> torch.nn.Module:
    d, ff = layer.up.shape
    created = torch.nn.TransformerEncoderLayer(d, heads, ff, dropout=0.0, batch_first=True).eval()
    with torch.no_grad():
        created.self_attn.in_proj_weight.copy_(torch.tensor(layer.into.T))
        created.self_attn.out_proj.weight.copy_(torch.tensor(layer.out.T))
        created.linear1.weight.copy_(torch.tensor(layer.up.T))
        created.linear2.weight.copy_(torch.tensor(layer.down.T))
        created.linear1.bias.zero_()
        created.linear2.bias.zero_()
    return created


@pytest.mark.parametrize(("d", "heads", "ff", "layers"), [(512, 8, 2048, 6), (32, 4, 16, 2)])
def test_flow_matches_torch(d, heads, ff, layers):
    result = flow.flow(d_model=d, heads=heads, d_ff=ff, layers=layers, layer=1, seed=3)
    x = torch.tensor(result.steps[2].values)[None]
    with torch.no_grad():
        for number in range(layers):
            x = torch_layer(flow.weights(number, d, ff, 3), heads)(x)
            if number == 1:
                np.testing.assert_allclose(result.steps[8].values, x[0], atol=2e-5)
    np.testing.assert_allclose(result.steps[9].values, x[0], atol=2e-5)


def test_weights_match_nn_transformer_initialization():
    torch.manual_seed(0)
    theirs = torch.nn.Transformer(512, 8, 1, 1, 2048, batch_first=True).encoder.layers[0]
    ours = flow.weights(0, 512, 2048, 0)
    for item, other in (
        (ours.into, theirs.self_attn.in_proj_weight), (ours.out, theirs.self_attn.out_proj.weight),
        (ours.up, theirs.linear1.weight), (ours.down, theirs.linear2.weight),
    ):  # fmt: skip
        assert item.T.shape == tuple(other.shape)
        assert abs(item).max() == pytest.approx(float(other.abs().max()), rel=1e-3)
        assert item.std() == pytest.approx(float(other.std()), rel=1e-2)


def test_flow_steps_have_expected_shapes():
    result = flow.flow("a b a", layer=0)
    assert tuple(step.name for step in result.steps) == flow.STEPS
    rows = result.steps[2].values + result.steps[5].values  # what the first norm reads
    mean = np.linalg.norm(rows, axis=1).mean()
    assert result.summary(6)["summed"] == pytest.approx(mean, rel=1e-6)
    assert mean > 1.5 * result.norm(5)  # not the norm of what attention adds
    shapes = [step.shape for step in result.steps]
    d = (3, 512)
    assert shapes == [(3,), d, d, (8, 3, 64), (8, 3, 3), d, d, (3, 2048), d, d]
    for index, step in enumerate(result.steps):
        assert step.values.size == result.size(index)
    embedded, weights = result.steps[1].values, result.steps[4].values
    np.testing.assert_array_equal(embedded[0], embedded[2])
    assert not np.allclose(result.steps[2].values[0], result.steps[2].values[2])
    np.testing.assert_allclose(weights.reshape(3, 8, 3).sum(-1), 1, rtol=1e-5)
    assert result.norm(8) == pytest.approx(512**0.5, rel=1e-4)  # 512 numbers of variance 1
    assert result.active == (result.steps[7].values > 0).mean()
    assert embedded.std() == pytest.approx(1, rel=0.05)


class Masked(torch.nn.Module):
    """What stands in for a dropout module: a pattern that is known."""

    def __init__(self, retained: np.ndarray, rate: float):
        super().__init__()
        self.factor = torch.tensor(retained / (1 - rate)).float()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor.reshape(x.shape)


def test_flow_dropout_positions_match_torch(monkeypatch):
    """PyTorch's layer while it learns, with our patterns in its four places."""
    drop = flow.Dropout(0.3, "torch", 5)
    d, heads, ff, n = 32, 4, 16, 6
    result = flow.flow(d_model=d, heads=heads, d_ff=ff, layers=1, seed=3, dropout=drop)
    layer = torch_layer(flow.weights(0, d, ff, 3), heads).train()

    def masked(location: str, *shape: int) -> Masked:
        return Masked(drop.mask(location, 0, shape), drop.rate)

    layer.dropout1, layer.dropout2 = masked("mixed", n, d), masked("fed", n, d)
    layer.dropout = masked("hidden", n, ff)

    def attend(q, k, v, *_, **__):
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return masked("weights", heads, n, n)(weights) @ v

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", attend)
    with torch.no_grad():
        output = layer(torch.tensor(result.steps[2].values)[None])[0]
    np.testing.assert_allclose(result.steps[9].values, output, atol=2e-5)
    assert result.apart(flow.flow(d_model=d, heads=heads, d_ff=ff, layers=1, seed=3)) > 0.1


def test_flow_dropout_follows_scheme_and_rate():
    created = partial(flow.flow, d_model=128, heads=8, d_ff=512, layers=2)
    full = created()
    at = {
        "vaswani": {"position", "mixed"},
        "torch": {"weights", "mixed", "hidden"},
        "s0": {"mixed", "hidden"},
    }
    for scheme, expected in at.items():
        result = created(dropout=flow.Dropout(0.1, scheme))
        here = {step.name: result.dropped(k) for k, step in enumerate(result.steps)}
        assert {name for name, share in here.items() if share} == expected
        for step in result.steps:
            if step.name in expected:
                assert here[step.name] == pytest.approx(0.1, abs=0.06)
            if step.name in expected - {"hidden"}:  # ReLU has zeros of its own there
                assert (step.values == 0).mean() == pytest.approx(here[step.name])
        low, high = result.row_sums
        assert (low < 0.99 and high > 1.05) == (scheme == "torch")
        assert result.apart(full) > 0.1
    mixed = [created(dropout=flow.Dropout(0.1, scheme)).steps[5] for scheme in ("torch", "s0")]
    assert np.linalg.norm(mixed[0].values - mixed[1].values) > 1  # weights, or answers of the heads
    assert created(dropout=flow.Dropout(0.0, "torch")).apart(full) == 0
    seeds = [created(dropout=flow.Dropout(0.5, "torch", seed)).steps[4].values for seed in (0, 1)]
    assert not np.array_equal(*[seed == 0 for seed in seeds])


def test_flow_rejects_bad_texts_and_sizes():
    for text, code in (("  ", "no_words"), ("a " * 17, "many_words")):
        with pytest.raises(UserError) as refused:
            flow.flow(text)
        assert refused.value.code == code
    for bad in ({"layer": 6}, {"heads": 7}, {"layers": 13, "layer": 0}):
        with pytest.raises(ValueError, match="No layer"):
            flow.flow(**bad)


def test_masked_multiplying_leaks_and_adding_does_not():
    result = masking.masked()
    added, multiplied = result.weights
    np.testing.assert_allclose(added[0], [1, 0, 0])
    np.testing.assert_allclose(added[1], [0.2689, 0.7311, 0], atol=5e-5)
    np.testing.assert_allclose(multiplied[0], [0.7870, 0.1065, 0.1065], atol=5e-5)
    np.testing.assert_allclose(multiplied[1], [0.2447, 0.6652, 0.0900], atol=5e-5)
    assert result.leak("add") == 0
    assert result.leaked == pytest.approx((2 * 0.1065 + 0.0900) / 3, abs=1e-4)
    assert result.worst == pytest.approx(0.2130, abs=1e-4)


@given(
    scores=st.lists(st.lists(st.floats(-4, 4), min_size=4, max_size=4), min_size=4, max_size=4),
    kind=st.sampled_from(masking.MASK_KINDS),
    pads=st.integers(0, 3),
    hidden=st.integers(1, 4),
)
@settings(max_examples=40, deadline=None)
def test_masked_matches_torch(scores, kind, pads, hidden):
    text = ", ".join(" ".join(map(repr, row)) for row in scores)
    result = masking.masked(text, kind, pads, hidden)
    allowed = torch.ones(4, 4, dtype=torch.bool)
    if kind in ("causal", "both"):
        allowed = allowed.tril()
    if kind in ("padding", "both") and pads:
        allowed[:, -pads:] = False
    if kind == "token":
        allowed[:, hidden - 1] = False
    np.testing.assert_array_equal(result.allowed, allowed)
    expected = torch.tensor(scores).double().masked_fill(~allowed, -torch.inf).softmax(-1)
    np.testing.assert_allclose(result.weights[0], expected.nan_to_num(), atol=1e-6)
    assert result.leak("add") == 0
    assert (result.leaked > 0) == (not bool(allowed.all()))


def test_masked_rejects_non_square_scores():
    for text in ("1 2", "1 2 | 3 4", "1 2 3, 4 5 6"):
        with pytest.raises(UserError) as refused:
            masking.masked(text)
        assert refused.value.code == "square"
    with pytest.raises(ValueError, match="one of"):
        masking.masked(kind="diagonal")
