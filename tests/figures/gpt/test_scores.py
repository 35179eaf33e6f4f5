"""The bars of a next token say by which filter a row was cut."""

from __future__ import annotations

from seqviz.compute.gpt.filters import ORDER, Chain
from seqviz.figures.gpt.scores import SHOWN, next_token_bars
from testing.figure_examples.gpt import filtered_of

LAST = (*(name for name in ORDER if name != "temperature"), "temperature")


def test_next_token_bars_name_filter_that_removes_tokens():
    figure = next_token_bars(filtered_of(Chain(temperature=0.5, top_k=5, order=LAST)))
    messages = [note["text"] for note in figure.layout["annotations"]]
    assert messages.count("top-k") == SHOWN - 5 + 1
    assert "temperature" not in messages
