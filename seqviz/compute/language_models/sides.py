"""A word left out of a sentence, its price by reader, and what a sum of bits decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.core.units import Count
from seqviz.stats.estimate import Estimate, mean_ci, paired_difference
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Proportion, of_share, proportion

READERS = ("left", "whole", "both", "shuffled")
PASS_KINDS = ("write", "read", "fill")


@dataclass(frozen=True)
class Gap:
    """Sentence with one word left out.

    Attributes:
        left: text before the word.
        word: the word; empty where it is not known.
        right: text after it.
    """

    left: str
    word: str
    right: str


@dataclass(frozen=True)
class GapRanks:
    """Ranks of the word left out, and the best words in its place, of several readers.

    Attributes:
        readers: how the sentence is read, of `READERS`.
        candidates: the words that are ranked.
        rank: rank of the word left out; one more than there are candidates where it is none.
        best: indices of the best candidates, the best first.
        sequences: sequences that the network reads for one gap.
        seconds: processor time of one gap.
    """

    readers: tuple[str, ...]
    candidates: tuple[str, ...]
    rank: Int[np.ndarray, "reader gap"]
    best: Int[np.ndarray, "reader gap place"]
    sequences: Int[np.ndarray, "reader"]
    seconds: Float[np.ndarray, "reader gap"]

    def within(self, reader: str) -> Proportion:
        """Return the share of gaps whose word has rank 1, 2, ... or better, with intervals.

        Args:
            reader: one of `readers`.
        """
        ranks = self.rank[self.readers.index(reader)]
        share = (ranks <= np.arange(1, len(self.candidates) + 1)[:, None]).mean(1)
        return of_share(share, len(ranks))

    def first(self, reader: str) -> Proportion:
        """Return the share of gaps whose word is the best candidate.

        Args:
            reader: one of `readers`.
        """
        return proportion(self.rank[self.readers.index(reader)] == 1)

    def seconds_of(self, reader: str) -> Estimate:
        """Return the mean processor time of a gap in seconds.

        Args:
            reader: one of `readers`.
        """
        return mean_ci(self.seconds[self.readers.index(reader)], source="sentences")

    def words(self, reader: str, gap: int) -> tuple[str, ...]:
        """Return the best candidates of one gap.

        Args:
            reader: one of `readers`.
            gap: index of the gap.
        """
        return tuple(self.candidates[k] for k in self.best[self.readers.index(reader), gap])

    def compared(self, reader: str, reference: str) -> Facts:
        """State how often two readers rank the word first, on the same gaps, and their price.

        Args:
            reader: one of `readers`.
            reference: the reader that it is compared with.
        """
        right, other = (
            (self.rank[self.readers.index(name)] == 1).astype(float) for name in (reader, reference)
        )
        difference = paired_difference(right, other, "sentences")
        return Facts(
            difference.verdict, share=self.first(reader), other=self.first(reference),
            difference=abs(difference), gaps=difference.n, candidates=len(self.candidates),
            sequences=int(self.sequences[self.readers.index(reader)]),
            ms=1e3 * self.seconds_of(reader).mean,
        )  # fmt: skip


def rank_gaps(
    scores: Float[np.ndarray, "gap reader candidate"], candidates: tuple[str, ...],
    truth: Sequence[str], sequences: Sequence[int], seconds: Float[np.ndarray, "gap reader"],
    n_best: int = 5,
) -> GapRanks:  # fmt: skip
    """Return ranks and best candidates from the scores of each gap by each of `READERS`.

    Args:
        scores: scores of the candidates by each reader.
        candidates: the words.
        truth: the word left out of each gap; "" where it is not known.
        sequences: sequences read for one gap, by reader.
        seconds: processor time.
        n_best: number of best candidates.
    """
    values = scores.transpose(1, 0, 2)
    rank = np.full(values.shape[:2], len(candidates) + 1)
    for gap, word in enumerate(truth):
        if word in candidates:
            goal = values[:, gap, [candidates.index(word)]]
            rank[:, gap] = 1 + (values[:, gap] > goal).sum(1)
    best = np.argsort(-values, kind="stable")[..., :n_best]
    return GapRanks(READERS, candidates, rank, best, np.array(sequences), seconds.T)


@dataclass(frozen=True)
class SideTimes:
    """Processor time for N tokens: written one by one, read at once, or filled in at once.

    Attributes:
        tokens: numbers N of tokens.
        seconds: by kind (`PASS_KINDS`): "write" is a decoder that writes N tokens after one, with a
            key-value cache; "read" is the same decoder on N given tokens; "fill" is an encoder with
            N hidden tokens.
    """

    tokens: Int[np.ndarray, "length"]
    seconds: Float[np.ndarray, "kind repeat length"]

    def passes(self, kind: str, tokens: int) -> Count:
        """Return the number of forward passes.

        Args:
            kind: one of `PASS_KINDS`.
            tokens: number of tokens.
        """
        return float(tokens if kind == "write" else 1)

    def milliseconds(self, kind: str, tokens: int) -> float:
        """Return the median time in milliseconds.

        Args:
            kind: one of `PASS_KINDS`.
            tokens: one of `tokens`.
        """
        at = self.tokens.tolist().index(tokens)
        return 1e3 * float(np.median(self.seconds[PASS_KINDS.index(kind), :, at]))

    def at(self, tokens: int) -> Facts:
        """State passes and milliseconds of each kind.

        Args:
            tokens: one of `tokens`.
        """
        write, read, fill = (self.milliseconds(kind, tokens) for kind in PASS_KINDS)
        return Facts(tokens=tokens, passes=self.passes("write", tokens), write=write, read=read,
                     fill=fill)  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """Bits of two continuations of the same text, for items of several tasks.

    Attributes:
        tasks: names of the tasks.
        bits: bits of the right and the wrong continuation.
    """

    tasks: tuple[str, ...]
    bits: Float[np.ndarray, "task item 2"]

    @property
    def right(self) -> Proportion:
        """Share of the items of each task whose right continuation costs fewer bits."""
        return of_share((self.bits[..., 0] < self.bits[..., 1]).mean(1), self.bits.shape[1])

    def of(self, task: str) -> Proportion:
        """Return the share of right decisions in one task.

        Args:
            task: one of `tasks`.
        """
        return proportion(np.less(*self.bits[self.tasks.index(task)].T))

    def summary(self, task: str, item: int) -> Facts:
        """State what the bits decide for one item, and how often they are right.

        Args:
            task: one of `tasks`.
            item: index of the item.
        """
        first, second = self.bits[self.tasks.index(task), item].tolist()
        share = self.of(task)
        return Facts("right" if first < second else "wrong", first=first, second=second,
                     items=share.n, correct=share.correct, share=share)  # fmt: skip
