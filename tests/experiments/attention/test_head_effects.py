"""Each head switched off alone: equal to switching them off one by one, and given up cleanly."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.experiments import attention
from seqviz.experiments.attention.head_effects import each_head
from seqviz.jobs import CancelledError
from seqviz.models import forward_cache, texts
from tests.models.reference_model import reported

SENTENCE = "AI and ML course is interesting and easy!"
PROMPT = "The capital of France is"


@pytest.fixture
def decoder_run(shallow):
    return reported(each_head, "smollm2", PROMPT)


@pytest.fixture(scope="module")
def encoder_run(minilm):
    return reported(each_head, "minilm", SENTENCE)


def one_by_one(name, text, layers, heads, of):
    """A read-out of the model with each head off alone, [layer, head]."""
    return np.array(
        [[of(attention.ablate(name, text, off=((layer, head),))) for head in range(heads)]
         for layer in range(layers)]
    )  # fmt: skip


def test_each_head_matches_single_ablations_of_encoder(encoder_run):
    result, _ = encoder_run
    assert (result.decoder, result.fraction) == (False, 1)
    expected = one_by_one("minilm", SENTENCE, 6, 12, lambda change: 1 - change.sentence)
    # float32 vectors: noise of 1e-6 of their length against changes from 1e-4 to 0.1
    np.testing.assert_allclose(result.change, expected, 1e-2, 1e-9)
    assert expected.max() > 1e-3


def test_each_head_matches_single_ablations_of_decoder(shallow, decoder_run):
    result, _ = decoder_run
    assert (result.decoder, result.fraction) == (True, 1)
    expected = one_by_one("smollm2", PROMPT, shallow.card.layers, 9, lambda change: change.bits)
    # float32 logits differ by some 1e-6; the divergence by that times its size, and squared
    np.testing.assert_allclose(result.change, expected, 1e-2, 1e-6)
    assert expected.min() > 0
    assert expected.max() > 0.1


@pytest.mark.parametrize("run", ["encoder_run", "decoder_run"])
def test_each_head_reports_immutable_growing_records(run, request):
    """Once a layer of each pass, so that it can be stopped; whole layers, from the first."""
    result, reports = request.getfixturevalue(run)
    layers = result.change.shape[0]
    steps = layers * layers
    np.testing.assert_allclose([share for _, share in reports], np.arange(1, steps + 1) / steps)
    for index, (record, fraction) in enumerate(reports):
        assert (record.fraction, record.decoder) == (fraction, result.decoder)
        expected = result.change.copy()
        expected[index // layers :] = np.nan
        np.testing.assert_array_equal(record.change, expected)


@pytest.mark.parametrize(
    ("name", "text", "after"), [("minilm", SENTENCE, 8), ("smollm2", PROMPT, 1)]
)
def test_each_head_leaves_shared_model_unchanged_on_cancel(name, text, after, request):
    model = request.getfixturevalue(name)
    tokens = texts.tokens(model, text)
    before = forward_cache.forward(model, tokens)
    observed = []

    def report(record, fraction=None):
        observed.append(fraction)
        if len(observed) == after:
            raise CancelledError

    with pytest.raises(CancelledError):
        each_head(name, text, report)
    assert len(observed) == after
    again = forward_cache.forward(model, tokens)
    np.testing.assert_array_equal(before.weights, again.weights)
    np.testing.assert_array_equal(before.vectors, again.vectors)


def test_each_head_returns_finite_changes_for_empty_text(minilm):
    result, _ = reported(each_head, "minilm", "")  # [CLS] and [SEP]
    assert np.isfinite(result.change).all()
    assert result.change.min() >= 0
