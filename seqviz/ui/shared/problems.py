"""What a student did that cannot work, as one sentence in the student's language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seqviz.refusal import Refusal
from seqviz.text import literal


class Problem(Refusal):
    """A refusal by a page: only its code, as the sentence is among the page's words."""

    def __init__(self, code: str, **details: object) -> None:
        super().__init__(code, code, **details)


def sentence(refusal: Any, words: Callable[..., str]) -> str:
    """A refusal as one sentence: translated where its code has words, else in its own words."""
    code = getattr(refusal, "code", None)
    if not code:
        return str(refusal)
    details = {k: literal(v) if isinstance(v, str) else v for k, v in refusal.details.items()}
    try:
        return words(f"problem.{code}", **details)
    except KeyError:  # nobody expected it here, as of a teacher's own model: better in English
        return str(refusal)
