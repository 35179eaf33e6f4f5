"""Which of two words a character model expects: the product of what it expects letter by letter."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.gates.observation import expect, observe
from seqviz.core.errors import UserError
from seqviz.experiments import gates
from tests.compute.gates.test_observation import exact


@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("words", [("was", "were"), (" is ", "are"), ("我", "x" * 20)])
def test_expect_matches_product_of_character_probabilities(cell, words):
    name, text = f"characters_{cell}", "The  flights the airline"
    network = exact(name)
    expectation = expect([network], text, *words)
    assert expectation.networks == (name,)
    assert expectation.words == ("The", "flights", "the", "airline")
    assert expectation.candidates == tuple(word.strip() for word in words)
    assert expectation.probability.shape == (1, 4, 2)
    for index in range(4):
        begun = " ".join(expectation.words[: index + 1])
        for column, word in enumerate(expectation.candidates):
            observation = observe(network, f"{begun} {word} x")  # the x keeps the closing space
            product = observation.probability[len(begun) : len(begun) + len(word) + 2].prod()
            assert expectation.probability[0, index, column] == pytest.approx(product, rel=1e-10)
    first, second = np.moveaxis(expectation.probability, -1, 0)
    np.testing.assert_allclose(expectation.bits, np.log2(second / first), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("pair", [("", "were"), ("was", ""), (" ", "were"), ("was", "have been")])
def test_expect_rejects_candidates_that_are_not_one_word(pair):
    for text in ("The flights", ""):  # the words are asked for first
        with pytest.raises(UserError) as refused:
            gates.expect(("characters_gru",), text, *pair)
        assert refused.value.code == "no_word"


@pytest.mark.parametrize("text", ["", "  ", "\t\n"])
def test_expect_rejects_empty_text(text):
    with pytest.raises(UserError) as refused:
        gates.expect(("characters_gru",), text, "was", "were")
    assert refused.value.code == "no_text"
