"""A figure quotes the end of the text that its tokens continue."""

from __future__ import annotations

from dataclasses import replace

import pytest

from seqviz.compute.attention.tokens import Tokens
from seqviz.figures.gpt.beginning import beginning
from testing.fake import fake


@pytest.mark.parametrize(
    ("pieces", "quoted"),
    [
        (("Hey", "␣readers", ",", "⏎", "today"), "Hey readers, today"),
        (("a", "␣<b>"), "a &lt;b&gt;"),
        (("long" * 10,), "…" + ("long" * 10)[-23:]),
    ],
)
def test_beginning_is_one_short_line(pieces, quoted):
    assert beginning(replace(fake(Tokens), pieces=pieces)) == quoted
