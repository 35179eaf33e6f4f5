"""What a recurrent network costs, measured: time of its steps, terms of its loss, a cell of S0."""

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
    """A bundled character model reads `first`, and is scored on every character of `second`.

    A space stands between both and belongs to the first. Raises UserError("no_text") where nothing
    is to be scored.
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
    """A job: seconds of `nn.RNN` over T steps, and of one product with as many multiplications.

    The product is `tanh([x h] [W_hx W_hh]^T + b)` for all T steps at once, its h given: it
    is what the RNN would cost if a step did not need the state of the one before. Rounds over all
    lengths follow one another, so that a noisy second does not meet one length alone; the first
    round is not counted, and each pass follows one of its kind that is not either.
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
    network(inputs)  # untimed: its weights and inputs are near the processor then
    start = time.perf_counter()
    given = network(inputs)
    given = given[0] if isinstance(given, tuple) else given
    given[-1, -1, -1].item()  # a GPU has finished when it says the number
    return time.perf_counter() - start


@dataclass(frozen=True)
class Tried:
    """A step of S0's cell: shapes that went in, and the state's that came out or the error."""

    input: tuple[int, ...]
    hidden: tuple[int, ...]
    state: tuple[int, ...] | None
    error: str


def as_printed(inputs: int, hidden: int, batched: bool) -> Tried:
    """Run S0's `RNN_Cell` on the shapes of its comments, or with a batch dimension in front."""
    import torch

    i2h = torch.nn.Linear(inputs + hidden, hidden)
    x, h = (torch.zeros(*(1,) * batched, size) for size in (inputs, hidden))
    try:
        with torch.inference_mode():
            state = i2h(torch.cat((x, h), 1))  # this line is the text's; its tanh is missing
    except IndexError as error:
        return Tried(tuple(x.shape), tuple(h.shape), None, f"{type(error).__name__}: {error}")
    return Tried(tuple(x.shape), tuple(h.shape), tuple(state.shape), "")
