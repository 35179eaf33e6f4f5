"""The parameters that a page around the app is not told are those in which a text can stand."""

from __future__ import annotations

import re
from contextlib import suppress

from seqviz.lessons.framework.controls import Control
from seqviz.ui.server import index_page
from tests.hostile.input_declarations import SLUGS, keys
from tools import text_parameters

WORDS = "any words of a reader's own"


def takes_words(control: Control) -> bool:
    with suppress(ValueError, KeyError):
        value = control.parse(WORDS)
        return bool(value) and WORDS.startswith(value)
    return False


def test_text_parameters_file_matches_declarations():
    """Else `python -m tools.text_parameters`."""
    assert index_page.TEXTS.read_text("utf-8").splitlines() == text_parameters.declared()


def test_index_page_lists_every_text_parameter():
    taking = {key for slug in SLUGS for key, item in keys(slug).items() if takes_words(item)}
    (listed,) = re.findall(r'const TEXTS = "([^"]*)"', index_page.script())
    assert set(listed.split(" ")) == taking
    assert len(SLUGS) == 11
    assert len(taking) > 50
