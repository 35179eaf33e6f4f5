"""Hypotheses on many texts, values, and heads at their mean: against the model's own numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.attention.results import MeanOutputs
from seqviz.data.pronoun_pairs import PAIRS
from seqviz.data.reviews import sentiment_split
from seqviz.experiments import attention
from seqviz.experiments.attention import head_effects, head_trials
from seqviz.experiments.attention.head_effects import mean_outputs
from seqviz.experiments.attention.head_trials import try_heads
from seqviz.models import forward_cache, texts
from tests.models.reference_model import eager, passed, reported

SENTENCE = "AI and ML course is interesting and easy!"
SAME = {"rtol": 0, "atol": 2e-6}  # float32 sums of the same numbers


def test_try_heads_pronoun_matches_eager_attention(minilm, monkeypatch):
    monkeypatch.setattr(head_trials, "PAIRS", PAIRS[:2])
    result, payload = reported(try_heads, hypothesis="pronoun", model="minilm")
    assert [share for share, _ in payload] == [0.5, 1.0]
    assert result.labels == ("animal / street", "trophy / suitcase")
    network, parts = eager(minilm), []
    for sentence in PAIRS[1].sentences:
        tokens = texts.tokens(minilm, sentence)
        at = {piece: tokens.pieces.index(piece) for piece in ("it", "trophy", "suitcase")}
        row = passed(network, tokens)[0][:, :, at["it"]]
        parts.append(row[..., at["trophy"]] / (row[..., at["trophy"]] + row[..., at["suitcase"]]))
    np.testing.assert_allclose(result.other[1], parts, 1e-4, 1e-5)
    np.testing.assert_allclose(result.share[1], (parts[0] + 1 - parts[1]) / 2, 1e-4, 1e-5)


def test_try_heads_pronoun_share_is_half_for_decoder(smollm2, monkeypatch):
    """A decoder has not yet read the word that decides what the pronoun refers to."""
    monkeypatch.setattr(head_trials, "PAIRS", PAIRS[:1])
    result, _ = reported(try_heads, hypothesis="pronoun", model="smollm2")
    assert result.decoder
    # the words before *it* are the same, and so is all that *it* does
    np.testing.assert_allclose(result.share, 0.5, rtol=0, atol=1e-6)


def test_try_heads_previous_matches_mosaic_habit(minilm, monkeypatch):
    monkeypatch.setattr(head_trials, "SENTENCES", 3)
    result, _ = reported(try_heads, hypothesis="previous", model="minilm")
    for index, sentence in enumerate(sentiment_split()[1].texts[:3]):
        expected = attention.mosaic("minilm", sentence).habits.previous
        np.testing.assert_allclose(result.share[index], expected, 1e-5, 1e-6)
    even = [1 / len(texts.tokens(minilm, label).ids) for label in result.labels]
    assert result.even == pytest.approx(np.mean(even))


def test_try_heads_repeated_matches_attention_and_finds_induction(smollm2, monkeypatch):
    monkeypatch.setattr(head_trials, "COPIES", 1)
    result, _ = reported(try_heads, hypothesis="repeated", model="smollm2")
    copy = np.random.RandomState(0).choice(head_trials.ordinary(smollm2), 20, replace=False)
    row = torch.tensor(np.concatenate([copy, copy])[None])
    with torch.inference_mode():
        weights = torch.cat(eager(smollm2)(row, output_attentions=True).attentions).float().numpy()
    expected = np.mean([weights[:, :, 20 + i, i + 1] for i in range(19)], 0)
    np.testing.assert_allclose(result.share[0], expected, 1e-3, 1e-4)
    assert result.means.max() > 0.5
    assert result.even == pytest.approx(np.mean([1 / (20 + i + 1) for i in range(19)]))


def test_try_heads_rejects_unknown_hypothesis(minilm):
    with pytest.raises(ValueError, match="pronoun, previous, repeated, not 'gender'"):
        try_heads("gender", "minilm")


@pytest.mark.parametrize("model", ["minilm", "smollm2"])
def test_attention_by_value_matches_weights_times_value_norms(model, request):
    """Second implementation: the values that the network's own projection gives."""
    loaded = request.getfixturevalue(model)
    observed = {}
    layer = (loaded.network.encoder.layer[2].attention.self if model == "minilm"
             else loaded.network.model.layers[2].self_attn)  # fmt: skip
    linear = layer.value if model == "minilm" else layer.v_proj
    hook = linear.register_forward_hook(lambda *args: observed.setdefault("value", args[2]))
    try:
        result = forward_cache.forward(loaded, texts.tokens(loaded, SENTENCE))
    finally:
        hook.remove()
    heads, d_k = loaded.card.heads, loaded.network.config.hidden_size // loaded.card.heads
    value = observed["value"][0].float().numpy()
    value = value.reshape(len(value), -1, d_k).swapaxes(0, 1)
    norms = np.linalg.norm(value.repeat(heads // len(value), 0), axis=-1)
    np.testing.assert_allclose(result.norms[2], norms, 1e-5)
    visible = attention.head(model, SENTENCE, layer=2, head=3, by="value")
    np.testing.assert_allclose(visible.weights, result.weights[2, 3] * norms[3], 1e-4, 1e-6)
    full = attention.mosaic(model, SENTENCE, by="value")
    np.testing.assert_allclose(full.tiles[2, 3], visible.weights, 1e-5, 1e-6)
    mean = attention.average(model, SENTENCE, over="layer", layer=2, by="value")
    np.testing.assert_allclose(mean.weights, full.tiles[2].mean(0), 1e-4, 1e-6)
    parts = attention.parts(model, SENTENCE, layer=2, head=3)
    np.testing.assert_allclose(parts.carried, visible.weights, 1e-4, 1e-6)


def test_mean_outputs_and_mean_ablation_match_hooks(minilm, monkeypatch):
    """Second implementation: hooks on the input of the output projection of the own network."""
    monkeypatch.setattr(head_effects, "SENTENCES", 2)
    result, payload = reported(mean_outputs, model="minilm")
    assert (result.sentences, result.fraction, len(payload)) == (2, 1.0, 2)
    network, observed = eager(minilm), []
    dense = network.encoder.layer[3].attention.output.dense
    hook = dense.register_forward_hook(lambda _, given, __: observed.append(given[0][0]))
    for sentence in sentiment_split()[1].texts[:2]:
        passed(network, texts.tokens(minilm, sentence))
    hook.remove()
    together = torch.cat(observed).numpy()
    assert result.tokens == len(together)
    np.testing.assert_allclose(result.output[3].ravel(), together.mean(0), **SAME)

    def kept(module, given):
        changed = given[0].clone()
        changed[..., 5 * 32 : 6 * 32] = torch.from_numpy(result.output[3, 5]).float()
        return (changed,)

    hook = dense.register_forward_pre_hook(kept)
    vectors = passed(network, texts.tokens(minilm, SENTENCE))[1]
    hook.remove()
    mean = vectors.mean(0) / np.linalg.norm(vectors.mean(0))
    plain = forward_cache.read("minilm", SENTENCE).sentence
    change = attention.ablate("minilm", SENTENCE, "", ((3, 5),), result)
    assert change.sentence == pytest.approx(float(mean @ plain), abs=1e-6)
    nothing = MeanOutputs(np.zeros_like(result.output), 1, 1, 1.0)
    zero = attention.ablate("minilm", SENTENCE, "", ((3, 5),))
    again = attention.ablate("minilm", SENTENCE, "", ((3, 5),), nothing)
    np.testing.assert_allclose(again.moved, zero.moved, 0, 1e-9)
