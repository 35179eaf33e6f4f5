"""Parts of an untrained encoder and decoder, against PyTorch's layers and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from seqviz.compute.transformer import components, flow
from seqviz.compute.transformer.components import PAIR_PARTS, SOURCE, encoder_decoder
from seqviz.core.errors import UserError


@pytest.fixture(scope="module")
def pair():
    return encoder_decoder()


def test_encoder_decoder_matches_ten_steps_of_same_encoder(pair):
    """Equal words, weights and layers: the encoder is that of the bench with ten steps."""
    for layer in (0, 5):
        steps = {step.name: step.values for step in flow.flow(SOURCE, layer).steps}
        for name, other in (("attention", "mixed"), ("norm_1", "first_norm"),
                            ("norm_2", "second_norm")):  # fmt: skip
            part = pair.find(name, "encoder")
            expected = np.linalg.norm(steps[other], axis=1)
            np.testing.assert_allclose(part.norm[layer], expected, rtol=1e-5)
            np.testing.assert_allclose(
                part.values[layer], steps[other][:, :32], rtol=2e-3, atol=2e-3
            )


def test_decoder_matches_layers_of_torch():
    """The decoder's output, with PyTorch's own masked self-attention and cross-attention."""
    source, target = "a b c", "x y z"
    result = encoder_decoder(source, target)
    memory = torch.tensor(flow.flow(source).steps[-1].values)[None]
    words = (components.START, "x", "y")
    x = np.stack([components._row(word, 0) for word in words])
    x = torch.tensor(x + flow.encoding(3, 512).table.astype(np.float32))[None]
    for number in range(components.LAYERS):
        own, cross = flow.weights(100 + number, 512, 2048, 0), flow.weights(200 + number, 512, 1, 0)
        layer = torch.nn.TransformerDecoderLayer(512, 8, 2048, 0.0, batch_first=True).eval()
        with torch.no_grad():
            for attention, weights in ((layer.self_attn, own), (layer.multihead_attn, cross)):
                attention.in_proj_weight.copy_(torch.tensor(weights.into.T))
                attention.out_proj.weight.copy_(torch.tensor(weights.out.T))
            layer.linear1.weight.copy_(torch.tensor(own.up.T))
            layer.linear2.weight.copy_(torch.tensor(own.down.T))
            layer.linear1.bias.zero_()
            layer.linear2.bias.zero_()
            mask = torch.nn.Transformer.generate_square_subsequent_mask(3)
            x = layer(x, memory, tgt_mask=mask, tgt_is_causal=True)
    part = result.find("norm_2", "decoder")
    np.testing.assert_allclose(part.values[-1], x[0, :, :32].numpy(), rtol=2e-3, atol=2e-3)


def test_pair_has_six_equal_layers_and_both_stacks(pair):
    assert tuple((part.stack, part.name) for part in pair.parts) == PAIR_PARTS
    inside = [part for part in pair.parts if part.name not in ("embed", "unembed")]
    assert {len(part.values) for part in inside} == {6}
    assert {part.shape for part in inside} == {(6, 512)}


def test_layer_norm_gives_every_row_the_root_of_the_width(pair):
    norms = [part.norm for part in pair.parts if part.name.startswith("norm")]
    np.testing.assert_allclose(norms, math.sqrt(512), rtol=1e-4)


def test_share_of_parts_and_stream_add_up():
    """For any vectors the shares of the terms of a sum add up to 1, one of them negative."""
    random = np.random.default_rng(0)
    read, added = random.normal(size=(2, 3, 5, 16))
    added[0] = -0.4 * read[0]
    total = read + added
    shares = [
        components.tensor_part("mlp", "decoder", list(x), list(x), list(total)).share
        for x in (read, added)
    ]
    np.testing.assert_allclose(sum(shares), 1)
    np.testing.assert_allclose(shares[1][0], -0.4 / 0.6)


def test_words_of_pair_are_refused_where_there_are_none_or_too_many():
    for text, code in (("  ", "no_words"), ("w " * 17, "many_words")):
        with pytest.raises(UserError) as error:
            encoder_decoder(text)
        assert error.value.code == code


def test_long_texts_keep_last_tokens_and_true_shape():
    result = encoder_decoder(" ".join(f"w{k}" for k in range(16)))
    part = result.find("attention", "encoder")
    assert part.shape == (16, 512)
    assert part.values.shape == (6, 12, 32)
    assert result.tokens[0] == tuple(f"w{k}" for k in range(4, 16))
    assert result.position(1, 99) == 0
