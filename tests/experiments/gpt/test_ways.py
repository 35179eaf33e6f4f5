"""Greedy decoding, beams and draws behind one prompt, and the tree that has them all."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.gpt.continuation import parted
from seqviz.compute.gpt.draw import uniforms
from seqviz.experiments.gpt.continuation import greedy, sampled
from seqviz.experiments.gpt.futures import SAMPLES, compare_decoding
from testing.figure_examples.gpt import continuation_of
from tests.models.reference_model import in_place

TEXT, STEPS = "Once upon a time", 3


@pytest.fixture(scope="module")
def found(few_layers):
    with in_place(few_layers):
        return compare_decoding(few_layers.card.name, TEXT, STEPS, 2, 0.0, 4)


def test_compare_decoding_tree_contains_every_text(found):
    for texts in found.ids.values():
        for ids in texts:
            path = found.tree.nodes(ids)
            assert len(path) == len(ids)
            assert tuple(found.tree.token[list(path)]) == ids


def test_compare_decoding_probabilities_match_tree(found):
    probability = {
        name: [np.exp(found.tree.log[found.tree.nodes(ids)[-1]]) for ids in texts]
        for name, texts in found.ids.items()
    }
    assert found.greedy_probability == pytest.approx(probability["greedy"][0], rel=1e-3)
    assert found.beam_probability == pytest.approx(probability["beam"][0], rel=1e-3)
    rendered = np.median([2**sample.log2 for sample in found.samples])
    assert rendered == pytest.approx(np.median(probability["sample"]), rel=1e-3)
    assert found.best_probability >= max(max(some) for some in probability.values()) * (1 - 1e-6)


def test_compare_decoding_fork_is_first_difference_from_best(few_layers, found):
    best = tuple(int(found.tree.token[node]) for node in found.tree.path_to(found.tree.best))
    where = parted(found.greedy.ids, best)
    assert found.fork == (where + 1 if found.greedy.ids != best else 0)
    assert found.tree.best_text == few_layers.tokenizer.decode(best)


def test_compare_decoding_draws_use_seed_streams(shallow, found):
    name = shallow.card.name
    assert len(found.samples) == SAMPLES
    again = sampled(name, TEXT, uniforms(4, STEPS, 2))
    assert found.samples[2].ids == again.ids
    assert found.greedy.ids == greedy(name, TEXT, STEPS).ids


def test_continuation_counts_repeated_ngrams():
    text = continuation_of((0, 1, 2, 3, 0, 1, 2, 3, 4))
    assert text.seen_before == 1  # 0 1 2 3 again
    assert text.mean_of(2, 4) == pytest.approx(text.bits[2:4].mean())
