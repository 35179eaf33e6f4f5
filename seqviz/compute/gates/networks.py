"""A small trained network as arrays: embedding, one recurrent layer, read-out. No torch needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.gates import encoding
from seqviz.compute.gates.encoding import Encoded
from seqviz.compute.gates.tasks import TASKS, SymbolBatch
from seqviz.compute.recurrent import (
    GRU,
    LSTM,
    Cell,
    GRUTrace,
    LSTMTrace,
    RecurrentWeights,
    State,
    run,
)

Gated = LSTMTrace | GRUTrace
NETWORK_KINDS = ("characters", "sentiment", *TASKS)


@dataclass(frozen=True)
class GatedNetwork:
    """Symbols -> embedding -> LSTM or GRU (PyTorch's equations) -> linear read-out.

    kind: one of `KINDS`, what it was trained for. symbols: what its numbers stand for. head: rows
    are answers (next symbol, negative and positive, ...).
    """

    name: str
    cell: str
    kind: str
    symbols: tuple[str, ...]
    embedding: Float[np.ndarray, "symbols input"]
    weights: RecurrentWeights
    head: Float[np.ndarray, "answers hidden"]
    head_bias: Float[np.ndarray, "answers"]

    @property
    def equations(self) -> Cell:
        """The kernel's cell."""
        return LSTM() if self.cell == "lstm" else GRU()

    @property
    def parameters(self) -> int:
        """How many numbers were trained, read-out included; the symbols of a tiny task are one-hot.

        Their embedding is the identity, which nobody trains.
        """
        w = self.weights
        trained = [w.input_hidden, w.hidden_hidden, w.input_bias, w.hidden_bias]
        trained += [self.head, self.head_bias] + [self.embedding] * (self.kind not in TASKS)
        return sum(part.size for part in trained)

    def encode(self, text: str) -> Encoded:
        """A text as this network reads it."""
        reader = {"characters": encoding.characters, "sentiment": encoding.words}
        return reader.get(self.kind, encoding.marks)(text, self.symbols)


def inputs(network: GatedNetwork, ids: Int[np.ndarray, "time *batch"]) -> np.ndarray:
    """Embeddings of symbols, shape (time, *batch, input).

    An unknown symbol of a tiny task has the number -1 and enters as zeros: indexing with -1 would
    silently read the last symbol.
    """
    return np.where(ids[..., None] >= 0, network.embedding[ids], np.float32(0))


def first_read(network: GatedNetwork) -> np.ndarray:
    """What a network reads before every text: a language model an `END`, others nothing."""
    begin = [network.symbols.index(encoding.END)] if network.kind == "characters" else []
    return network.embedding[np.array(begin, np.int64)]


def trace(
    network: GatedNetwork,
    ids: Int[np.ndarray, "time *batch"],
    forced: np.ndarray | None = None,
) -> Gated:
    """Run the network; `forced` as in `recurrent.run`. A language model first reads an `END`.

    That first step is not in the trace: it is the initial state, the same before every text.
    """
    first = None
    if network.kind == "characters":
        begin = first_read(network).reshape(1, *(1,) * (ids.ndim - 1), -1)
        begin = np.broadcast_to(begin, (1, *ids.shape[1:], begin.shape[-1]))
        opened = run(network.equations, network.weights, begin)
        first = state_after(cast(Gated, opened), 1)
    read = inputs(network, ids)
    return cast(Gated, run(network.equations, network.weights, read, first, forced))


def logits(network: GatedNetwork, hidden: Float[np.ndarray, "*any hidden"]) -> np.ndarray:
    """Scores of the answers from hidden states."""
    return hidden @ network.head.T + network.head_bias


def log_probabilities(
    network: GatedNetwork, hidden: Float[np.ndarray, "*any hidden"]
) -> np.ndarray:
    """log softmax of the scores, natural logarithm, float64."""
    scores = logits(network, hidden).astype(float)
    scores = scores - scores.max(axis=-1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))


def accuracy(network: GatedNetwork, batch: SymbolBatch) -> float:
    """Share of right answers at the steps that are scored."""
    return float(right(network, batch)[batch.scored].mean())


def right(network: GatedNetwork, batch: SymbolBatch) -> Bool[np.ndarray, "time batch"]:
    """Where the network's answer is the task's, scored or not."""
    answers = logits(network, trace(network, batch.symbols).hidden[1:]).argmax(axis=-1)
    return answers == batch.answers


def sequence_accuracy(network: GatedNetwork, batch: SymbolBatch) -> float:
    """Share of sequences without a wrong answer."""
    return float((right(network, batch) | ~batch.scored).all(axis=0).mean())


def word_probabilities(
    network: GatedNetwork, text: str, candidates: Sequence[str]
) -> tuple[tuple[str, ...], Float[np.ndarray, "word candidate"]]:
    """After each word of a text: how likely a character model goes on with each candidate.

    The candidate is read as " word " with its closing space, so that "was" is not also the
    beginning of "wash". Returns the words, and natural logarithms of the product over characters.
    """
    pieces = encoding.normalized(text).split(" ")
    prefixes = [" ".join(pieces[: k + 1]) for k in range(len(pieces))]
    full = network.encode(" ".join(pieces)).ids
    states = trace(network, full)
    ends = [len(prefix) for prefix in prefixes]
    logs_of_candidates = np.empty((len(pieces), len(candidates)))
    for column, candidate in enumerate(candidates):
        tail = network.encode(f"_{candidate}_").ids.copy()
        tail[0] = tail[-1] = network.symbols.index(" ")
        after = run(
            network.equations,
            network.weights,
            inputs(network, np.repeat(tail[:-1, None], len(ends), axis=1)),
            state_after(states, ends),
        )
        log_p = log_probabilities(network, after.hidden)
        logs_of_candidates[:, column] = log_p[np.arange(len(tail)), :, tail].sum(axis=0)
    return tuple(pieces), logs_of_candidates


def state_after(states: Gated, step: int | Sequence[int]) -> State:
    """What the cell hands on after a step (0: the initial state); several steps become a batch."""
    cell_state = states.cell_state[step] if isinstance(states, LSTMTrace) else None
    return State(states.hidden[step], cell_state)
