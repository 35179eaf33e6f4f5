"""Continuations of a prompt: tree with exact probabilities, beam search, comparison of both."""

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
    """Tree of continuations of a prompt, expanded best-first by probability.

    Attributes:
        parent: parent of each node, which comes before it; -1 for a first token.
        depth: 1 for a first token.
        log: natural logarithm of the probability of the path to the node, under the unmodified
            model.
        expanded: True where the next tokens were evaluated; the `width` likeliest are in the tree.
        ended: True where the token is the model's end token.
        steps: tokens of a complete continuation.
        width: number of children of an expanded node.
        passes: forward passes behind the prompt.
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
        """True where a complete continuation ends: at the last step, or at an end token."""
        return np.asarray((self.depth == self.steps) | self.ended)

    @property
    def covered(self) -> FineShare:
        """Total probability of all complete continuations in the tree."""
        return float(np.exp(self.log[self.is_complete]).sum())

    @property
    def best(self) -> int:
        """Last node of the most probable complete continuation in the tree.

        Raises:
            ValueError: no continuation is complete.
        """
        if not self.is_complete.any():
            raise ValueError("The tree has no whole future yet.")
        return int(np.where(self.is_complete, self.log, -np.inf).argmax())

    @property
    def best_text(self) -> str:
        """Text of the most probable complete continuation, as its pieces spell it."""
        return "".join(self.pieces[node] for node in self.path_to(self.best)).replace("␣", " ")

    @property
    def proven(self) -> bool:
        """True where no continuation outside the tree can be more probable than `best`.

        Every path outside the tree begins with a path inside it, or with a token less likely than
        all children of its parent in the tree.
        """
        if not self.is_complete.any():
            return False
        return bool(self.open_log < self.log[self.best])

    def bounded(self) -> Facts:
        """State the largest possible probability outside the tree, and the proof of `best`."""
        return Facts("proven" if self.proven else "open", bound=float(np.exp(self.open_log)))

    @property
    def open_log(self) -> float:
        """Upper bound of the log-probability of a continuation outside the tree."""
        bounds = [self.log[~self.expanded & ~self.is_complete].max(initial=-np.inf)]
        for node in (-1, *np.flatnonzero(self.expanded)):
            children = self.log[self.parent == node]
            # A child outside the tree is at most as likely as the least likely one inside.
            bounds.append(children[: self.width].min(initial=np.inf))
        return float(max(bounds))

    def most_probable(self, count: int) -> Int[np.ndarray, "node"]:
        """Return the nodes with the most probable paths, most probable first."""
        return np.argsort(-self.log, kind="stable")[:count]

    def followed(self, count: int) -> Facts:
        """State how many tokens of the best continuation the most probable nodes include.

        Args:
            count: number of most probable nodes.
        """
        included = np.isin(self.path_to(self.best), self.most_probable(count))
        return Facts(followed=int(included.sum()))

    def path_to(self, node: int) -> tuple[int, ...]:
        """Return the nodes from the first token to this one."""
        results = []
        while node >= 0:
            results.append(int(node))
            node = int(self.parent[node])
        return tuple(reversed(results))

    def nodes(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """Return the nodes of a text, up to its first token outside the tree."""
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
    """Finished hypothesis of a beam search.

    Attributes:
        log: natural logarithm of its probability.
        score: `log` / length ** penalty; a log-probability only where the length penalty is 0.
        ended: True where it ends with the end token.
    """

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    text: str
    log: float
    score: float
    ended: bool


@dataclass(frozen=True)
class Beams:
    """Result of a beam search: ranked hypotheses, and the beams kept at each step.

    Attributes:
        hypotheses: finished hypotheses, highest score first.
        parent: index of the beam in the previous step that each beam extends; 0 in the first step.
        token: token that each beam adds.
        log: natural logarithm of the probability of the whole beam.
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
        """Hypothesis with the highest score."""
        return self.hypotheses[0]

    def ranked(self) -> Facts:
        """State the probability, score and length of the best hypothesis."""
        best = self.best
        return Facts(
            text=best.text, chance=float(np.exp(best.log)), score=best.score, log=best.log,
            tokens=len(best.ids), penalty=self.penalty,
        )  # fmt: skip


@dataclass(frozen=True)
class DecodingComparison:
    """Tree of continuations, and the texts of three decoding strategies, all from one model.

    Attributes:
        samples: texts sampled from the unmodified model.
    """

    tree: ContinuationTree
    greedy: Continuation
    beams: Beams
    samples: tuple[Continuation, ...]

    @property
    def ids(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        """Tokens of every text: "greedy", "beam" (only the best hypothesis), "sample"."""
        return {
            "greedy": (self.greedy.ids,),
            "beam": (self.beams.best.ids,),
            "sample": tuple(sample.ids for sample in self.samples),
        }

    greedy_chance = deprecated.alias("greedy_probability")

    @property
    def greedy_probability(self) -> FineShare:
        """Probability of the greedy text."""
        return float(2**self.greedy.log2)

    beam_chance = deprecated.alias("beam_probability")

    @property
    def beam_probability(self) -> FineShare:
        """Probability of beam search's best hypothesis, without the length penalty."""
        return float(np.exp(self.beams.best.log))

    best_chance = deprecated.alias("best_probability")

    @property
    def best_probability(self) -> FineShare:
        """Probability of the most probable complete continuation in the tree."""
        return float(np.exp(self.tree.log[self.tree.best]))

    @property
    def fork(self) -> int:
        """Step, from 1, at which greedy decoding leaves the most probable text; 0 for never."""
        best = tuple(int(self.tree.token[node]) for node in self.tree.path_to(self.tree.best))
        step = parted(self.greedy.ids, best)
        return 0 if self.greedy.ids == best else step + 1

    def compared(self) -> Facts:
        """State the results of greedy decoding and beam search against the best of the tree."""
        tree, best, greedy = self.tree, self.best_probability, self.greedy_probability
        return Facts(
            "missed" if self.fork else "found",
            best=best, greedy=greedy, beam=self.beam_probability, times=best / greedy,
            best_text=tree.best_text, greedy_text=self.greedy.text, step=self.fork,
            covered=tree.covered, length=tree.steps, passes=tree.passes,
            beginnings=len(tree.pieces),
        )  # fmt: skip
