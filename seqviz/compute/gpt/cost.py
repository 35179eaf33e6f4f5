"""What a token costs with the keys and values of those before it kept, and with all read anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.core.units import Count, Seconds
from seqviz.stats.facts import Facts

PASS_KINDS = ("prefill", "decode", "anew")


@dataclass(frozen=True)
class CacheTimes:
    """Seconds by the number of tokens before, as measured, several times each.

    tokens: n. seconds: of each of `KINDS`: "prefill", n tokens are read and their keys and values
    kept; "decode", token n + 1 is read with these; "anew", all n + 1 are read without. difference:
    the largest between the logits that both give behind token n + 1. ranks: the place of the one's
    likeliest token in the order of the other, 1 where both say the same.
    """

    tokens: Int[np.ndarray, "length"]
    seconds: Float[np.ndarray, "kind repeat length"]
    difference: Float[np.ndarray, "length"]
    ranks: Int[np.ndarray, "length"]

    def agreement(self) -> Facts:
        """State whether both name the same next token everywhere, and how far logits differ."""
        is_same = bool((self.ranks == 1).all())
        return Facts("same" if is_same else "differs", difference=float(self.difference.max()))

    def at(self, kind: str, tokens: int) -> Seconds:
        """The median at a measured number of tokens. Raises ValueError for another kind."""
        where = int(np.flatnonzero(self.tokens == tokens)[0])
        return float(np.median(self.seconds[PASS_KINDS.index(kind), :, where]))

    def times(self, tokens: int) -> float:
        """How many times as long a token takes where all is read anew."""
        return self.at("anew", tokens) / self.at("decode", tokens)

    def at_longest(self) -> Facts:
        """State what a token costs behind the longest text, in milliseconds."""
        longest = int(self.tokens[-1])
        decode, rerun = (1e3 * self.at(kind, longest) for kind in PASS_KINDS[1:])
        return Facts(longest=longest, decode=decode, anew=rerun, times=rerun / decode)


def readings(prompt: int, written: int, cached: bool = True) -> Count:
    """How many times a token is read until `written` tokens stand behind a prompt.

    Nobody reads the last one. With a cache every other is read once; without, every pass reads the
    prompt and all that is written so far.
    """
    if cached:
        return float(prompt + written - 1)
    return float(sum(prompt + done for done in range(written)))
