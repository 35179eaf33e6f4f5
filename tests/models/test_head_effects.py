"""Each head switched off alone: equal to switching them off one by one, and given up cleanly."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest

from seqviz.experiments import attention
from seqviz.experiments.head_effects import each_head
from seqviz.jobs import Cancelled
from seqviz.models import forward_cache, pretrained, texts

SENTENCE = "AI and ML course is interesting and easy!"
PROMPT = "The capital of France is"
DEPTH = 3  # of SmolLM2's 30 layers: enough for every head to be switched off twice


def silent(record, fraction=None):
    """A report that nobody reads."""


@pytest.fixture
def shallow(smollm2, monkeypatch):
    """SmolLM2 without all but its first layers, in place of the whole one."""
    shared = {id(p): p for p in smollm2.network.parameters()}
    network = copy.deepcopy(smollm2.network, shared)
    network.model.layers = network.model.layers[:DEPTH]
    network.config.num_hidden_layers = DEPTH
    monkeypatch.setitem(pretrained._loaded, "smollm2", replace(smollm2, network=network))
    monkeypatch.setattr(forward_cache, "_shelf", forward_cache._Shelf())


@pytest.fixture
def decoder_run(shallow):
    """The whole job for the decoder, with its reports."""
    reports = []
    found = each_head("smollm2", PROMPT, lambda *report: reports.append(report), "cpu")
    return found, reports


@pytest.fixture(scope="module")
def encoder_run(minilm):
    reports = []
    found = each_head("minilm", SENTENCE, lambda *report: reports.append(report), "cpu")
    return found, reports


def test_encoder_heads_one_by_one(encoder_run):
    found, _ = encoder_run
    assert not found.decoder
    assert found.fraction == 1
    wanted = np.array(
        [
            [1 - attention.ablate("minilm", SENTENCE, off=((layer, head),)).sentence
             for head in range(12)]
            for layer in range(6)
        ]
    )  # fmt: skip
    # float32 vectors: noise of 1e-6 of their length against changes from 1e-4 to 0.1
    np.testing.assert_allclose(found.change, wanted, 1e-2, 1e-9)
    assert wanted.max() > 1e-3


def test_decoder_heads_one_by_one(decoder_run):
    found, _ = decoder_run
    assert found.decoder
    wanted = np.array(
        [
            [attention.ablate("smollm2", PROMPT, off=((layer, head),)).bits for head in range(9)]
            for layer in range(DEPTH)
        ]
    )
    # float32 logits differ by some 1e-6; the divergence by that times its size, and squared
    np.testing.assert_allclose(found.change, wanted, 1e-2, 1e-6)
    assert wanted.min() > 0
    assert wanted.max() > 0.1


@pytest.mark.parametrize("run", ["encoder_run", "decoder_run"])
def test_reports_grow(run, request):
    found, reports = request.getfixturevalue(run)
    layers = found.change.shape[0]
    fractions = [fraction for _, fraction in reports]
    assert fractions == sorted(set(fractions))
    assert fractions[0] > 0
    assert fractions[-1] == 1
    assert len(fractions) == layers * layers  # once a layer of each pass, so that it can be stopped
    for record, fraction in reports:
        assert record.fraction == fraction
        assert record.decoder == found.decoder
        known = np.isfinite(record.change)
        done = int(known.all(1).sum())
        assert known.sum() == done * found.change.shape[1]  # whole layers, from the first
        assert layers * fraction - 1 <= done + 1e-9
        np.testing.assert_array_equal(record.change[:done], found.change[:done])


def test_reports_are_not_changed_afterwards(encoder_run):
    _, reports = encoder_run
    assert np.isnan(reports[0][0].change).all()
    assert len({id(record.change) for record, _ in reports}) == len(reports)


@pytest.mark.parametrize(("name", "text"), [("minilm", SENTENCE), ("smollm2", PROMPT)])
@pytest.mark.parametrize("after", [1, 8])
def test_giving_up_leaves_the_shared_model_as_it_was(name, text, after, request):
    model = request.getfixturevalue(name)
    tokens = texts.tokens(model, text)
    before = forward_cache.forward(model, tokens)
    seen = []

    def report(record, fraction=None):
        seen.append(fraction)
        if len(seen) == after:
            raise Cancelled

    with pytest.raises(Cancelled):
        each_head(name, text, report, "cpu")
    assert len(seen) == after
    again = forward_cache.forward(model, tokens)
    np.testing.assert_array_equal(before.weights, again.weights)
    np.testing.assert_array_equal(before.vectors, again.vectors)


def test_one_token(minilm):
    found = each_head("minilm", "", silent, "cpu")  # [CLS] and [SEP]
    assert np.isfinite(found.change).all()
    assert found.change.min() >= 0
