"""Where a text is cut, where a network starts, and a bench without any gate to hold."""

from __future__ import annotations

import numpy as np
import pytest
from gates_page import note, opened, said, shown
from looking import bench, figures

from seqviz.experiments import gates
from seqviz.text import number


def test_a_cut_behind_a_space_still_reads_400_symbols():
    """The space at the end of what is read is read too."""
    seen = gates.observe("characters_lstm", "abc " * 250)
    assert len(seen.pieces) == 400


@pytest.mark.parametrize(
    ("text", "least", "most"),  # counted in the normalized text, and as it was typed
    [("a  b  " * 120, 79, 122), ("e\u0301" * 500, 100, 200), (" " * 5000 + "a" * 410, 10, 10)],
)
def test_what_is_left_out_is_what_was_not_read(text, least, most):
    """Counted in the normalized text: white space in a row is one space, an accent no character."""
    seen = gates.observe("characters_lstm", text)
    assert least <= seen.left_out <= most


def test_nothing_was_left_out_of_a_short_text_among_spaces():
    assert gates.observe("characters_lstm", "a" + " " * 30_000).left_out == 0


def test_text_behind_20_000_spaces_is_a_text():
    gates.observe("characters_lstm", " " * 25_000 + "good")


def test_a_beginning_cut_in_expect_ends_with_a_whole_word():
    """Half a word is another word."""
    found = gates.expect(("characters_lstm",), "Flights and " * 40, "was", "were")
    assert set(found.words) == {"Flights", "and"}


def test_the_page_says_that_the_beginning_of_a_sentence_was_cut(visit):
    page = opened(visit, "en")
    page.run(ga__agreement__text="The airline " * 41)
    (figure,) = figures(bench(page.app, "agreement"))
    axis = figure["layout"]["xaxis"]
    drawn = len(axis.get("labelalias") or axis["ticktext"])
    start = note(page, "cut", limit="@", left="").split("@")[0]
    assert drawn == 82 or any(start in sentence for sentence in said(page, "agreement"))


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_compare_starts_where_the_network_starts(cell):
    """A character model reads an END before every text."""
    name, text = f"characters_{cell}", "The flights the airline"
    shown = np.linalg.norm(gates.observe(name, text, "h").values.astype(float), axis=1)
    np.testing.assert_allclose(gates.compare(name, text).size, shown, rtol=1e-3)


def test_an_lstm_can_have_no_gate_held(visit):
    """An empty selection is one, and not the default."""
    page = opened(visit, "en")
    page.run(ga__force__gates_lstm=[])
    assert not page.value("force", "gates_lstm")
    assert shown(page, "force")["largest"][0] == number(0)
    assert note(page, "nothing_forced") in said(page, "force")
