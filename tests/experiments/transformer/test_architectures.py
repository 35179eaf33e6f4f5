"""Parts of well-known Transformers: published totals, the closed form, PyTorch's own counter."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoModel

from seqviz.compute.transformer import cost
from seqviz.compute.transformer.cost import COST_PARTS, GROUPS
from seqviz.experiments.transformer import architectures
from seqviz.models.registry import MODELS

TOTALS = {
    "transformer": 44_140_544, "bert_base": 109_482_240, "bert_large": 335_141_888,
    "gpt1": 116_534_784, "gpt2": 124_439_808, "minilm": 22_713_216, "smollm2": 134_515_008,
}  # fmt: skip


@pytest.mark.parametrize(("name", "total"), TOTALS.items())
def test_architecture_total_matches_published_count(name, total):
    architecture = architectures.architecture(name)
    assert architecture.total == total == architecture.counts.sum()


def test_architecture_total_matches_registry():
    for model in MODELS:
        if model.name in architectures.NAMES:
            assert architectures.architecture(model.name).total == model.parameters


@pytest.mark.parametrize(
    ("d", "heads", "layers", "ff"), [(512, 8, 6, 2048), (64, 4, 2, 96), (8, 8, 1, 1)]
)
def test_seq2seq_counts_match_closed_form(d, heads, layers, ff):
    counts = architectures.seq2seq(d, heads, layers, ff).counts
    attention = 4 * (d * d + d)
    feed_forward = 2 * d * ff + ff + d
    expected = {
        ("encoder", "self_attention"): layers * attention,
        ("encoder", "feed_forward"): layers * feed_forward,
        ("encoder", "norm"): (2 * layers + 1) * 2 * d,
        ("decoder", "self_attention"): layers * attention,
        ("decoder", "cross_attention"): layers * attention,
        ("decoder", "feed_forward"): layers * feed_forward,
        ("decoder", "norm"): (3 * layers + 1) * 2 * d,
    }
    for i, group in enumerate(GROUPS):
        for j, part in enumerate(COST_PARTS):
            assert counts[i, j] == expected.get((group, part), 0), (group, part)


def test_seq2seq_total_is_independent_of_heads():
    assert architectures.seq2seq(64, 1, 2).total == architectures.seq2seq(64, 16, 2).total


@pytest.mark.parametrize("name", ["bert_base", "minilm", "smollm2", "gpt2"])
@pytest.mark.parametrize("tokens", [16, 128])
def test_operations_match_pytorch_flop_counter(name, tokens):
    config = architectures._config(name)
    config._attn_implementation = "eager"
    with torch.device("meta"):
        network = AutoModel.from_config(config)
        ids = torch.zeros(1, tokens, dtype=torch.long)
        with FlopCounterMode(display=False) as counter:
            network(input_ids=ids, attention_mask=None)
    model = architectures.architecture(name)
    result = cost.operations(model)
    a_token, a_pair = (part[0] / result.tokens[0] for part in (result.linear, result.quadratic))
    output = 2 * config.vocab_size * config.hidden_size * tokens if model.decoder else 0
    pooler = 0 if model.decoder else 2 * config.hidden_size**2  # of one token
    ours = a_token * tokens + a_pair * tokens**2 - output + pooler
    # Rotary angles are a product of matrices in Llama's code, too.
    assert counter.get_total_flops() == pytest.approx(ours, rel=1e-3 if name == "smollm2" else 1e-9)


def test_operations_crossing_is_where_linear_equals_quadratic():
    result = cost.operations(architectures.architecture("bert_base"))
    at = np.interp(result.crossing, result.tokens, result.quadratic - result.linear)
    assert result.crossing == pytest.approx(4608)  # 12 d^2 / (2 d), d = 768
    assert at != 0
    assert result.share_at(4608) == pytest.approx(0.5)
    part = result.quadratic / (result.linear + result.quadratic)
    assert [result.share_at(n) for n in result.tokens.tolist()] == pytest.approx(part.tolist())


def test_cache_bytes_match_grouped_query_cache(smollm2):
    model = architectures.architecture("smollm2")
    assert cost.cache_bytes(model, 1) == 2 * 30 * 3 * 64 * 4 == 46_080
    assert cost.cache_bytes(model, 7, 9) == 3 * cost.cache_bytes(model, 7)
    assert cost.cache_bytes(architectures.architecture("bert_base"), 7) == 0
    out = smollm2.network(input_ids=torch.arange(100, 107)[None], use_cache=True)
    stage = sum(layer.keys.nbytes + layer.values.nbytes for layer in out.past_key_values.layers)
    assert stage == cost.cache_bytes(model, 7)
    with pytest.raises(ValueError, match="-1 tokens"):
        cost.cache_bytes(model, -1)


def test_pass_times_fit_recovers_nonnegative_coefficients():
    n = np.array(architectures.LENGTHS)
    true = 0.01 + 2e-3 * n + 3e-6 * n**2
    noise = 1 + 0.01 * np.random.RandomState(0).standard_normal((2, 5, len(n)))
    pass_times = cost.PassTimes(("a", "b"), n, true * noise)
    assert pass_times.fit(0) == pytest.approx((0.01, 2e-3, 3e-6), rel=0.2)
    share = 3e-6 * 512**2 / true[-1]
    assert pass_times.quadratic_share(1) == pytest.approx(share, rel=0.1)
    falling = cost.PassTimes(("a",), n, np.broadcast_to(0.01 + 1e-3 * np.sqrt(n), (1, 3, len(n))))
    assert min(falling.fit(0)) >= 0


def test_architecture_and_seq2seq_reject_unsupported_models():
    for bad in ((512, 7, 6, 2048), (0, 1, 1, 1), (512, 8, 60, 2048)):
        with pytest.raises(ValueError, match=r"No such|cannot share"):
            architectures.seq2seq(*bad)
    with pytest.raises(ValueError, match="one of"):
        architectures.architecture("gpt5")


def test_sequential_cost_counts_layers_and_decoding_steps():
    two_sides, decoder = architectures.seq2seq(layers=6), architectures.architecture("smollm2")
    assert (cost.in_a_row(two_sides), cost.in_a_row(decoder)) == (12, 30)
    assert cost.in_a_row(decoder, 1) == 30
    for tokens in (2, 512):
        # cell (t, k) waits for (t - 1, k) and (t, k - 1): the longest way through the grid
        longest = np.zeros((tokens + 1, 30 + 1), int)
        for t in range(1, tokens + 1):
            for k in range(1, 31):
                longest[t, k] = 1 + max(longest[t - 1, k], longest[t, k - 1])
        assert cost.in_a_row(decoder, tokens) == longest[-1, -1]
        assert cost.in_a_row(two_sides, tokens) == 2 * (6 + tokens - 1)
    with pytest.raises(ValueError, match="-1 tokens"):
        cost.in_a_row(decoder, -1)
