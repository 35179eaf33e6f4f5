"""A small trained network as arrays: embedding, recurrent layer, read-out; without torch."""

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

    Attributes:
        kind: training task, one of `NETWORK_KINDS`.
        head: weights of the read-out; rows are answers (next symbol, negative and positive, ...).
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
        """Cell with PyTorch's equations."""
        return LSTM() if self.cell == "lstm" else GRU()

    @property
    def parameters(self) -> int:
        """Number of trained parameters, read-out included.

        The embedding of a tiny task is the identity (one-hot symbols), which is not trained.
        """
        w = self.weights
        trained = [w.input_hidden, w.hidden_hidden, w.input_bias, w.hidden_bias]
        trained += [self.head, self.head_bias] + [self.embedding] * (self.kind not in TASKS)
        return sum(part.size for part in trained)

    def encode(self, text: str) -> Encoded:
        """Encode a text with this network's tokenizer."""
        reader = {"characters": encoding.characters, "sentiment": encoding.words}
        return reader.get(self.kind, encoding.marks)(text, self.symbols)


def inputs(network: GatedNetwork, ids: Int[np.ndarray, "time *batch"]) -> np.ndarray:
    """Return the embeddings of symbols, shape (time, *batch, input).

    Args:
        network: the network.
        ids: numbers of the symbols. An unknown symbol of a tiny task has the number -1 and enters
            as zeros: indexing with -1 would silently read the last symbol.
    """
    return np.where(ids[..., None] >= 0, network.embedding[ids], np.float32(0))


def first_read(network: GatedNetwork) -> np.ndarray:
    """Return the inputs read before every text: `END` for a language model, else none."""
    begin = [network.symbols.index(encoding.END)] if network.kind == "characters" else []
    return network.embedding[np.array(begin, np.int64)]


def trace(
    network: GatedNetwork,
    ids: Int[np.ndarray, "time *batch"],
    forced: np.ndarray | None = None,
) -> Gated:
    """Run the network; a language model first reads an `END`.

    That first step is not in the trace: it is the initial state, the same before every text.

    Args:
        network: the network.
        ids: numbers of the symbols.
        forced: values of clamped gates, as in `recurrent.run`.
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
    """Return the scores of the answers, [*any, answers].

    Args:
        network: the network.
        hidden: hidden states.
    """
    return hidden @ network.head.T + network.head_bias


def log_probabilities(
    network: GatedNetwork, hidden: Float[np.ndarray, "*any hidden"]
) -> np.ndarray:
    """Return the log softmax of the scores, natural logarithm, float64, [*any, answers].

    Args:
        network: the network.
        hidden: hidden states.
    """
    scores = logits(network, hidden).astype(float)
    scores = scores - scores.max(axis=-1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))


def accuracy(network: GatedNetwork, batch: SymbolBatch) -> float:
    """Return the share of right answers at the scored steps.

    Args:
        network: the network.
        batch: sequences of its task.
    """
    return float(right(network, batch)[batch.scored].mean())


def right(network: GatedNetwork, batch: SymbolBatch) -> Bool[np.ndarray, "time batch"]:
    """Return True where the network gives the right answer, at all steps, scored or not.

    Args:
        network: the network.
        batch: sequences of its task.
    """
    answers = logits(network, trace(network, batch.symbols).hidden[1:]).argmax(axis=-1)
    return answers == batch.answers


def sequence_accuracy(network: GatedNetwork, batch: SymbolBatch) -> float:
    """Return the share of sequences without a wrong answer at a scored step.

    Args:
        network: the network.
        batch: sequences of its task.
    """
    return float((right(network, batch) | ~batch.scored).all(axis=0).mean())


def word_probabilities(
    network: GatedNetwork, text: str, candidates: Sequence[str]
) -> tuple[tuple[str, ...], Float[np.ndarray, "word candidate"]]:
    """Return the log probability of each candidate as the next word, after each word of a text.

    The candidate is read as " word " with its closing space, so that "was" is not also the
    beginning of "wash".

    Args:
        network: a character model.
        text: the text.
        candidates: words that may come next.

    Returns:
        The words of the text, and natural logarithms of the product over the candidate's
        characters.
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
    """Return the state after a step (0: the initial state); several steps become a batch.

    Args:
        states: trace of the cell.
        step: one step or several.
    """
    cell_state = states.cell_state[step] if isinstance(states, LSTMTrace) else None
    return State(states.hidden[step], cell_state)
