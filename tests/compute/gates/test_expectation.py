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
def test_a_word_is_as_likely_as_its_characters_one_after_the_other(cell, words):
    name, text = f"characters_{cell}", "The  flights the airline"
    network = exact(name)
    found = expect([network], text, *words)
    assert found.networks == (name,)
    assert found.words == ("The", "flights", "the", "airline")
    assert found.candidates == tuple(word.strip() for word in words)
    assert found.probability.shape == (1, 4, 2)
    for place in range(4):
        begun = " ".join(found.words[: place + 1])
        for column, word in enumerate(found.candidates):
            seen = observe(network, f"{begun} {word} x")  # the x keeps the closing space
            product = seen.probability[len(begun) : len(begun) + len(word) + 2].prod()
            assert found.probability[0, place, column] == pytest.approx(product, rel=1e-10)
    first, second = np.moveaxis(found.probability, -1, 0)
    np.testing.assert_allclose(found.bits, np.log2(second / first), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("pair", [("", "were"), ("was", ""), (" ", "were"), ("was", "have been")])
def test_each_of_the_two_words_is_one_word(pair):
    for text in ("The flights", ""):  # the words are asked for first
        with pytest.raises(UserError) as refused:
            gates.expect(("characters_gru",), text, *pair)
        assert refused.value.code == "no_word"


@pytest.mark.parametrize("text", ["", "  ", "\t\n"])
def test_without_a_beginning_nothing_comes_next(text):
    with pytest.raises(UserError) as refused:
        gates.expect(("characters_gru",), text, "was", "were")
    assert refused.value.code == "no_text"
