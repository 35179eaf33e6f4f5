"""Measured costs of a recurrent network: step times, terms of the loss, the cell of S0."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqviz.compute.gates import encoding, networks
from seqviz.compute.recurrent.costs.terms import AnswerTerms
from seqviz.compute.recurrent.costs.timing import WAYS, StepTimes
from seqviz.core.errors import UserError
from seqviz.experiments.gates import Symbols
from seqviz.jobs import Report, no_progress
from seqviz.models.checkpoints import load

LENGTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
BATCHES = (1, 32)
HIDDEN, REPEATS = 256, 15


def score(network: str, first: Symbols, second: Symbols) -> AnswerTerms:
    """Score every character of `second` after `first` with a bundled character model.

    A space between both belongs to the first.

    Args:
        network: name of the model.
        first: text that is read only.
        second: text that is scored.

    Raises:
        UserError: "no_text" if there is nothing to score.
    """
    model = load(network)
    given, answer = (encoding.normalized(_sent(text)) for text in (first, second))
    given += " " * bool(given and answer)
    if not answer:
        raise UserError("no_text", "There is nothing to read. Type a text.")
    full = model.encode(given + answer)
    hidden = networks.trace(model, full.ids).hidden  # hidden[t]: after t characters
    bits = -networks.log_probabilities(model, hidden) / np.log(2)
    at = np.arange(len(given), len(full))
    ids = full.ids[at]
    unknown = ids == model.symbols.index(encoding.UNKNOWN)
    return AnswerTerms(
        len(given), full.pieces[len(given) :], bits[at, ids], bits[at + 1, ids], unknown
    )


def _sent(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")  # half a surrogate pair cannot be sent


def time_steps(
    hidden: int = HIDDEN, lengths: tuple[int, ...] = LENGTHS, batches: tuple[int, ...] = BATCHES,
    repeats: int = REPEATS, report: Report = no_progress, device: str = "cpu",
) -> StepTimes:  # fmt: skip
    """Time `nn.RNN` over T steps, and one product with as many multiplications (a job).

    The product is `tanh([x h] [W_hx W_hh]^T + b)` for all T steps at once with h given: the cost of
    the RNN if a step did not need the previous state. Each round covers all lengths, so that a
    moment of noise does not affect one length alone; the first round is a warmup, and each timed
    pass follows an untimed one of its kind.

    Args:
        hidden: number of hidden units and of input features.
        lengths: numbers of steps.
        batches: batch sizes.
        repeats: number of counted rounds.
        report: progress callback; receives the share done.
        device: torch device.
    """
    import torch

    torch.manual_seed(0)
    cell = torch.nn.RNN(hidden, hidden).to(device)
    both = torch.nn.Sequential(torch.nn.Linear(2 * hidden, hidden), torch.nn.Tanh()).to(device)
    seconds = np.zeros((len(WAYS), len(batches), repeats, len(lengths)))
    for repeat in range(-1, repeats):
        for b, batch in enumerate(batches):
            for k, length in enumerate(lengths):
                x = torch.randn(length, batch, hidden, device=device)
                xh = torch.randn(length, batch, 2 * hidden, device=device)
                with torch.inference_mode():
                    took = _seconds(cell, x), _seconds(both, xh)
                if repeat >= 0:
                    seconds[:, b, repeat, k] = took
        report((repeat + 2) / (repeats + 1), (repeat + 2) / (repeats + 1))
    return StepTimes(hidden, batches, np.array(lengths), seconds)


def _seconds(network: Any, inputs: Any) -> float:
    network(inputs)  # untimed warmup, which loads weights and inputs into the cache
    start = time.perf_counter()
    given = network(inputs)
    given = given[0] if isinstance(given, tuple) else given
    given[-1, -1, -1].item()  # waits for the GPU
    return time.perf_counter() - start


@dataclass(frozen=True)
class Tried:
    """Result of one step of S0's cell.

    Attributes:
        input: shape of the input.
        hidden: shape of the previous state.
        state: shape of the new state; None after an error.
        error: the error; empty without one.
    """

    input: tuple[int, ...]
    hidden: tuple[int, ...]
    state: tuple[int, ...] | None
    error: str


def as_printed(inputs: int, hidden: int, batched: bool) -> Tried:
    """Run S0's `RNN_Cell` on the shapes of its comments, or with a leading batch dimension.

    Args:
        inputs: number of input features.
        hidden: number of hidden units.
        batched: True for a batch dimension of 1.
    """
    import torch

    i2h = torch.nn.Linear(inputs + hidden, hidden)
    x, h = (torch.zeros(*(1,) * batched, size) for size in (inputs, hidden))
    try:
        with torch.inference_mode():
            state = i2h(torch.cat((x, h), 1))  # as in S0, without its tanh
    except IndexError as error:
        return Tried(tuple(x.shape), tuple(h.shape), None, f"{type(error).__name__}: {error}")
    return Tried(tuple(x.shape), tuple(h.shape), tuple(state.shape), "")
