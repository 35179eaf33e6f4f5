"""Random numbers from a seed, for what is drawn after every press."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence


class _Blank(ISeedSequence):
    """No entropy: the state is set right afterwards."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> np.ndarray:
        return np.zeros(n_words, dtype)


def seeded(seed: int) -> np.random.RandomState:
    """What `np.random.RandomState(seed)` gives, number for number.

    That first asks the system for entropy, which it then drops, and another thread goes on
    meanwhile: three of them were 6% of a press of *Vanishing gradients*.
    """
    # numpy takes any ISeedSequence; its types know only its own.
    random = np.random.RandomState(np.random.MT19937(_Blank()))  # type: ignore[arg-type]
    random.seed(seed)
    return random
