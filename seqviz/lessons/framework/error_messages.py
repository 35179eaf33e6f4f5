"""What a student did that cannot work, as one sentence in the student's language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seqviz.core.i18n import escape_markdown


def to_message(refusal: Any, words: Callable[..., str]) -> str:
    """A refusal as one sentence: translated where its code has words, else in its own words."""
    code = getattr(refusal, "code", None)
    if not code:
        return str(refusal)
    details = {
        k: escape_markdown(v) if isinstance(v, str) else v for k, v in refusal.details.items()
    }
    try:
        return words(f"problem.{code}", **details)
    except KeyError:  # nobody expected it here, as of a teacher's own model: better in English
        return str(refusal)
