"""What greedy decoding, beam search and draws find in the tree of all continuations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqviz.compute.gpt.continuation import Continuation, parted
from seqviz.compute.gpt.futures import Beams, ContinuationTree
from seqviz.core import deprecated
from seqviz.core.units import FineShare


@dataclass(frozen=True)
class DecodingComparison:
    """A tree, and the texts that three ways of decoding take through it, all with one model.

    greedy: the likeliest token always. beams: of a beam search, its best first. samples: drawn from
    the model as it is.
    """

    tree: ContinuationTree
    greedy: Continuation
    beams: Beams
    samples: tuple[Continuation, ...]

    @property
    def ids(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        """The tokens of every text: "greedy", "beam" (the best alone), "sample"."""
        return {
            "greedy": (self.greedy.ids,),
            "beam": (self.beams.best.ids,),
            "sample": tuple(sample.ids for sample in self.samples),
        }

    greedy_chance = deprecated.alias("greedy_probability")

    @property
    def greedy_probability(self) -> FineShare:
        """The probability of the greedy text."""
        return float(2**self.greedy.log2)

    beam_chance = deprecated.alias("beam_probability")

    @property
    def beam_probability(self) -> FineShare:
        """The probability of the beam search's best text; it need not be what it is ranked by."""
        return float(np.exp(self.beams.best.log))

    best_chance = deprecated.alias("best_probability")

    @property
    def best_probability(self) -> FineShare:
        """The probability of the most probable whole text in the tree."""
        return float(np.exp(self.tree.log[self.tree.best]))

    @property
    def fork(self) -> int:
        """The step, from 1, at which greedy decoding leaves the most probable text; 0: never."""
        best = tuple(int(self.tree.token[node]) for node in self.tree.path_to(self.tree.best))
        step = parted(self.greedy.ids, best)
        return 0 if self.greedy.ids == best else step + 1
