"""Hostile texts in every text field: the page says the words, and does nothing that they say.

In the nightly run for four minutes; `python -m tests.hostile.fuzz_paste --count 2000` tries more.
"""

from __future__ import annotations

import pytest

from tests.hostile import adversarial_inputs, fuzz_paste, links, markup
from tests.tiers import first_only

EVERYTHING = " ".join((*adversarial_inputs.MARKUP, *adversarial_inputs.MARKDOWN))


LEAST = 8
# The first scene of each lesson; the night has all.
FIRST = {slug: scene for scene, (slug, _) in reversed(list(enumerate(fuzz_paste.SCENES)))}.values()


@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(scene, marks=[] if scene in FIRST else [pytest.mark.nightly])
        for scene in range(len(fuzz_paste.SCENES))
    ],
)
def test_text_fields_keep_markup_as_text(minilm, smollm2, scene):
    _, faults = fuzz_paste.judge((scene, EVERYTHING))
    assert faults == []


@pytest.mark.parametrize(("count", "seconds"), first_only([(100, 3.0), (2000, 250.0)]))
def test_text_fields_keep_random_texts_as_text(minilm, smollm2, count, seconds, record_property):
    result = fuzz_paste.hunting().search(count, start=8, within=seconds, minimum=LEAST)
    record_property("tried", result.count)
    assert result.count >= LEAST
    assert [f"{why}: {links.address(link)}" for link, why in result.failures] == []


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
def test_markdown_check_detects_streamlit_directives(words, found):
    assert markup._markdown(words) >= found
    assert bool(found) == bool(markup._markdown(words))
