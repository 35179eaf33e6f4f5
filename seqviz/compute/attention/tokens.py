"""Tokens of a text as a model reads them: plain arrays, for any tokenizer."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Int


@dataclass(frozen=True)
class Tokens:
    """A text, or a pair, as one sequence.

    Attributes:
        pieces: tokens as shown, a leading space as "␣".
        segments: 1 for tokens of the second text, else 0.
        special: True for tokens added by the tokenizer.
        real: False for padding.
        left_out: number of tokens beyond the limit; of a text whose end was not tokenized a lower
            bound, never 0.
        unknown: number of tokens missing from the vocabulary, all read as the same token ([UNK] in
            BERT).
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
        """Pieces with their spaces and line breaks."""
        return tuple(piece.replace("␣", " ").replace("⏎", "\n") for piece in self.pieces)

    @property
    def n_text_tokens(self) -> int:
        """Number of tokens of the text itself: neither special nor padding."""
        return int((self.real & ~self.special).sum())

    @property
    def second(self) -> int:
        """Start of the second sentence; 0 without one."""
        return int(np.argmax(self.segments == 1))
