"""Beginning of a text, as figures quote what their tokens continue."""

from __future__ import annotations

from seqviz.compute.attention.tokens import Tokens
from seqviz.plotting import escape

_LONGEST = 24  # maximum number of characters


def beginning(prompt: Tokens) -> str:
    """Return the end of a prompt on one line, escaped; an ellipsis stands for what is left out."""
    text = " ".join("".join(prompt.spelled).split())
    return escape(text if len(text) <= _LONGEST else f"…{text[1 - _LONGEST :]}")
