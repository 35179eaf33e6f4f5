"""Hostile texts in every text field: the page says the words, and does nothing that they say.

By night for four minutes; with `python -m tests.hostile.pasted --count 2000` as many as you like.
"""

from __future__ import annotations

import pytest
from rings import one_of

from tests.hostile import links, markup, pasted, strange

EVERYTHING = " ".join((*strange.MARKUP, *strange.MARKDOWN))


LEAST = 8
# The first scene of each lesson; the night has all.
FIRST = {slug: scene for scene, (slug, _) in reversed(list(enumerate(pasted.SCENES)))}.values()


@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(scene, marks=[] if scene in FIRST else [pytest.mark.nightly])
        for scene in range(len(pasted.SCENES))
    ],
)
def test_markup_in_every_field_stays_text(minilm, smollm2, scene):
    _, faults = pasted.judge((scene, EVERYTHING))
    assert faults == []


@pytest.mark.parametrize(("count", "seconds"), one_of([(100, 3.0), (2000, 250.0)]))
def test_random_texts_stay_text(minilm, smollm2, count, seconds, record_property):
    found = pasted.hunting().search(count, start=8, within=seconds, least=LEAST)
    record_property("tried", found.count)
    assert found.count >= LEAST
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
