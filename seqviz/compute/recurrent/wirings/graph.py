"""Wirings of recurrent cells as graphs: nodes, edges, and dependencies of an output.

A node is ("x", s), ("h", layer, direction, t), ("d", layer, t) or ("y", t), all counted from 1;
direction 1 reads from left to right, -1 from right to left; "d" are states of a decoder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from seqviz.core.units import Fraction
from seqviz.stats.facts import Facts

Node = tuple[str | int, ...]
CELLS = ("rnn", "lstm", "gru")
ENTER = ("each", "first")
READ = ("each", "last", "ends", "after")
PURPOSES = ("tags", "forecast", "review", "translation", "caption", "image")


@dataclass(frozen=True)
class WiringGraph:
    """Wiring of a recurrent network.

    Attributes:
        cell: one of `CELLS`.
        both: True for both directions.
        enter: "each" step has an input, or only the "first".
        read: an output at "each" step, one at the "last", one from the final state of each
            direction ("ends"; without a backward direction the same), or `written` of them from a
            decoder "after" the last step. The decoder starts from the last state (summed over
            directions) and reads its own last output.
        written: outputs of the decoder.
        feedback: a step reads the last "state", or the last "output" in its place (Jordan, 1986;
            one layer from left to right, an output at each step).
    """

    cell: str = "rnn"
    layers: int = 1
    both: bool = False
    enter: str = "each"
    read: str = "each"
    steps: int = 6
    written: int = 4
    feedback: str = "state"

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return 1 if self.enter == "first" else self.steps

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return {"each": self.steps, "after": self.written}.get(self.read, 1)

    @property
    def first_output(self) -> int:
        """Number of the first output: a single one has that of the last step."""
        return self.steps if self.read in ("last", "ends") else 1

    @property
    def directions(self) -> tuple[int, ...]:
        """Directions of reading: 1, and -1 for a bidirectional network."""
        return (1, -1) if self.both else (1,)

    def edges(self) -> Iterator[tuple[Node, Node]]:
        """Yield all edges, each from a node to one that depends on it."""
        span = range(1, self.steps + 1)
        for layer in range(1, self.layers + 1):
            for direction in self.directions:
                for t in span:
                    here: Node = ("h", layer, direction, t)
                    if layer == 1 and t <= self.inputs:
                        yield ("x", t), here
                    if layer > 1:
                        for below in self.directions:
                            yield ("h", layer - 1, below, t), here
                    if self.feedback == "output" and t > 1:
                        yield ("y", t - 1), here
                    elif self.feedback == "state" and t - direction in span:
                        yield ("h", layer, direction, t - direction), here
        yield from self._read_off()

    def _read_off(self) -> Iterator[tuple[Node, Node]]:
        top = self.layers
        for direction in self.directions:
            for t in range(1, self.steps + 1):
                if self.read == "each":
                    yield ("h", top, direction, t), ("y", t)
            end = self.steps if direction == 1 or self.read == "last" else 1
            if self.read in ("last", "ends"):
                yield ("h", top, direction, end), ("y", 1)
        if self.read != "after":
            return
        for t in range(1, self.written + 1):
            for layer in range(1, top + 1):
                if t == 1:
                    for direction in self.directions:
                        yield (
                            ("h", layer, direction, self.steps if direction == 1 else 1),
                            ("d", layer, 1),
                        )
                else:
                    yield ("d", layer, t - 1), ("d", layer, t)
                if layer > 1:
                    yield ("d", layer - 1, t), ("d", layer, t)
            if t > 1:
                yield ("y", t - 1), ("d", 1, t)
            yield ("d", top, t), ("y", t)

    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes, in the order of their first edge."""
        return tuple(dict.fromkeys(node for edge in self.edges() for node in edge))

    def ancestors(self, node: Node) -> frozenset[Node]:
        """Return all nodes that a node can depend on, including itself."""
        into: dict[Node, list[Node]] = {}
        for edge, other in self.edges():
            into.setdefault(other, []).append(edge)
        result, left = {node}, [node]
        while left:
            new = [item for item in into.get(left.pop(), ()) if item not in result]
            result.update(new)
            left += new
        return frozenset(result)

    def reach(self) -> Bool[np.ndarray, "output input"]:
        """Return True for each output and input with a path between them."""
        outputs = [self.ancestors(("y", t)) for t in range(1, self.outputs + 1)]
        return np.array(
            [[("x", s) in output for s in range(1, self.inputs + 1)] for output in outputs]
        )


_FEW = WiringGraph(steps=4, written=3)
WIRINGS = {  # drawn in every text on this subject
    "one_one": replace(_FEW, steps=1),
    "one_many": replace(_FEW, enter="first"),
    "many_one": replace(_FEW, read="last"),
    "many_many": _FEW,
    "encoder": replace(_FEW, read="after"),
    "stacked": replace(_FEW, layers=2),
    "both": replace(_FEW, both=True),
}


HISTORY = {  # name -> year and network; equal years in the order of the authors' names
    "jordan": (1986, WiringGraph(feedback="output")),
    "elman": (1990, WiringGraph()),
    "hochreiter": (1997, WiringGraph("lstm")),
    "schuster": (1997, WiringGraph(both=True)),
    "graves": (2013, WiringGraph("lstm", layers=3, both=True)),
    "cho": (2014, WiringGraph("gru", read="after")),
}


@dataclass(frozen=True)
class Influence:
    """Measured influence: mean Frobenius norm of dy_t / dx_s over inputs and networks.

    Attributes:
        backward: influence on the backward state's half of the output, where one output reads both
            directions; else empty.
        samples: inputs of each network.
        flow: gradient that each edge of the graph carries back from each output, as a norm; None
            where it was not asked for.
    """

    wiring: WiringGraph
    norm: Float[np.ndarray, "output input"]
    backward: Float[np.ndarray, "half"]
    seeds: int
    samples: int
    flow: Float[np.ndarray, "output edge"] | None = None

    @property
    def nonzero(self) -> Fraction:
        """Number of pairs of output and input with any influence, and of all pairs."""
        return int((self.norm > 0).sum()), self.norm.size

    @property
    def backward_read(self) -> Fraction:
        """Number of inputs that influence the backward half of the output, and of all inputs."""
        return int((self.backward > 0).sum()), self.wiring.inputs

    def inputs_of(self, output: int) -> Fraction:
        """Return the number of inputs that influence an output (from 1), and of all inputs."""
        return int((self.norm[output - 1] > 0).sum()), self.wiring.inputs

    @property
    def as_drawn(self) -> bool:
        """True where the influence is exactly 0 where the graph has no path, and only there."""
        return bool(((self.norm > 0) == self.wiring.reach()).all())

    def suits(self, purpose: str) -> bool:
        """Return True where the measured influence is what a purpose needs.

        Args:
            purpose: one of `PURPOSES`. "image": one answer to one input; "caption": many outputs
                from one input; "review": one output that all inputs influence; "forecast": an
                output at each step that no later input influences, and each earlier one does;
                "tags": an output for each input that all inputs influence; "translation": the same
                with another number of outputs.
        """
        (outputs, inputs), moved = self.norm.shape, self.norm > 0
        needs = {
            "image": inputs == 1 == outputs,
            "caption": inputs == 1 < outputs,
            "review": inputs > 1 == outputs and moved.all(),
            "forecast": inputs == outputs > 1 and np.array_equal(moved, np.tri(inputs, dtype=bool)),
            "tags": inputs == outputs > 1 and moved.all(),
            "translation": 1 < inputs != outputs > 1 and moved.all(),
        }
        return bool(needs[purpose])

    def dependencies(self, output: int) -> Facts:
        """State the number of states and inputs that an output (from 1) depends on."""
        moved, inputs = self.inputs_of(output)
        states, every = (sum(node[0] in ("h", "d") for node in nodes) for nodes in
                         (self.wiring.ancestors(("y", output)), self.wiring.nodes()))  # fmt: skip
        return Facts("some" if moved < inputs else "all", free=inputs - moved, states=states,
                     all=every, samples=self.samples, seeds=self.seeds)  # fmt: skip


def suited(influences: Sequence[Influence], purpose: str) -> tuple[str, ...]:
    """Return the names of the wirings in `WIRINGS` that suit a purpose; see `Influence.suits`.

    Args:
        influences: influence in each of `WIRINGS`.
        purpose: one of `PURPOSES`.
    """
    pairs = zip(WIRINGS, influences, strict=True)
    return tuple(name for name, item in pairs if item.suits(purpose))


def compare_wirings(influences: Sequence[Influence]) -> Facts:
    """State the number of nonzero influences in all `WIRINGS`, and a few of their values."""
    some, every = np.sum([item.nonzero for item in influences], axis=0).tolist()
    norm = {name: item.norm for name, item in zip(WIRINGS, influences, strict=True)}
    return Facts(
        "beside" if all(item.as_drawn for item in influences) else "rounded", some=some, all=every,
        zero=every - some, samples=influences[0].samples, seeds=influences[0].seeds,
        later=norm["many_many"][1, 2], both=norm["both"][1, 2], near=norm["many_one"][0, -1],
        far=norm["many_one"][0, 0],
    )  # fmt: skip
