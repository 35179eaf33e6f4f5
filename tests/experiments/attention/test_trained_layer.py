"""A trained layer as a worked example: the same numbers as in the model's own forward pass."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.experiments import attention
from seqviz.experiments.attention.trained_layer import walk_layer
from seqviz.models import forward_cache
from seqviz.models.pretrained import load

TEXT = "The animal did not cross the street because it was too tired."
# float32 sums of 384 products: two orders of adding differ by some units of the last place
ROUNDING = {"rtol": 0, "atol": 2e-5}


@pytest.mark.parametrize("layer", [0, 3, 5])
def test_walk_layer_matches_models_own_attention(minilm, layer):
    walk, own = walk_layer("minilm", TEXT, layer), forward_cache.read("minilm", TEXT)
    assert walk.words == own.tokens.pieces
    np.testing.assert_allclose(walk.attention.weights, own.weights[layer], **ROUNDING)
    norms = np.linalg.norm(walk.vectors.value, axis=-1)
    np.testing.assert_allclose(norms, own.norms[layer], rtol=1e-4)
    parts = attention.parts("minilm", TEXT, "", layer, 1)
    np.testing.assert_allclose(walk.attention.scores[1], parts.scores, rtol=0, atol=2e-4)
    for name in ("query", "key", "value"):  # the matrices are those of the heads, biases apart
        weights, vectors = getattr(walk.weights, name), getattr(walk.vectors, name)
        added = vectors - walk.embeddings @ weights
        np.testing.assert_allclose(added, added[:, :1].repeat(len(walk.words), 1), atol=1e-4)


def test_walk_layer_output_is_what_the_layer_adds(minilm):
    import torch

    walk = walk_layer("minilm", TEXT, 2)
    block = load("minilm").network.encoder.layer[2].attention.output
    with torch.no_grad():
        read = torch.from_numpy(np.ascontiguousarray(walk.concatenated))
        expected = block.dense(read.to(block.dense.weight.device)).float().cpu().numpy()
    np.testing.assert_allclose(walk.combined, expected, rtol=1e-4, atol=1e-4)


def test_walk_layer_applies_settings_and_clips_layer(minilm):
    last = walk_layer("minilm", TEXT, 40, causal=True, temperature=2.0)
    np.testing.assert_array_equal(last.embeddings, walk_layer("minilm", TEXT, 5).embeddings)
    assert not last.attention.weights[:, ~np.tri(len(last.words), dtype=bool)].any()
    np.testing.assert_allclose(
        last.attention.scaled * 2 * last.divide_by, last.attention.scores, rtol=1e-5
    )


def test_walk_layer_rejects_other_architectures(smollm2):
    with pytest.raises(ValueError, match="BERT"):
        walk_layer("smollm2", TEXT)
