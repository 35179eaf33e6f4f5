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


def test_encoder_heads_one_by_one(encoder_run):
    found, _ = encoder_run
    assert (found.decoder, found.fraction) == (False, 1)
    wanted = one_by_one("minilm", SENTENCE, 6, 12, lambda change: 1 - change.sentence)
    # float32 vectors: noise of 1e-6 of their length against changes from 1e-4 to 0.1
    np.testing.assert_allclose(found.change, wanted, 1e-2, 1e-9)
    assert wanted.max() > 1e-3


def test_decoder_heads_one_by_one(shallow, decoder_run):
    found, _ = decoder_run
    assert (found.decoder, found.fraction) == (True, 1)
    wanted = one_by_one("smollm2", PROMPT, shallow.card.layers, 9, lambda change: change.bits)
    # float32 logits differ by some 1e-6; the divergence by that times its size, and squared
    np.testing.assert_allclose(found.change, wanted, 1e-2, 1e-6)
    assert wanted.min() > 0
    assert wanted.max() > 0.1


@pytest.mark.parametrize("run", ["encoder_run", "decoder_run"])
def test_reports_grow_and_are_not_changed_afterwards(run, request):
    """Once a layer of each pass, so that it can be stopped; whole layers, from the first."""
    found, reports = request.getfixturevalue(run)
    layers = found.change.shape[0]
    steps = layers * layers
    np.testing.assert_allclose([share for _, share in reports], np.arange(1, steps + 1) / steps)
    for place, (record, fraction) in enumerate(reports):
        assert (record.fraction, record.decoder) == (fraction, found.decoder)
        wanted = found.change.copy()
        wanted[place // layers :] = np.nan
        np.testing.assert_array_equal(record.change, wanted)


@pytest.mark.parametrize(
    ("name", "text", "after"), [("minilm", SENTENCE, 8), ("smollm2", PROMPT, 1)]
)
def test_giving_up_leaves_the_shared_model_as_it_was(name, text, after, request):
    model = request.getfixturevalue(name)
    tokens = texts.tokens(model, text)
    before = forward_cache.forward(model, tokens)
    seen = []

    def report(record, fraction=None):
        seen.append(fraction)
        if len(seen) == after:
            raise CancelledError

    with pytest.raises(CancelledError):
        each_head(name, text, report, "cpu")
    assert len(seen) == after
    again = forward_cache.forward(model, tokens)
    np.testing.assert_array_equal(before.weights, again.weights)
    np.testing.assert_array_equal(before.vectors, again.vectors)


def test_nothing_but_the_models_own_tokens(minilm):
    found, _ = reported(each_head, "minilm", "")  # [CLS] and [SEP]
    assert np.isfinite(found.change).all()
    assert found.change.min() >= 0
