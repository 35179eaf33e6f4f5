"""Continuations of a prompt: a tree with exact probabilities, and what a beam search keeps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.gpt.continuation import Continuation, parted
from seqviz.core import deprecated
from seqviz.core.units import FineShare
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class ContinuationTree:
    """A tree behind a prompt, grown where it is most probable.

    parent: of each node, -1 for a first token; a parent comes before its children. token, piece:
    what stands there. depth: 1 for a first token. log: natural logarithm of the probability of the
    way to it, under the model as it is. expanded: whether what follows it was looked at; of its
    followers the `width` likeliest are in the tree. ended: the model's token for the end.
    steps: how long a whole future is. passes: forward passes behind the prompt.
    """

    prompt: Tokens
    parent: Int[np.ndarray, "node"]
    token: Int[np.ndarray, "node"]
    pieces: tuple[str, ...]
    depth: Int[np.ndarray, "node"]
    log: Float[np.ndarray, "node"]
    expanded: Bool[np.ndarray, "node"]
    ended: Bool[np.ndarray, "node"]
    steps: int
    width: int
    passes: int

    @property
    def is_complete(self) -> Bool[np.ndarray, "node"]:
        """Which nodes are the end of a whole future: at the last step, or ended before."""
        return np.asarray((self.depth == self.steps) | self.ended)

    @property
    def covered(self) -> FineShare:
        """The probability of all whole futures in the tree together."""
        return float(np.exp(self.log[self.is_complete]).sum())

    @property
    def best(self) -> int:
        """The node of the most probable whole future in the tree. Raises ValueError without one."""
        if not self.is_complete.any():
            raise ValueError("The tree has no whole future yet.")
        return int(np.where(self.is_complete, self.log, -np.inf).argmax())

    @property
    def best_text(self) -> str:
        """What that one says, as its pieces spell it."""
        return "".join(self.pieces[node] for node in self.path_to(self.best)).replace("␣", " ")

    @property
    def proven(self) -> bool:
        """Whether no future outside the tree can be more probable than `best`.

        Every way that is not in the tree begins with one that is, or with a token that is less
        likely than all children shown of its parent.
        """
        if not self.is_complete.any():
            return False
        return bool(self.open_log < self.log[self.best])

    def bounded(self) -> Facts:
        """State how probable a future outside the tree can be, and whether `best` is proven."""
        return Facts("proven" if self.proven else "open", bound=float(np.exp(self.open_log)))

    @property
    def open_log(self) -> float:
        """The log-probability that no future outside the tree exceeds."""
        bounds = [self.log[~self.expanded & ~self.is_complete].max(initial=-np.inf)]
        for node in (-1, *np.flatnonzero(self.expanded)):
            children = self.log[self.parent == node]
            # what is hidden of its followers is at most as likely as the least that is shown
            bounds.append(children[: self.width].min(initial=np.inf))
        return float(max(bounds))

    def path_to(self, node: int) -> tuple[int, ...]:
        """The nodes from the first token to this one."""
        results = []
        while node >= 0:
            results.append(int(node))
            node = int(self.parent[node])
        return tuple(reversed(results))

    def nodes(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """The nodes of a text, as far as the tree has it."""
        at, result = -1, []
        for item in ids:
            here = np.flatnonzero((self.parent == at) & (self.token == item))
            if not len(here):
                break
            at = int(here[0])
            result.append(at)
        return tuple(result)


@dataclass(frozen=True)
class Hypothesis:
    """A text that a beam search has finished.

    log: natural logarithm of its probability. score: that divided by its length to the power of
    the length penalty, which is no probability unless the penalty is 0.
    """

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    text: str
    log: float
    score: float
    ended: bool


@dataclass(frozen=True)
class Beams:
    """A beam search: hypotheses from the highest score down, and what was kept at each step.

    parent: the place in the row above that each beam goes on from (0 in the first row). token,
    piece, log: what it puts there, and the probability of the whole way.
    """

    prompt: Tokens
    hypotheses: tuple[Hypothesis, ...]
    parent: Int[np.ndarray, "step beam"]
    token: Int[np.ndarray, "step beam"]
    pieces: tuple[tuple[str, ...], ...]
    log: Float[np.ndarray, "step beam"]
    penalty: float

    @property
    def best(self) -> Hypothesis:
        """The hypothesis of the highest score."""
        return self.hypotheses[0]

    def ranked(self) -> Facts:
        """State how the best hypothesis is ranked."""
        best = self.best
        return Facts(
            text=best.text, chance=float(np.exp(best.log)), score=best.score, log=best.log,
            tokens=len(best.ids), penalty=self.penalty,
        )  # fmt: skip


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

    def compared(self) -> Facts:
        """State what greedy decoding and beam search find, against the best of the tree."""
        tree, best, greedy = self.tree, self.best_probability, self.greedy_probability
        return Facts(
            "missed" if self.fork else "found",
            best=best, greedy=greedy, beam=self.beam_probability, times=best / greedy,
            best_text=tree.best_text, greedy_text=self.greedy.text, step=self.fork,
            covered=tree.covered, length=tree.steps, passes=tree.passes,
            beginnings=len(tree.pieces),
        )  # fmt: skip
