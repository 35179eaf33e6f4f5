"""Time per generated token with a key-value cache and with recomputation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.core.units import Count, Seconds
from seqviz.stats.facts import Facts

PASS_KINDS = ("prefill", "decode", "anew")


@dataclass(frozen=True)
class CacheTimes:
    """Measured seconds by number of preceding tokens, with repeats.

    Attributes:
        tokens: numbers n of preceding tokens.
        seconds: by kind (`PASS_KINDS`): "prefill" reads n tokens and caches their keys and values,
            "decode" reads token n + 1 with the cache, "anew" reads all n + 1 tokens without.
        difference: largest difference between the logits behind token n + 1 with and without the
            cache.
        ranks: rank of the likeliest token of one pass in the order of the other; 1 where they
            agree.
    """

    tokens: Int[np.ndarray, "length"]
    seconds: Float[np.ndarray, "kind repeat length"]
    difference: Float[np.ndarray, "length"]
    ranks: Int[np.ndarray, "length"]

    def agreement(self) -> Facts:
        """State the agreement of both passes and their largest logit difference."""
        is_same = bool((self.ranks == 1).all())
        return Facts("same" if is_same else "differs", difference=float(self.difference.max()))

    def at(self, kind: str, tokens: int) -> Seconds:
        """Return the median seconds at a measured number of tokens.

        Args:
            kind: one of `PASS_KINDS`.
            tokens: one of `tokens`.

        Raises:
            ValueError: the kind is unknown.
        """
        where = int(np.flatnonzero(self.tokens == tokens)[0])
        return float(np.median(self.seconds[PASS_KINDS.index(kind), :, where]))

    def times(self, tokens: int) -> float:
        """Return the time per token of recomputation as a multiple of that of cached decoding."""
        return self.at("anew", tokens) / self.at("decode", tokens)

    def at_longest(self) -> Facts:
        """State the milliseconds per token behind the longest text."""
        longest = int(self.tokens[-1])
        decode, rerun = (1e3 * self.at(kind, longest) for kind in PASS_KINDS[1:])
        return Facts(longest=longest, decode=decode, anew=rerun, times=rerun / decode)


def readings(prompt: int, written: int, cached: bool = True) -> Count:
    """Return the number of times that a token is read during generation.

    The last token is never read. With a cache every other token is read once; without, every pass
    reads the prompt and all tokens generated so far.

    Args:
        prompt: tokens of the prompt.
        written: generated tokens.
        cached: True with a key-value cache.
    """
    if cached:
        return float(prompt + written - 1)
    return float(sum(prompt + done for done in range(written)))
