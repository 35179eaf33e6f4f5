"""A recurrent network reads windows, and its state is carried from batch to batch, or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gates.networks import (
    Gated,
    GatedNetwork,
    inputs,
    log_probabilities,
    state_after,
)
from seqviz.compute.recurrent import State, run
from seqviz.stats.estimate import Estimate, mean_ci, paired_difference
from seqviz.stats.facts import Facts

CONDITIONS = ("sequential", "random", "reset")
_STATES = ("right", "wrong", "reset")  # the state before a window under each of these


@dataclass(frozen=True)
class Carried:
    """Bits per character of the same windows under three conditions, by the length of the window.

    lengths: of the windows, in characters. characters: that were predicted. bits: mean over each of
    the stretches of the text. by_position: mean over the windows of each place in them, from the
    first; nan beyond the length. Both with the conditions in the order of `CONDITIONS`.
    """

    lengths: Int[np.ndarray, "length"]
    characters: int
    bits: Float[np.ndarray, "length condition stretch"]
    by_position: Float[np.ndarray, "length condition step"]

    @property
    def stretches(self) -> int:
        """Parts of the text, which stand for many texts."""
        return self.bits.shape[-1]

    def at(self, length: int, condition: str) -> Float[np.ndarray, "stretch"]:
        """Bits of each stretch."""
        (row,) = np.flatnonzero(self.lengths == length)
        values: np.ndarray = self.bits[row, CONDITIONS.index(condition)]
        return values

    def mean(self, length: int, condition: str) -> Estimate:
        """Bits per character."""
        return mean_ci(self.at(length, condition), source="stretches")

    def dearer(self, length: int, condition: str, than: str) -> Estimate:
        """How many bits more a character costs than under another condition, on the same text."""
        a, b = self.at(length, condition), self.at(length, than)
        return paired_difference(a, b, source="stretches")

    def by_place(self, length: int, condition: str) -> Float[np.ndarray, "step"]:
        """Bits of the first, second, ... character that a window predicts."""
        (row,) = np.flatnonzero(self.lengths == length)
        values: np.ndarray = self.by_position[row, CONDITIONS.index(condition), :length]
        return values

    def compared(self, length: int) -> Facts:
        """State what a character costs in order, shuffled, and from a state of zero."""
        right, wrong, reset = (self.mean(length, condition) for condition in CONDITIONS)
        return Facts(
            length=length, characters=self.characters, stretches=self.stretches, right=right,
            wrong=wrong, reset=reset, more=self.dearer(length, "random", "sequential"),
            empty=self.dearer(length, "reset", "sequential"),
        )  # fmt: skip

    def state_effect(self, length: int) -> Facts:
        """State whether the state of another place is better than none."""
        gap = self.dearer(length, "reset", "random")
        first = (float(self.by_place(length, condition)[0]) for condition in CONDITIONS)
        return Facts(gap.verdict, gap=abs(gap), **dict(zip(_STATES, first, strict=True)))


def bits_of_windows(
    network: GatedNetwork,
    ids: Int[np.ndarray, "time"],
    starts: Int[np.ndarray, "batch row"],
    steps: int,
    carry: bool,
) -> Float[np.ndarray, "batch row step"]:
    """Bits of each character that windows predict, read batch by batch.

    starts: see `cutting.Windows`. carry: whether the state at the end of a window is that before
    the window of the same row in the next batch; it is zero otherwise, as before the first batch.
    """
    bits = np.empty((*starts.shape, steps), np.float32)
    state: State | None = None
    for k, begins in enumerate(starts):
        positions = begins[None] + np.arange(steps)[:, None]
        read = inputs(network, ids[positions])
        states = cast(Gated, run(network.equations, network.weights, read, state))
        log_p = log_probabilities(network, states.hidden[1:])
        targets = ids[positions + 1][..., None]
        bits[k] = -np.take_along_axis(log_p, targets, -1)[..., 0].T / np.log(2)
        state = state_after(states, steps) if carry else None
    return bits


def compare(
    network: GatedNetwork,
    ids: Int[np.ndarray, "time"],
    lengths: tuple[int, ...],
    rows: int,
    seed: int,
    each: Callable[[float], object] = lambda share: None,
) -> Carried:
    """The three conditions on the very same windows: only their order, or the state, differs.

    rows: windows in a batch, and stretches of the text; each is as long as the longest window
    divides. "random" reads all windows in an order drawn from the seed, and carries the state as
    "sequential" does. each: called with the share that is done. Raises ValueError where a length
    does not divide the longest, or the text is too short.
    """
    longest = max(lengths)
    if any(longest % length for length in lengths):
        raise ValueError(f"Each length has to divide {longest}.")
    stretch = (len(ids) - 1) // rows // longest * longest
    if not stretch:
        raise ValueError(f"{rows} rows need {rows * longest + 1} characters.")
    bits = np.empty((len(lengths), len(CONDITIONS), rows), np.float32)
    position = np.full((len(lengths), len(CONDITIONS), longest), np.nan, np.float32)
    random = np.random.RandomState(seed)
    for k, steps in enumerate(lengths):
        begins = stretch * np.arange(rows) + steps * np.arange(stretch // steps)[:, None]
        order = random.permutation(begins.size)
        shuffled = begins.ravel()[order].reshape(begins.shape)
        orders = {"sequential": (begins, True), "random": (shuffled, True),
                  "reset": (begins, False)}  # fmt: skip
        for c, condition in enumerate(CONDITIONS):
            values = bits_of_windows(
                network, ids, orders[condition][0], steps, orders[condition][1]
            )
            by_window = values.reshape(-1, steps)
            if condition == "random":  # back to where the windows stand in the text
                by_window = by_window[np.argsort(order)]
            bits[k, c] = by_window.mean(-1).reshape(begins.shape).mean(0)
            position[k, c, :steps] = by_window.mean(0)
            each((k * len(CONDITIONS) + c + 1) / bits[:, :, 0].size)
    return Carried(np.array(lengths), stretch * rows, bits, position)
