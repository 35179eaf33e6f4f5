"""What a model reads of a text: plain arrays, for any tokenizer."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Int


@dataclass(frozen=True)
class Tokens:
    """A text, or a pair, as one sequence.

    pieces: as shown, a leading space as "␣". special: put there by the tokenizer. real: False for
    padding. left_out: tokens that were too many; of a text whose end was not looked at, at least so
    many, and never 0. unknown: tokens that the vocabulary has no piece for, all read as one and the
    same token ([UNK] in BERT).
    """

    pieces: tuple[str, ...]
    ids: Int[np.ndarray, "token"]
    segments: Int[np.ndarray, "token"]
    special: Bool[np.ndarray, "token"]
    real: Bool[np.ndarray, "token"]
    left_out: int
    unknown: int = field(default=0, kw_only=True)

    @property
    def spelled(self) -> tuple[str, ...]:
        """The pieces with their spaces and line breaks."""
        return tuple(piece.replace("␣", " ").replace("⏎", "\n") for piece in self.pieces)

    @property
    def n_text_tokens(self) -> int:
        """How many tokens are of the text itself: neither special nor padding."""
        return int((self.real & ~self.special).sum())

    @property
    def second(self) -> int:
        """Where the second sentence starts, 0 without one."""
        return int(np.argmax(self.segments == 1))
