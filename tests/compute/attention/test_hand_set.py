"""The worked example with readable features: scores that can be checked in the head."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqviz.compute.attention.hand_set import FEATURES, HEADS, WORDS, walk_features

IT, ANIMAL, STREET, CROSSED = (WORDS.index(w) for w in ("it", "animal", "street", "crossed"))


def test_embeddings_are_features_of_distinct_words():
    walk = walk_features()
    assert len(set(WORDS)) == len(WORDS) == 8
    assert sorted(range(8), key=walk.ids.__getitem__) == [WORDS.index(w) for w in sorted(WORDS)]
    assert walk.embeddings.shape == (8, len(FEATURES))
    assert set(np.unique(walk.embeddings)) == {0.0, 1.0}
    assert walk.embeddings.sum(1).max() == 1  # a word is of one kind, or of none


def test_heads_look_for_what_they_say():
    scores = walk_features().attention.scores
    assert (scores[0, IT, ANIMAL], scores[0, IT, STREET]) == (6, 2)
    assert np.count_nonzero(scores[0]) == 2
    subjects = [WORDS[key] for key in np.flatnonzero(scores[1, CROSSED])]
    assert subjects == ["animal", "it"]
    for head in HEADS:
        assert {name for looks in head.values() for name in looks} <= set(FEATURES)


@pytest.mark.parametrize(("scale", "temperature"), [("d_k", 1.0), ("none", 2.0)])
def test_weights_match_closed_form(scale, temperature):
    walk = walk_features(scale=scale, temperature=temperature)  # in both, scores are halved
    assert walk.attention.weights[0, IT, ANIMAL] == pytest.approx(
        math.e**3 / (math.e**3 + math.e + 6), rel=1e-6
    )
    assert walk.attention.weights[1, IT] == pytest.approx(np.full(8, 1 / 8))
    np.testing.assert_allclose(walk.combined, walk.attention.output.sum(0), rtol=1e-6)


def test_causal_mask_leaves_a_verb_only_the_subject_before_it():
    open_, closed = (walk_features(causal=causal).attention.weights[1] for causal in (False, True))
    assert open_[CROSSED, ANIMAL] == open_[CROSSED, IT]
    assert closed[CROSSED, IT] == 0
    assert closed[CROSSED].argmax() == ANIMAL
