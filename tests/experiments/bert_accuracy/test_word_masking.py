"""Words masked one after the other: against passes one by one, and the library's own gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.bert_accuracy.corruption import count
from seqviz.compute.bert_accuracy.results import CONTROLS, ORDERS
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import features, heads, word_masking
from seqviz.experiments.bert_accuracy.encoding import tokenize, vectors
from seqviz.experiments.bert_accuracy.importance import attention_received, gradient_times_input
from seqviz.models import texts
from tests.models.reference_model import eager, passed, reported

TEXTS = sentiment_split()[1].texts
SENTENCE = "An unbelievably charming film, though the script isn't."
SHARES = (0.0, 0.25, 0.5, 1.0)


@pytest.fixture(scope="module")
def run(head):
    return reported(word_masking.mask_words, "minilm", 12, SHARES, seed=2)


def logit(head, vector):
    direction = torch.tensor(head.weight[1] - head.weight[0]).to(vector.dtype)
    return vector @ direction + float(head.bias[1] - head.bias[0])


def test_attention_received_matches_library(minilm):
    ids = tokenize(minilm, TEXTS[:3])
    own = attention_received(minilm, ids)
    for item, text in zip(own, TEXTS[:3], strict=True):
        weights, _, _ = passed(eager(minilm), texts.tokens(minilm, text))
        # mean over layers, heads and the queries between [CLS] and [SEP]; rounding of float32
        np.testing.assert_allclose(item, weights.mean((0, 1))[1:-1].mean(0), 1e-4)
        assert item.sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("feature", ["mean", "cls", "pooler"])
def test_gradient_times_input_matches_library_autograd(minilm, feature):
    head = heads.new_head(384, 1)
    ids = tokenize(minilm, [SENTENCE, TEXTS[0]])
    batch, alone = (gradient_times_input(minilm, some, head, feature) for some in (ids, ids[:1]))
    np.testing.assert_allclose(batch[0], alone[0], 1e-3, 1e-7)  # padding takes no part
    network = eager(minilm)
    words = network.get_input_embeddings()(torch.tensor(ids[0][None])).detach().requires_grad_()
    output = network(inputs_embeds=words)
    last = output.last_hidden_state[0]
    vector = {"mean": last.mean(0), "cls": last[0], "pooler": output.pooler_output[0]}[feature]
    (gradient,) = torch.autograd.grad(logit(head, vector), words)
    expected = (gradient * words).sum(-1).abs()[0].detach()
    np.testing.assert_allclose(alone[0], expected, 1e-3, 1e-7)


def test_mask_words_matches_single_library_passes(minilm, head, run):
    """The library's attention, one sentence at a time, words masked by hand."""
    result, _ = run
    assert result.orders == ORDERS
    np.testing.assert_array_equal(result.shares, SHARES)
    np.testing.assert_array_equal(result.positive, sentiment_split()[1].positive[:12])
    network = eager(minilm)
    ids = tokenize(minilm, TEXTS[:12])
    cut = word_masking.prepared(minilm, ids, head, "mean", 2, ORDERS)
    for number in (0, 5, 11):
        for order in range(len(ORDERS)):
            for column, share in enumerate(SHARES):
                changed = ids[number].copy()
                gone = count(share, len(cut[number].words))
                for index, word in enumerate(cut[number].word_of):
                    if word >= 0 and cut[number].turns[order][word] < gone:
                        changed[index] = 103
                with torch.inference_mode():
                    last = network(torch.tensor(changed)[None]).last_hidden_state[0]
                expected = torch.sigmoid(logit(head, last.mean(0))).item()
                # float32 in another order of summing
                assert result.probability[order, column, number] == pytest.approx(
                    expected, abs=1e-4
                )


def test_mask_words_keeps_prefix_in_longer_run_and_varies_order(minilm, head, run):
    """A longer run begins with the shorter one; another seed draws another order."""
    result, _ = run
    few = word_masking.mask_words(
        "minilm", 3, SHARES, lambda *_: None, seed=2, orders=("random", "content")
    )
    np.testing.assert_allclose(few.probability, result.probability[[0, 3], :, :3], atol=1e-5)
    ids = tokenize(minilm, TEXTS[:1] * 2)
    same, other = word_masking.prepared(minilm, ids, head, "mean", 2, ("random",))
    assert (same.turns != other.turns).any()


def test_prepared_orders_match_word_scores(minilm, head):
    (ids,) = tokenize(minilm, [SENTENCE])
    (item,) = word_masking.prepared(minilm, (ids,), head, "mean", 0, ORDERS)
    assert item.words == (
        *("an", "unbelievably", "charming", "film", ",", "though", "the", "script"),
        *("isn", "'", "t", "."),
    )
    for turns in item.turns:
        assert sorted(turns) == list(range(12))
    function = np.array([0, 4, 5, 6, 8, 9, 10, 11])
    assert item.turns[ORDERS.index("function")][function].max() == 7
    assert item.turns[ORDERS.index("content")][function].min() == 4
    for name, scores in (
        ("attention", attention_received(minilm, (ids,))),
        ("gradient", gradient_times_input(minilm, (ids,), head, "mean")),
    ):
        words = [scores[0][item.word_of == word].sum() for word in range(12)]
        assert list(np.argsort(item.turns[ORDERS.index(name)])) == list(np.argsort(words)[::-1])
    everything = item.masked(0, 12, 103)
    assert (everything[1:-1] == 103).all()
    assert (everything[[0, -1]] == ids[[0, -1]]).all()
    with pytest.raises(ValueError, match="none of the orders"):
        word_masking.prepared(minilm, (ids,), head, "mean", 0, ("upward",))


def test_mask_user_text_matches_single_passes(minilm, head):
    own = word_masking.mask_user_text("minilm", SENTENCE, seed=4)
    assert own.probability.shape == (5, 13)
    (ids,) = tokenize(minilm, [SENTENCE])
    (item,) = word_masking.prepared(minilm, (ids,), head, "mean", 4, ORDERS)
    np.testing.assert_array_equal(own.turns, item.turns)
    for order, k in ((1, 0), (1, 5), (4, 7), (2, 12)):
        with torch.inference_mode():
            last = minilm.network(torch.tensor(item.masked(order, k, 103))[None]).last_hidden_state
        expected = torch.sigmoid(logit(head, last[0].mean(0))).item()
        assert own.probability[order, k] == pytest.approx(expected, abs=1e-4)
    part = word_masking.mask_user_text("minilm", SENTENCE, 4, orders=("gradient",))
    assert part.orders == ("gradient",)
    np.testing.assert_allclose(part.probability[0], own.probability[2], atol=1e-5)


@pytest.mark.parametrize(("text", "words"), [("", 0), ("Good", 1), ("word " * 300, 38)])
def test_mask_user_text_handles_short_and_long_texts(head, text, words):
    own = word_masking.mask_user_text("minilm", text, orders=("attention", "random"))
    assert len(own.words) == words
    assert own.turns.shape == (2, words)
    assert own.probability.shape == (2, words + 1)
    assert np.isfinite(own.probability).all()


# ---------------------------------------------------------------------------------- two controls
@pytest.mark.usefixtures("vectors")
def test_controls_match_single_passes(minilm, head):
    """Deleted: nothing in the place of the words. Adapted: the same masks, a head of its own."""
    result, reports = reported(word_masking.controls, "minilm", 5, SHARES, seed=2, training=60)
    assert result.orders == CONTROLS
    shares = [share for _, share in reports]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    adapted = word_masking.adapted_head(
        "minilm", SHARES, lambda some: vectors(minilm, some).mean, seed=2, training=60
    )
    ids = tokenize(minilm, TEXTS[:5])
    cut = word_masking.prepared(minilm, ids, head, "mean", 2, ("random",))
    for number, item in enumerate(cut):
        for column, share in enumerate(SHARES):
            gone = count(share, len(item.words))
            out = [w >= 0 and item.turns[0][w] < gone for w in item.word_of]
            retained = [token for token, no in zip(ids[number], out, strict=True) if not no]
            hidden = [103 if no else token for token, no in zip(ids[number], out, strict=True)]
            for row, (its, observed) in enumerate(((head, retained), (adapted, hidden))):
                with torch.inference_mode():
                    last = minilm.network(torch.tensor([observed])).last_hidden_state[0]
                expected = torch.sigmoid(logit(its, last.mean(0))).item()
                assert result.probability[row, column, number] == pytest.approx(expected, abs=1e-4)


@pytest.mark.usefixtures("vectors")
def test_adapted_head_fits_on_full_and_masked_sentences(minilm, monkeypatch):
    """What it is fitted on: the vectors of 40 whole sentences, and of the same with some masked."""
    observed = {}

    def fit(train, validation, positive, valid_positive):
        observed.update(train=train, positive=positive)
        return heads.new_head(384, 0)

    def encode(subset):
        observed["masked"] = subset
        return np.full((len(subset), 384), 7.0)

    monkeypatch.setattr(heads, "fit_as_standard", fit)
    word_masking.adapted_head("minilm", (0.0, 0.5, 1.0), encode, training=40)
    ids = features.ids("minilm", "train")[:40]
    full = features.features("minilm", "train").vectors.mean[:40]
    np.testing.assert_array_equal(observed["train"][:40], full)
    assert (observed["train"][40:] == 7).all()
    truth = features.parts()["train"].positive[:40]
    np.testing.assert_array_equal(observed["positive"], np.concatenate([truth, truth]))
    shares = []
    for item, masked in zip(ids, observed["masked"], strict=True):
        changed = item != masked
        assert (masked[changed] == 103).all()
        shares.append(changed.sum() / (len(item) - 2))
    shares = np.array(shares)
    assert set(np.round(2 * shares) / 2) == {0.0, 0.5, 1.0}
    assert np.abs(shares - np.round(2 * shares) / 2).max() < 0.3  # words of several pieces
