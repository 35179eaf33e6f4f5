"""The look into attention, against the library's own attention and against one more of our own."""

from __future__ import annotations

import copy
from functools import partial

import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    BertConfig,
    DistilBertConfig,
    GPT2Config,
    LlamaConfig,
)

from seqviz.models import attention_hook as taps
from seqviz.models.attention_hook import AttentionHook, hooked
from tests.models.hub import together

LAYERS, HEADS, WIDTH = 3, 4, 32
CONFIGS = {
    "bert": BertConfig(
        vocab_size=50,
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=48,
    ),
    "distilbert": DistilBertConfig(
        vocab_size=50, dim=WIDTH, n_layers=LAYERS, n_heads=HEADS, hidden_dim=48
    ),
    "gpt2": GPT2Config(vocab_size=50, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS),
    "llama": LlamaConfig(
        vocab_size=50,
        hidden_size=WIDTH,
        intermediate_size=48,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=2,  # two heads share their keys and values
    ),
}
DECODERS = ("gpt2", "llama")
# float32 carries 7 digits; the same sums in the same order, after three layers of values near 1
SAME = {"rtol": 0, "atol": 1e-6}
RANDOM = np.random.RandomState(0)
IDS = torch.tensor(RANDOM.randint(5, 50, (2, 7)))
PADDING = torch.tensor([[1] * 7, [1] * 4 + [0] * 3])


@pytest.fixture(scope="module", params=CONFIGS)
def pair(request):
    """One random model twice: with the library's attention ("eager") and with ours."""
    taps.register()
    maker = AutoModelForCausalLM if request.param in DECODERS else AutoModel
    with torch.random.fork_rng():
        torch.manual_seed(0)
        # a copy each: the choice of attention is written into the configuration
        config = copy.deepcopy(CONFIGS[request.param])
        theirs = maker.from_config(config, attn_implementation="eager")
    with torch.no_grad():  # attention of freshly made weights is nearly uniform: nothing to compare
        for name, weights in theirs.named_parameters():
            if weights.dim() == 2 and "embed" not in name and "wte" not in name:
                weights.mul_(8)
    config = copy.deepcopy(CONFIGS[request.param])
    ours = maker.from_config(config, attn_implementation=taps.NAME)
    ours.load_state_dict(theirs.state_dict())
    assert theirs.config._attn_implementation == "eager"
    assert ours.config._attn_implementation == taps.NAME
    return theirs.eval(), ours.eval()


def close(result, expected):
    torch.testing.assert_close(result, expected, **SAME)


def forward(network, ids=IDS, attention_hook=None, **options):
    with torch.inference_mode():
        if attention_hook is None:
            return network(ids, output_hidden_states=True, **options)
        with hooked(attention_hook):
            return network(ids, output_hidden_states=True, **options)


def projections(network):
    """The output projection of each layer's attention as [d_model out, heads * d_k in]."""
    for name, module in network.named_modules():
        if name.endswith(("attention.output.dense", "attention.out_lin", "o_proj")):
            yield module.weight
        elif name.endswith("attn.c_proj"):
            yield module.weight.T  # GPT-2 keeps its matrices transposed


def scaled_heads(network, on):
    """The factors in the weights: each head's columns of the output projection times its factor."""
    changed = copy.deepcopy(network)
    size = WIDTH // HEADS
    with torch.no_grad():
        for layer, weights in enumerate(projections(changed)):
            for head in range(HEADS):
                weights[:, head * size : (head + 1) * size] *= on[layer, head]
    assert layer == LAYERS - 1
    return changed


@pytest.mark.parametrize("padding", [None, PADDING], ids=["whole", "padded"])
def test_attention_hook_matches_eager_attention_and_states(pair, padding):
    theirs, ours = pair
    expected = forward(theirs, attention_mask=padding, output_attentions=True)
    attention_hook = AttentionHook()
    result = forward(ours, attention_mask=padding, attention_hook=attention_hook)
    assert len(attention_hook.weights) == attention_hook.layer == LAYERS
    for a, b in zip(attention_hook.weights, expected.attentions, strict=True):
        assert a.shape == (2, HEADS, 7, 7)
        close(a, b)
    for a, b in zip(result.hidden_states, expected.hidden_states, strict=True):
        close(a, b)
    spread = torch.stack(attention_hook.weights).std()
    assert spread > 0.05  # uniform attention would be equal for the wrong reasons
    # the library's own way of asking works as well, and without a tap nothing is different
    plain = forward(ours, attention_mask=padding, output_attentions=True)
    for a, b in zip(plain.attentions, attention_hook.weights, strict=True):
        assert torch.equal(a, b)
    assert torch.equal(plain.hidden_states[-1], result.hidden_states[-1])


@pytest.mark.parametrize("keep", range(LAYERS))
def test_attention_hook_stages_match_equation(pair, keep):
    attention_hook = AttentionHook(record_layer=keep)
    forward(pair[1], attention_mask=PADDING, attention_hook=attention_hook)
    s = attention_hook.stages
    size = WIDTH // HEADS
    assert s.queries.shape == s.keys.shape == s.values.shape == (2, HEADS, 7, size)
    q, k, v = (item.double().numpy() for item in (s.queries, s.keys, s.values))
    scores = np.einsum("bhqd,bhkd->bhqk", q, k)
    # float32 sums of 8 products, each up to some tens
    np.testing.assert_allclose(s.scores.numpy(), scores, 1e-5, 1e-4)
    np.testing.assert_allclose(s.scaled.numpy(), scores / np.sqrt(size), 1e-5, 1e-4)
    forbidden = (s.masked - s.scaled).numpy() < -1e30
    e = np.where(forbidden, 0, np.exp(scores / np.sqrt(size)))
    np.testing.assert_allclose(s.weights.numpy(), e / e.sum(-1, keepdims=True), 0, 1e-5)
    np.testing.assert_allclose(s.output.numpy(), s.weights.double().numpy() @ v, 1e-5, 1e-5)
    bias = torch.where(torch.tensor(forbidden), torch.finfo(torch.float32).min, 0.0)
    second = torch.nn.functional.scaled_dot_product_attention(
        s.queries, s.keys, s.values, attn_mask=bias
    )
    torch.testing.assert_close(s.output, second, rtol=1e-5, atol=1e-5)
    assert torch.equal(s.weights, attention_hook.weights[keep])


def test_attention_hook_changes_nothing_with_all_heads_on(pair):
    plain = forward(pair[1])
    result = forward(pair[1], attention_hook=AttentionHook(on=torch.ones(LAYERS, HEADS)))
    assert torch.equal(result.hidden_states[-1], plain.hidden_states[-1])


@pytest.mark.parametrize("case", ["one head", "a layer", "some", "factors"])
def test_attention_hook_head_factor_matches_scaled_output_projection(pair, case):
    on = torch.ones(LAYERS, HEADS)
    if case == "one head":
        on[1, 2] = 0
    elif case == "a layer":
        on[0] = 0
    elif case == "some":
        on = torch.tensor(RANDOM.randint(0, 2, (LAYERS, HEADS))).float()
    else:
        on = torch.tensor(RANDOM.uniform(-1, 2, (LAYERS, HEADS))).float()
    attention_hook = AttentionHook(on=on)
    result = forward(pair[1], attention_mask=PADDING, attention_hook=attention_hook)
    changed = scaled_heads(pair[0], on)
    expected = forward(changed, attention_mask=PADDING, output_attentions=True)
    for a, b in zip(result.hidden_states, expected.hidden_states, strict=True):
        # another order of summation than in the model above, so some units in the last place more
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    for a, b in zip(attention_hook.weights, expected.attentions, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    plain = forward(pair[0], attention_mask=PADDING)
    assert (result.hidden_states[-1] - plain.hidden_states[-1]).abs().max() > 1e-2


def test_attention_hook_batched_switches_match_single_runs(pair):
    on = torch.tensor(RANDOM.randint(0, 2, (5, LAYERS, HEADS))).float()
    ids = IDS[:1].expand(5, -1)
    together = forward(pair[1], ids, attention_hook=AttentionHook(on=on)).hidden_states[-1]
    for i in range(5):
        alone = forward(pair[1], IDS[:1], attention_hook=AttentionHook(on=on[i])).hidden_states[-1]
        torch.testing.assert_close(together[i : i + 1], alone, rtol=1e-5, atol=1e-5)
    assert (together[0] - together[1]).abs().max() > 1e-2


def masks(count):
    """Random masks; everybody may look at the first token, so that no row is empty."""
    allowed = torch.tensor(RANDOM.uniform(size=(count, 7, 7)) < 0.5)
    allowed[..., 0] = True
    return allowed


def test_attention_hook_mask_replaces_model_mask(pair):
    for allowed in masks(3):
        attention_hook = AttentionHook(allowed=allowed)
        result = forward(pair[1], attention_hook=attention_hook)
        bias = torch.where(allowed, 0.0, torch.finfo(torch.float32).min)[None, None]
        expected = forward(pair[0], attention_mask=bias.expand(2, 1, 7, 7), output_attentions=True)
        for a, b in zip(attention_hook.weights, expected.attentions, strict=True):
            close(a, b)
            assert a[..., ~allowed].abs().max() == 0
        close(result.hidden_states[-1], expected.hidden_states[-1])


def test_attention_hook_causal_mask_matches_decoder_default(pair):
    result = forward(
        pair[1], attention_hook=AttentionHook(allowed=torch.ones(7, 7).tril().bool())
    ).hidden_states[-1]
    plain = forward(pair[0]).hidden_states[-1]
    decoder = pair[0].config.model_type in DECODERS
    assert torch.allclose(result, plain, **SAME) == decoder


def test_attention_hook_batched_masks_match_single_runs(pair):
    allowed = masks(2)
    together = forward(pair[1], attention_hook=AttentionHook(allowed=allowed)).hidden_states[-1]
    for i in range(2):
        alone = forward(
            pair[1], IDS[i : i + 1], attention_hook=AttentionHook(allowed=allowed[i])
        ).hidden_states[-1]
        torch.testing.assert_close(together[i : i + 1], alone, rtol=1e-5, atol=1e-5)


def test_attention_hook_returns_zeros_for_fully_masked_query(pair):
    allowed = torch.ones(7, 7).bool()
    allowed[3] = False
    attention_hook = AttentionHook(allowed=allowed, record_layer=0)
    out = forward(pair[1], attention_hook=attention_hook)
    assert attention_hook.weights[0][:, :, 3].abs().max() == 0
    assert attention_hook.stages.output[:, :, 3].abs().max() == 0
    assert out.hidden_states[-1].isfinite().all()


def test_attention_hook_error_stops_pass_but_not_next_one(pair):
    plain = forward(pair[1]).hidden_states[-1]
    observed = []

    def each(layer):
        observed.append(layer)
        if layer == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        forward(pair[1], attention_hook=AttentionHook(on=torch.zeros(LAYERS, HEADS), each=each))
    assert observed == [1, 2]
    assert torch.equal(forward(pair[1]).hidden_states[-1], plain)
    forward(pair[1], attention_hook=AttentionHook(each=observed.append))
    assert observed[2:] == [1, 2, 3]


def test_attention_hook_is_isolated_between_threads(pair):
    switches = torch.tensor(RANDOM.randint(0, 2, (4, LAYERS, HEADS))).float()
    alone = [
        forward(pair[1], attention_hook=AttentionHook(on=on)).hidden_states[-1] for on in switches
    ]
    plain = forward(pair[1]).hidden_states[-1]
    wrong = []

    def student(i):
        for _ in range(20):
            attention_hook = AttentionHook(on=switches[i]) if i < 4 else None
            result = forward(pair[1], attention_hook=attention_hook).hidden_states[-1]
            # bit by bit: the same work on the same machine
            same = torch.equal(result, alone[i] if i < 4 else plain)
            if not same or (attention_hook and len(attention_hook.weights) != LAYERS):
                wrong.append(i)

    together(*(partial(student, i) for i in range(5)))
    assert wrong == []


def test_attention_hook_records_nothing_without_note(pair):
    attention_hook = AttentionHook(note=False)
    forward(pair[1], attention_hook=attention_hook)
    assert (attention_hook.weights, attention_hook.stages, attention_hook.layer) == (
        [],
        None,
        LAYERS,
    )
