"""Error messages in the student's language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seqviz.core.i18n import escape_markdown


def to_message(refusal: Any, words: Callable[..., str]) -> str:
    """Return the message of an error: translated by its code, else in the error's own text.

    Args:
        refusal: a `UserError`, or any exception.
        words: returns a text of the lesson by its key; raises KeyError for an unknown key.
    """
    code = getattr(refusal, "code", None)
    if not code:
        return str(refusal)
    details = {
        k: escape_markdown(v) if isinstance(v, str) else v for k, v in refusal.details.items()
    }
    try:
        return words(f"problem.{code}", **details)
    except KeyError:  # no translation, as for a teacher's own model: English is better than none
        return str(refusal)
