"""What a model reads of a text: plain arrays, for any tokenizer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int


@dataclass(frozen=True)
class Tokens:
    """A text, or a pair, as one sequence.

    pieces: as shown, a leading space as "␣". special: put there by the tokenizer. real: False for
    padding. left_out: tokens that were too many; of a text whose end was not looked at, at least so
    many, and never 0.
    """

    pieces: tuple[str, ...]
    ids: Int[np.ndarray, "token"]
    segments: Int[np.ndarray, "token"]
    special: Bool[np.ndarray, "token"]
    real: Bool[np.ndarray, "token"]
    left_out: int

    @property
    def second(self) -> int:
        """Where the second sentence starts, 0 without one."""
        return int(np.argmax(self.segments == 1))
