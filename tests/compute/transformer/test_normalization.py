"""The three norms against the numbers printed in S0, against PyTorch, and at their borders."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seqviz.compute.transformer import normalization as norms
from seqviz.core.errors import UserError

# S0, figure 33: printed with four decimals.
LAYER = [
    [[-1.0690, -0.2673, 1.3363], [-1.2247, 0.0000, 1.2247]],
    [[-1.4142, 0.7071, 0.7071], [0.0000, 0.0000, 0.0000]],
]
BATCH = [
    [[-1.3416, -1.5075, 0.0000], [-0.4472, -0.3015, 0.0000]],
    [[0.4472, 0.9045, 0.0000], [1.3416, 0.9045, 0.0000]],
]


def by_torch(kind: str, tensor: np.ndarray, eps: float) -> np.ndarray:
    x = torch.tensor(tensor)
    if kind == "layer":
        return torch.nn.functional.layer_norm(x, x.shape[-1:], eps=eps).numpy()
    if kind == "rms":
        return torch.nn.functional.rms_norm(x, x.shape[-1:], eps=eps).numpy()
    norm = torch.nn.BatchNorm1d(x.shape[-1], eps=eps, dtype=x.dtype)
    return norm(x.permute(0, 2, 1)).permute(0, 2, 1).detach().numpy()


@pytest.mark.parametrize(("kind", "printed"), [("layer", LAYER), ("batch", BATCH)])
def test_compare_reproduces_printed_numbers(kind, printed):
    result = norms.compare().of(kind).values
    np.testing.assert_allclose(result, printed, atol=5.1e-5)


@given(
    kind=st.sampled_from(norms.NORM_KINDS),
    shape=st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 5)),
    eps=st.sampled_from([1e-12, 1e-5, 1e-2]),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=60, deadline=None)
def test_normalize_matches_torch(kind, shape, eps, seed):
    tensor = 3 * np.random.RandomState(seed).standard_normal(shape) + 1
    result = norms.normalize(tensor, kind, eps)
    if kind == "batch" and shape[0] * shape[1] == 1:
        assert np.isnan(result.values).all()
        with pytest.raises(ValueError, match="more than 1 value"):
            by_torch(kind, tensor, eps)
        return
    np.testing.assert_allclose(result.values, by_torch(kind, tensor, eps), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(result.values * result.deviation + result.mean, tensor)


def test_compare_single_word_keeps_layer_norm_but_not_batch_norm():
    full = norms.compare(sentence=1, word=0)
    for part in ("sentence", "word"):
        alone = norms.compare(sentence=1, word=0, part=part)
        at = (0, 0)
        for kind in ("layer", "rms"):
            np.testing.assert_array_equal(alone.of(kind).values[at], full.of(kind).values[1, 0])
        assert not np.allclose(alone.of("batch").values[at], full.of("batch").values[1, 0])
    assert np.isnan(norms.compare(sentence=1, word=1, part="word").at("batch", 1, 1, 0))
    assert norms.compare(sentence=1, word=0, part="word").at("layer", 1, 0, 0) == full.at(
        "layer", 1, 0, 0
    )


@given(feature=st.integers(0, 2), added=st.floats(-5, 5).filter(lambda x: abs(x) > 0.1))
@settings(max_examples=20, deadline=None)
def test_compare_change_affects_only_its_word_or_feature(feature, added):
    before, after = norms.compare(), norms.compare(feature=feature, added=added)
    word, column = np.zeros((2, 2, 3), bool), np.zeros((2, 2, 3), bool)
    word[0, 0], column[:, :, feature] = True, True
    for kind, may in (("layer", word), ("rms", word), ("batch", column)):
        same = before.of(kind).values == after.of(kind).values
        assert same[~may].all()
        assert not same[may].all()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "ragged"), ("1 2, 3", "ragged"), ("1 2 | 3 4, 5 6", "ragged"), ("1 x", "tensor"),
        ("nan 1", "tensor"), ("1e7 1", "tensor"), ("1 2 3 4 5 6 7", "large_tensor"),
        (", ".join(["1 2"] * 9), "large_tensor"),
    ],
)  # fmt: skip
def test_read_rejects_malformed_tensor(text, code):
    with pytest.raises(UserError) as refused:
        norms.read(text)
    assert refused.value.code == code


def test_normalize_and_compare_reject_bad_settings():
    for bad in ({"kind": "group"}, {"eps": 0.0}, {"eps": float("nan")}):
        with pytest.raises(ValueError, match=r"norm is|eps is"):
            norms.normalize(norms.read(), **bad)
    for bad in ({"part": "half"}, {"sentence": 2}, {"feature": 3}, {"word": -1}):
        with pytest.raises(ValueError, match=r"part is|no number"):
            norms.compare(**bad)
