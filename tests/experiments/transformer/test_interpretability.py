"""A real decoder taken apart: sums are right, and a change is what a private copy makes of it."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from seqviz.compute.transformer.interpretability import account as sums
from seqviz.compute.transformer.interpretability.fitted_lens import fit, roots
from seqviz.compute.transformer.interpretability.induction import HEAD_CHOICES, Induction, stripe
from seqviz.compute.transformer.interpretability.removal import (
    CHANGES,
    AblationSweep,
    divergence,
    of_change,
)
from seqviz.core.errors import UserError
from seqviz.data import precomputed
from seqviz.experiments.bert_accuracy import fill, fill_head
from seqviz.experiments.transformer.interpretability import (
    account,
    fitted_lens,
    induction,
    lens,
    removal,
)
from seqviz.models import texts
from tests.models.reference_model import cut_off, eager, in_place

TEXT = "The capital of France is"
LAYERS = 8  # more than are changed in one pass


@pytest.fixture(scope="module")
def eight(smollm2):
    """SmolLM2 of its first layers."""
    return cut_off(smollm2, LAYERS)


@pytest.fixture(scope="module")
def removed(eight):
    """All changes of the lesson's text, and what has been told on the way."""
    payloads = []
    with in_place(eight):
        result = removal.remove("smollm2", TEXT, lambda *report: payloads.append(report))
    return result, payloads


def prompts(pretrained, count: int) -> list[str]:
    """Texts of 1 to 12 tokens, drawn at random from the vocabulary."""
    rng = np.random.RandomState(25)
    words = [pretrained.tokenizer.decode(int(k)) for k in rng.randint(300, 49_000, 12 * count)]
    return ["".join(words[12 * k : 12 * k + 1 + k % 12]) or "a" for k in range(count)]


def test_account_matches_model_logit(smollm2):
    result = account.account("smollm2", TEXT)
    ids = texts.tokens(smollm2, TEXT).ids
    with torch.inference_mode():
        logits = smollm2.network(input_ids=torch.tensor(ids)[None]).logits[0, -1].double()
    assert result.target == "␣Paris"
    assert result.rank == 1
    assert result.logit == pytest.approx(float(logits.max()), abs=1e-5)
    assert result.probability == pytest.approx(float(torch.softmax(logits, -1).max()), rel=1e-5)
    assert len(result.parts) == 61
    assert result.gap < 1e-3
    assert sums.part_location(result.largest) == ("mlp", 29)


def test_account_and_split_sum_up_on_random_prompts(shallow):
    worst = split_worst = 0.0
    for number, text in enumerate(prompts(shallow, 12)):
        target, against = ("", "") if number % 3 == 0 else ("house", "" if number % 3 == 1 else "7")
        result = account.account("smollm2", text, target, against)
        worst = max(worst, result.gap)
        assert result.total == pytest.approx(result.parts.sum())
        for part in range(1 + 2 * shallow.card.layers):
            split = account.split("smollm2", text, target, against, part)
            split_worst = max(split_worst, abs(split.total - result.parts[part]))
    assert worst < 1e-3
    assert split_worst < 1e-3


def test_split_lists_all_heads_or_top_neurons_and_rest(smollm2):
    heads = account.split("smollm2", TEXT, part=47)
    assert (heads.kind, heads.numbers.tolist(), heads.others) == ("attention", list(range(9)), 0)
    assert heads.foremost == 4
    neurons = account.split("smollm2", TEXT, part=60)
    assert (neurons.kind, len(neurons.values), neurons.others) == ("mlp", 8, 1528)
    assert (np.diff(np.abs(neurons.values)) <= 0).all()
    assert account.split("smollm2", TEXT, part=0).kind == "embedding"


def test_account_against_word_matches_difference_of_accounts(smollm2):
    item, other = (account.account("smollm2", TEXT, word) for word in ("Paris", "London"))
    both = account.account("smollm2", TEXT, "Paris", "London")
    np.testing.assert_allclose(both.parts, item.parts - other.parts, atol=1e-5)
    assert sums.part_location(both.largest) == ("attention", 23)
    with pytest.raises(UserError) as caught:
        account.account("smollm2", TEXT, "Paris", "Paris")
    assert caught.value.code == "same_token"


def test_account_rejects_encoder(minilm):
    with pytest.raises(UserError) as caught:
        account.account("minilm", TEXT)
    assert caught.value.code == "decoder_only"


def test_passed_for_good_returns_half_crossing_and_foremost_top_parts():
    assert sums.passed_for_good(np.array([1.0, 5, -4, 3, 1])) == 3
    assert sums.passed_for_good(np.array([-1.0, -5, 4, -3, -1])) == 3
    assert sums.passed_for_good(np.array([6.0, -1, -1])) == 0
    order, values, rest = sums.foremost(np.array([1.0, -3, 2, 0.5]), 2)
    assert (order.tolist(), values.tolist(), rest) == ([1, 2], [-3, 2], 1.5)


def test_remove_matches_modified_copy_of_decoder(eight, removed):
    """One layer of each change, by zeroed weights or another list of layers in a copy."""
    result, _ = removed
    assert [item.change for item in result] == list(CHANGES)
    ids = torch.tensor(texts.tokens(eight, TEXT).ids)[None]

    def following(network) -> np.ndarray:
        with torch.inference_mode():
            logits = network(input_ids=ids, use_cache=False).logits[0, -1]
        return torch.log_softmax(logits.double(), -1).numpy()

    before = following(eight.network)
    for change, layer in (("attention", 1), ("mlp", 5), ("skip", 6), ("swap", 1), ("repeat", 0)):
        private = copy.deepcopy(eight.network)
        layers = private.model.layers
        if change in ("attention", "mlp"):
            block = layers[layer]
            part = block.self_attn.o_proj if change == "attention" else block.mlp.down_proj
            part.weight.zero_()
        order = removal.variants(change, LAYERS)[layer].order
        if order is not None:
            private.model.layers = torch.nn.ModuleList([layers[k] for k in order])
            private.config.num_hidden_layers = len(order)
        after = following(private)
        ablation = of_change(result, change)
        assert ablation.bits[layer] == pytest.approx(divergence(before, after[None])[0], abs=1e-3)
        assert ablation.after[layer] == texts.piece(eight, int(after.argmax()))
        token = int(before.argmax())  # the same token in both distributions
        assert ablation.probability == pytest.approx(np.exp(before[token]), abs=1e-4)
        assert ablation.changed[layer] == pytest.approx(np.exp(after[token]), abs=1e-4)
        del private
    assert len(of_change(result, "swap").bits) == LAYERS - 1
    full = precomputed.result("remove", model="smollm2", text=TEXT)
    assert [len(item.bits) for item in full if item.change == "swap"] == [29]
    assert of_change(full, "skip").largest == 0


def changed_encoder(network, change: str, layer: int):
    """A private copy of an encoder in which one layer is changed by a hook, by another list of
    layers, or by other equations of its two sums."""
    private = copy.deepcopy(network)
    block = private.encoder.layer[layer]
    sums = (block.attention.output, block.output)
    if change in ("attention", "mlp"):
        sums[change == "mlp"].dense.register_forward_hook(lambda _, __, out: 0 * out)
    elif change == "residual":
        for item in sums:
            item.forward = lambda x, _, entry=item: entry.LayerNorm(entry.dense(x))
    elif change == "norm":
        for item in sums:
            item.forward = lambda x, around, entry=item: entry.dense(x) + around
    else:
        order = removal.variants(change, 6)[layer].order
        private.encoder.layer = torch.nn.ModuleList([private.encoder.layer[k] for k in order])
        private.config.num_hidden_layers = len(order)
    return private


@pytest.mark.parametrize("change", CHANGES)
def test_remove_matches_modified_copy_of_encoder(change, minilm):
    text = "The film was [MASK]."
    ablation = of_change(removal.remove("minilm", text), change)
    filling = fill_head.head("minilm")
    tokens = texts.tokens(filling, text)
    index = tokens.pieces.index("[MASK]")

    def filled(network) -> np.ndarray:
        with torch.inference_mode():
            stream = network(input_ids=torch.tensor(tokens.ids)[None]).last_hidden_state
            scores = filling.network.fill_in(stream[0, index])
        return torch.log_softmax(scores.double(), -1).numpy()

    before = filled(filling.network)
    assert ablation.before == texts.piece(filling, int(before.argmax())) == "amazing"
    assert len(ablation.bits) == 6 - (change == "swap")
    for layer, bits in enumerate(ablation.bits):
        with torch.inference_mode():
            after = filled(changed_encoder(filling.network, change, layer))
        assert bits == pytest.approx(divergence(before, after[None])[0], abs=1e-3)
        assert bits > 0.02  # something has changed
        assert ablation.after[layer] == texts.piece(filling, int(after.argmax()))


def test_remove_requires_mask_token_for_encoder(minilm):
    with pytest.raises(UserError) as caught:
        removal.remove("minilm", "The film was good.")
    assert caught.value.code == "nothing_hidden"
    item = of_change(removal.remove("minilm", "The [MASK] was [MASK]."), "skip").before
    index = 2
    assert (
        item == fill.guesses("minilm", "The [MASK] was [MASK].", index, ("kept",)).candidates[0][0]
    )
    read = removal.beginnings(fill_head.head("minilm"))
    assert len(read) == removal.TEXTS
    mask, end = minilm.tokenizer.mask_token_id, minilm.tokenizer.sep_token_id
    for tokens in read:
        assert (len(tokens.ids), int(tokens.ids[-1])) == (removal.TOKENS, end)
        assert np.flatnonzero(tokens.ids == mask).tolist() == [removal.HIDDEN]


def test_remove_reports_last_layers_first(removed):
    payload = removed[1]
    first = payload[0][0]
    bits = of_change(first, removal.FIRST).bits
    assert np.isfinite(bits[-6:]).all()
    assert np.isnan(bits[:-6]).all()
    assert of_change(first, "mlp").largest_shift == of_change(first, "mlp").median == 0
    shares = [share for _, share in payload]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    with pytest.raises(ValueError, match="not 'shuffle'"):
        removal.variants("shuffle", 3)
    orders = [variant.order for variant in removal.variants("swap", 4)]
    assert orders == [(1, 0, 2, 3), (0, 2, 1, 3), (0, 1, 3, 2)]


def test_ablation_sweep_mean_uses_student_t():
    bits = np.random.RandomState(0).exponential(1, (len(CHANGES), 20, 4))
    bits[CHANGES.index("swap"), :, -1] = np.nan
    ablation_sweep = AblationSweep(bits, bits < 1, 20, 12)
    low, high = ablation_sweep.mean_of("mlp", 2).ci
    values = bits[CHANGES.index("mlp"), :, 2]
    reach = 2.093024 * values.std(ddof=1) / np.sqrt(20)  # t(0.975) with 19 degrees of freedom
    assert (low, high) == pytest.approx((values.mean() - reach, values.mean() + reach), rel=1e-6)
    assert len(ablation_sweep.means("swap").mean) == 3
    assert ablation_sweep.kept_share("mlp", 2) == (values < 1).mean()
    assert (
        ablation_sweep.mean_of("mlp", ablation_sweep.largest("mlp")).mean
        == ablation_sweep.means("mlp").mean.max()
    )
    assert ablation_sweep.median("mlp") == np.median(ablation_sweep.means("mlp").mean)


def test_divergence_is_zero_for_equal_distributions():
    before = np.log(np.array([0.5, 0.25, 0.25]))
    after = np.log(np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]))
    np.testing.assert_allclose(divergence(before, after), [0, 0.25], atol=1e-12)


def test_lens_matches_library_hidden_states(smollm2):
    """The embedding, two layers and the end, at every place that is looked at."""
    result = lens.lens("smollm2", TEXT)
    ids = torch.tensor(texts.tokens(smollm2, TEXT).ids)[None]
    network = smollm2.network
    with torch.inference_mode():
        states = network(input_ids=ids, output_hidden_states=True).hidden_states
        # the library's last state is normalized already
        rows = {0: states[0], 11: states[11], 29: states[29]}
        payload = {row: network.lm_head(network.model.norm(x))[0] for row, x in rows.items()}
        payload[30] = network.lm_head(states[30])[0]
    end = torch.log_softmax(payload[30].double(), -1)
    for row, logits in payload.items():
        item = torch.log_softmax(logits.double(), -1)
        names = [texts.piece(smollm2, int(k)) for k in item.argmax(-1)]
        assert list(result.likeliest[row]) == names
        np.testing.assert_allclose(result.probability[row], item.max(-1).values.exp(), atol=1e-4)
        bits = (end.exp() * (end - item)).sum(-1) / np.log(2)
        np.testing.assert_allclose(result.bits[row], bits, rtol=1e-3, atol=1e-3)
    assert result.settled_layer(4) == 30
    assert result.before_settled(4) == result.answer[29, 4]
    assert result.pieces == texts.tokens(smollm2, TEXT).pieces


@pytest.mark.parametrize(
    ("text", "code"),
    [("The film was <mask>.", "nothing_hidden"), ("The film was good.", "nothing_hidden"),
     ("The film was [mask].", "nothing_hidden"), ("The film was ____.", "nothing_hidden"),
     ("The [MASK] was " + "very " * 12 + "good.", "hidden_early")],
)  # fmt: skip
def test_lens_rejects_encoder_text_without_visible_mask(minilm, text, code):
    with pytest.raises(UserError) as caught:
        lens.lens("minilm", text)
    assert caught.value.code == code
    assert 1 <= lens.default_position("minilm", text) <= lens.MAX_POSITIONS


def test_lens_of_encoder_ends_with_fill_guesses(minilm):
    text = "The film was [MASK]."
    result = lens.lens("minilm", text)
    index = result.pieces.index("[MASK]")
    guessed = fill.guesses("minilm", text, index, ("kept",))
    assert result.rows == 7
    assert result.likeliest[-1][index] == guessed.candidates[0][0]


@pytest.fixture(scope="module")
def copied(few_layers):
    """One sequence read twice, as the bench reads it; and how the heads are ranked."""
    payloads = []
    induction.ranked.cache_clear()
    with in_place(few_layers):
        result = induction.copy_twice("smollm2", 3, 1, lambda record, _: payloads.append(record))
        ranked = induction.ranked("smollm2")
    induction.ranked.cache_clear()
    return result, payloads, ranked


def bits_of(network, ids) -> np.ndarray:
    with torch.inference_mode():
        log_probabilities = torch.log_softmax(
            network(input_ids=ids, use_cache=False).logits[0, :-1], -1
        )
    return -log_probabilities.gather(1, ids[0, 1:, None])[:, 0].numpy() / np.log(2)


def test_copy_twice_losses_match_copy_without_heads(few_layers, copied):
    result, payload, ranked = copied
    ids = torch.tensor(induction.tokens(few_layers, 3))[None]
    full = bits_of(few_layers.network, ids)
    np.testing.assert_allclose(result.losses[:, 0, 0], [full, full], atol=1e-3)
    others = np.random.RandomState(3).permutation(ranked[1])
    for kind, heads, off in (("best", result.heads, 5), ("random", others, 16)):
        private = copy.deepcopy(few_layers.network)
        for layer, head in heads[:off]:
            private.model.layers[layer].self_attn.o_proj.weight[:, 64 * head : 64 * head + 64] = 0
        np.testing.assert_allclose(result.loss(kind, off).mean, bits_of(private, ids), atol=1e-3)
        del private
    assert payload == sorted(payload)
    assert payload[-1] == 1
    assert (result.sequences, result.length, len(result.pieces)) == (1, 24, 48)
    assert result.alike == pytest.approx(np.log2(49_152))


def test_ranked_uses_separate_sequences_and_library_attention(few_layers, copied):
    """By the library's own attention, of the two foremost heads and on the sequences of ranking."""
    result, _, (best, others) = copied
    assert len(best) + len(others) == result.all_heads == 9 * few_layers.card.layers
    assert len({tuple(head) for head in (*best, *others)}) == result.all_heads
    seeds = {induction._APART + k for k in range(induction._OTHERS)}
    assert not seeds & set(range(induction.SEQUENCES))
    rows = torch.tensor(np.stack([induction.tokens(few_layers, seed) for seed in sorted(seeds)]))
    network = eager(few_layers)
    with torch.inference_mode():
        weights = network(input_ids=rows, output_attentions=True, use_cache=False).attentions
    mean = np.array([stripe(layer.numpy(), 24).mean(0) for layer in weights])
    order = np.argsort(-mean, axis=None)[:16]
    assert [tuple(head) for head in best] == [divmod(int(k), 9) for k in order]
    for rank, queries in enumerate(result.maps[:2]):
        np.testing.assert_allclose(queries.sum(1), 1, atol=1e-5)
        assert result.stripe_of(rank).mean == pytest.approx(
            np.mean([queries[24 + k, k + 1] for k in range(23)]), rel=1e-5
        )
    assert result.even == pytest.approx(np.mean([1 / n for n in range(25, 48)]))


def test_induction_gain_is_first_minus_second_copy():
    rng = np.random.RandomState(0)
    losses = rng.uniform(0, 20, (2, 3, 5, 7))  # four tokens, twice
    shares = rng.uniform(0, 1, (5, 2))
    result = Induction(
        np.array([[1, 2], [0, 3]]), shares, np.zeros((2, 8, 8)), losses, 0.2, 270, 1024, ()
    )
    for at, kind in enumerate(HEAD_CHOICES):
        for off in range(3):
            each = [row[:3].mean() - row[4:].mean() for row in losses[at, off]]
            gain = result.gain(kind, off)
            reach = 2.776445 * np.std(each, ddof=1) / np.sqrt(5)  # t(0.975), 4 degrees of freedom
            assert gain.ci == pytest.approx((np.mean(each) - reach, np.mean(each) + reach))
            assert result.gain_left(kind, off) == gain.mean / result.gain(kind, 0).mean
    assert (result.first, result.second) == (losses[0, 0, :, :3].mean(), losses[0, 0, :, 4:].mean())
    assert (result.alike, result.name(1), result.stripe_of(1).mean) == (
        10,
        "0.3",
        shares[:, 1].mean(),
    )
    loss = result.loss("best", 1)
    np.testing.assert_allclose(loss.mean, losses[0, 1].mean(0))
    np.testing.assert_allclose(loss.high - loss.mean, loss.mean - loss.low)
    assert stripe(np.eye(8)[[0, 1, 2, 3, 1, 2, 3, 0]], 4) == 1


def test_fit_matches_least_squares_and_optimal_low_rank():
    """Against numpy's own least squares at full rank; at rank 1 no other map is nearer."""
    rng = np.random.RandomState(0)
    x, metric = rng.normal(size=(400, 3)), np.diag([9.0, 1.0, 0.01])
    y = x @ rng.normal(size=(3, 3)) + 2 + 0.1 * rng.normal(size=(400, 3))
    both = np.hstack([x, y, np.ones((400, 1))])
    full = fit(both.T @ both, roots(metric), 3)
    expected, *_ = np.linalg.lstsq(np.hstack([x, np.ones((400, 1))]), y - x, rcond=None)
    np.testing.assert_allclose(full[0] @ full[1], expected[:3], atol=1e-3)
    np.testing.assert_allclose(full[2], expected[3], atol=1e-3)

    def error(down, up) -> float:
        left = y - x - x @ down @ up
        left = left - left.mean(0)
        return float(np.einsum("ni,ij,nj->", left, metric, left))

    best = error(*fit(both.T @ both, roots(metric), 1)[:2])
    for down, up in zip(rng.normal(size=(200, 3, 1)), rng.normal(size=(200, 1, 3)), strict=True):
        near = full[0] @ full[1] @ up.T @ up / (up @ up.T)
        assert best <= min(error(down, up), error(near, np.eye(3))) * 1.001


def test_fit_lens_reduces_bits_and_ends_at_final_output(shallow, monkeypatch):
    """Maps of a few reviews; what is measured is what the library's hidden states say."""
    monkeypatch.setattr(fitted_lens, "TEXTS", 40)
    monkeypatch.setattr(fitted_lens, "MEASURED", 2)
    payloads = []
    maps = fitted_lens.fit_lens("smollm2", lambda record, _: payloads.append(record))
    assert payloads == sorted(payloads)
    assert (maps.rank, maps.texts, maps.bits.shape) == (16, 2, (2, 2, 4))
    full = precomputed.result("fit_lens", model="smollm2")
    assert (full.mean("fitted").mean[1:] < full.mean("plain").mean[1:]).all()
    ids = removal.beginnings(shallow)[0].ids
    network = shallow.network
    with torch.inference_mode():
        states = network(input_ids=torch.tensor(ids)[None], output_hidden_states=True).hidden_states
        end = torch.log_softmax(network.lm_head(states[-1])[0], -1)
        item = torch.log_softmax(network.lm_head(network.model.norm(states[2]))[0], -1)
    bits = (end.exp() * (end - item)).sum(-1).mean() / np.log(2)
    assert maps.bits[0, 0, 2] == pytest.approx(float(bits), rel=1e-3)
    plain, fitted = (lens.lens("smollm2", TEXT, entry) for entry in (None, maps))
    assert fitted.likeliest[-1] == plain.likeliest[-1]
    np.testing.assert_allclose(fitted.bits[-1], 0, atol=1e-4)
    assert np.median(fitted.bits[1:-1]) < np.median(plain.bits[1:-1])


def test_lens_median_settled_layer_returns_integer_if_whole(smollm2):
    assert repr(lens.lens("smollm2", TEXT).median_settled_layer) == "28"
