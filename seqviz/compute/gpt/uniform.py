"""Numbers between 0 and 1 that are the same in Python and in a browser: Philox4x32-10.

Salmon et al. (2011), "Parallel random numbers: as easy as 1, 2, 3". Made of products of 32-bit
numbers alone; every number is had from its place without those before.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import UInt32

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_STEPS = (0x9E3779B9, 0xBB67AE85)  # added to the key from round to round
_ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def philox(
    counters: UInt32[np.ndarray, "block 4"], key: tuple[int, int]
) -> UInt32[np.ndarray, "block 4"]:
    """Four random 32-bit numbers for each counter of four, under a key of two."""
    words = [counters[:, k].astype(np.uint64) for k in range(4)]
    keys = list(key)
    for _ in range(_ROUNDS):
        item, two = (
            np.uint64(by) * word
            for by, word in zip(_MULTIPLIERS, (words[0], words[2]), strict=True)
        )
        first, second = (np.uint64(part) for part in keys)
        words = [
            (two >> _HALF) ^ words[1] ^ first,
            two & _LOW,
            (item >> _HALF) ^ words[3] ^ second,
            item & _LOW,
        ]
        keys = [(part + step) & 0xFFFFFFFF for part, step in zip(keys, _STEPS, strict=True)]
    return np.stack(words, 1).astype(np.uint32)


def uniforms(seed: int, count: int, stream: int = 0) -> tuple[float, ...]:
    """The first `count` numbers of a seed, multiples of 2^-32 in [0, 1).

    seed, stream: 32 bits each; other streams of a seed are other numbers.
    """
    counters = np.zeros((count, 4), np.uint32)
    counters[:, 0], counters[:, 1] = np.arange(count), stream
    return tuple((philox(counters, (seed, 0))[:, 0] / 2**32).tolist())
