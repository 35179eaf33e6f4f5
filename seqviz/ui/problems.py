"""What a student did that cannot work, as one sentence in the student's language."""

from __future__ import annotations

from seqviz.text import Text


class Problem(ValueError):
    """`problem.<code>` of the locale says what is wrong and what to do; `details` fill it in."""

    def __init__(self, code: str, **details: object) -> None:
        super().__init__(code)
        self.code = code
        self.details = details

    def sentence(self, text: Text) -> str:
        """The sentence for the page."""
        return text(f"problem.{self.code}", **self.details)
