"""eval() and train() switch dropout; whether gradients are computed is another matter."""

from __future__ import annotations

import numpy as np

from seqviz.experiments.bert_accuracy import encoding, heads, modes

TEXT = "The plot is thin but the actors are a joy to watch."


def test_modes_switch_dropout_but_not_gradients(minilm):
    head = heads.LinearHead(np.float32([np.zeros(384), np.full(384, 0.2)]), np.zeros(2, np.float32))
    result = modes.measure(minilm, head, TEXT, 12, 0)
    vectors = encoding.vectors(minilm, encoding.tokenize(minilm, [TEXT]))
    once = heads.apply(head, vectors.mean)
    assert result.modes == ("eval", "train")
    np.testing.assert_allclose(result.probability[0], once[0], atol=1e-5)
    assert len(set(result.probability[1].round(6))) == 12  # other units dropped each time
    assert result.gradient.tolist() == [[True, False], [True, False]]
    assert not any(part.training for part in minilm.network.modules())


def test_modes_are_reproducible_by_seed(minilm):
    head = heads.new_head(384, 0)
    item, again, other = (modes.measure(minilm, head, TEXT, 3, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(item.probability, again.probability)
    assert (item.probability[1] != other.probability[1]).all()
