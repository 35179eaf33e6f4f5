"""Padding told and untold, on either side: against the library's passes, and against no padding."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.bert_accuracy.results import SIDES, TOLD
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import heads, padding
from seqviz.experiments.bert_accuracy.encoding import Vectors, pad, tokenize, vectors
from tests.models.reference_model import eager, reported

TEXTS = sentiment_split()[1].texts
SENTENCE = "A film that knows what it wants."
LENGTHS = (16, 48)  # some sentences are longer than 16
COUNT = 24


@pytest.fixture(scope="module")
def run(head):
    return reported(padding.padding, "minilm", COUNT, LENGTHS)


def by_the_library(minilm, head, ids, length, side, masking):
    """Probability, vector and share of attention on [PAD] of one sentence, one pass, eager."""
    batch = pad([ids], 0, side, length)
    options = {"attention_mask": torch.tensor(batch.real).long()} if masking else {}
    with torch.inference_mode():
        output = eager(minilm)(torch.tensor(batch.ids), output_attentions=True, **options)
    real = batch.real[0]
    vector = output.last_hidden_state[0].numpy()[real].mean(0)
    weights = torch.cat(output.attentions).numpy()  # [layer, head, query, key]
    share = weights[:, :, real][:, :, :, ~real].sum(-1).mean()
    logits = head.weight @ vector + head.bias
    return 1 / (1 + np.exp(logits[0] - logits[1])), vector, share


def test_padding_matches_single_library_passes(minilm, head, run):
    result, _ = run
    ids = tokenize(minilm, TEXTS[:COUNT])
    short, long = (int(f(len(item) for item in ids)) for f in (min, max))
    assert short < 16 < long < 48
    for number in (0, int(np.argmax([len(item) for item in ids])), 7):
        _, before, _ = by_the_library(minilm, head, ids[number], 0, "right", True)
        for t, masking in enumerate(TOLD):
            for s, side in enumerate(SIDES):
                for column, length in enumerate(LENGTHS):
                    probability, vector, share = by_the_library(
                        minilm, head, ids[number], length, side, masking == "told"
                    )
                    cosine = vector @ before / np.linalg.norm(vector) / np.linalg.norm(before)
                    cell = (t, s, column, number)
                    # float32, summed in another order
                    assert result.probability[cell] == pytest.approx(probability, abs=1e-4)
                    assert result.drift[cell] == pytest.approx(1 - cosine, abs=2e-6)
                    assert result.on_pads[cell] == pytest.approx(share, abs=1e-6)


def test_padding_gets_zero_attention_only_if_masked(run):
    result, _ = run
    assert (result.on_pads[0] == 0).all()  # exp(-3e38) is 0, not almost
    shorter = result.on_pads[1, :, 1]
    assert (shorter > 0).all()
    assert (shorter < 1).all()


def test_padding_on_right_changes_nothing_if_masked(run):
    result, _ = run
    np.testing.assert_allclose(
        result.probability[0, 0], np.broadcast_to(result.unpadded, (2, COUNT)), atol=1e-5
    )
    assert result.drift[0, 0].max() < 1e-6
    assert result.drift[0, 1, 1].min() > 1e-4  # on the left it moves the positions
    assert result.drift[1, :, 1].min() > 1e-4


def test_padding_baseline_matches_unpadded_vectors_and_labels(minilm, head, run):
    result, _ = run
    outcome: Vectors = vectors(minilm, tokenize(minilm, TEXTS[:COUNT]))
    np.testing.assert_allclose(result.unpadded, heads.apply(head, outcome.mean), atol=1e-6)
    np.testing.assert_array_equal(result.positive, sentiment_split()[1].positive[:COUNT])
    np.testing.assert_array_equal(result.lengths, LENGTHS)


def test_padding_limits_sentences_for_long_lengths(head):
    result = padding.padding("minilm", 3, (128, 130), lambda *_: None, n_sentences=2)
    tried = np.isfinite(result.probability).all((0, 1))
    assert tried.tolist() == [[True, True, True], [True, True, False]]
    assert (np.isfinite(result.drift).all((0, 1)) == tried).all()
    assert (np.isfinite(result.on_pads).all((0, 1)) == tried).all()
    assert np.isfinite(result.unpadded).all()


def test_pad_user_text_matches_library_passes(minilm, head):
    own = padding.pad_user_text("minilm", SENTENCE, (8, 40))
    (ids,) = tokenize(minilm, [SENTENCE])
    for t, masking in enumerate(TOLD):
        for s, side in enumerate(SIDES):
            probability, _, share = by_the_library(minilm, head, ids, 40, side, masking == "told")
            assert own.probability[t, s, 1] == pytest.approx(probability, abs=1e-4)
            assert own.on_pads[t, s, 1] == pytest.approx(share, abs=1e-6)
    assert own.pieces == (
        *("[CLS]", "a", "film", "that", "knows", "what", "it", "wants", ".", "[SEP]"),
        *["[PAD]"] * 8,
    )
    assert own.real.tolist() == [True] * 10 + [False] * 8
    assert own.ids[10:].tolist() == [0] * 8
    assert own.drift[:, :, 0].max() < 1e-6  # eight tokens are fewer than it has
    assert own.unpadded == pytest.approx(own.probability[0, 0, 1], abs=1e-5)


@pytest.mark.parametrize("feature", ["cls", "pooler"])
def test_pad_user_text_supports_cls_and_pooler(minilm, feature):
    own = padding.pad_user_text("minilm", SENTENCE, (32,), feature)
    head = heads.standard_head("minilm", feature)
    for s, side in enumerate(SIDES):
        result = vectors(minilm, tokenize(minilm, [SENTENCE]), length=32, side=side, masked=False)
        expected = heads.apply(head, getattr(result, feature))[0]
        assert own.probability[1, s, 0] == pytest.approx(expected, abs=1e-5)


def test_pad_user_text_accepts_512_and_rejects_513_or_empty_lengths(head):
    own = padding.pad_user_text("minilm", "", (512,))  # [CLS] and [SEP] alone
    assert own.on_pads[1].min() > 0.5
    for lengths in ((), (513,)):
        with pytest.raises(ValueError, match="512"):
            padding.pad_user_text("minilm", SENTENCE, lengths)


def test_pads_in_mean_matches_library_mean_over_all_tokens(minilm, head):
    """The mean runs over all tokens of the library's pass, the attention mask given or not."""
    result, reports = reported(padding.pads_in_mean, "minilm", 6, LENGTHS)
    assert reports[-1] == (1, 1)
    ids = tokenize(minilm, TEXTS[:6])
    for number in (0, 5):
        for t, masking in enumerate((True, False)):
            for column, length in enumerate(LENGTHS):
                batch = pad([ids[number]], 0, "right", length)
                mask = {"attention_mask": torch.tensor(batch.real).long()} if masking else {}
                with torch.inference_mode():
                    last = eager(minilm)(torch.tensor(batch.ids), **mask).last_hidden_state
                logits = head.weight @ last[0].numpy().mean(0) + head.bias
                probability = 1 / (1 + np.exp(logits[0] - logits[1]))
                assert result.probability[t, column, number] == pytest.approx(probability, abs=1e-4)
    full = padding.padding("minilm", 6, LENGTHS)
    longer = [len(item) >= LENGTHS[0] for item in ids]  # no padding: as without it
    np.testing.assert_allclose(result.probability[0, 0, longer], full.unpadded[longer], atol=1e-4)
    assert result.flipped("untold", 48, full.unpadded).n == result.accuracy("told", 48).n == 6
