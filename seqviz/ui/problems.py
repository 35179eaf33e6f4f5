"""What a student did that cannot work, as one sentence in the student's language."""

from __future__ import annotations

from collections.abc import Callable


class Problem(ValueError):
    """`problem.<code>` of the words says what is wrong and what to do; `details` fill it in."""

    def __init__(self, code: str, **details: object) -> None:
        super().__init__(code)
        self.code = code
        self.details = details


def sentence(refusal: ValueError, words: Callable[..., str]) -> str:
    """A refusal as one sentence: translated where it has a code, else in its own words.

    A `Problem` of a page and a `DataProblem` of `seqviz.data` carry a code; a ValueError of
    `seqviz.compute` is a sentence already.
    """
    code = getattr(refusal, "code", None)
    if code is None:
        return str(refusal)
    return words(f"problem.{code}", **getattr(refusal, "details", {}))
