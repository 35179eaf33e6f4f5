"""Hostile texts in every text field: the page says the words, and does nothing that they say.

All 2,000: `python -m tests.hostile.pasted --count 2000`, or SEQVIZ_HOSTILE=full with pytest.
"""

from __future__ import annotations

import os

import pytest

from tests.hostile import links, markup, pasted, strange

FULL = os.environ.get("SEQVIZ_HOSTILE") == "full"
EVERYTHING = " ".join((*strange.MARKUP, *strange.MARKDOWN))


@pytest.mark.parametrize("scene", range(len(pasted.SCENES)))
def test_markup_in_every_field_stays_text(minilm, smollm2, scene):
    _, faults = pasted.judge((scene, EVERYTHING))
    assert faults == []


def test_random_texts_stay_text(minilm, smollm2):
    count, seconds = (2_000, float("inf")) if FULL else (100, 6.0)
    found = pasted.hunting().search(count, start=8, within=seconds)
    assert found.count >= 5
    assert [f"{why}: {links.address(link)}" for link, why in found.failures] == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("see http://evil.example", {"link http://evil.example"}),
        ("see http\\://evil.example", {"link http://evil.example"}),  # a backslash is not enough
        ("a \\-> b", {"arrow ->"}),
        ("\\:material/home\\:", {"icon :material/home:"}),
        (":red[x]", {"directive"}),
        ("\\:red\\[x\\]", set()),
        ("$x$", {"formula"}),
        ("[x](http://evil.example)", {"link_open http://evil.example"}),
    ],
)
def test_the_check_sees_what_streamlit_would_do(words, found):
    assert markup._markdown(words) >= found
    assert bool(found) == bool(markup._markdown(words))
