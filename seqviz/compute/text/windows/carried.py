"""Stateful windows: loss with the state carried between batches, or reset."""

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
_STATES = ("right", "wrong", "reset")  # initial state of a window under each condition


@dataclass(frozen=True)
class Carried:
    """Bits per character of the same windows under three conditions, by window length.

    Attributes:
        lengths: window lengths in characters.
        characters: number of characters predicted.
        bits: mean over each segment of the text; conditions in the order of `CONDITIONS`.
        by_position: mean over the windows at each position; nan beyond the length.
    """

    lengths: Int[np.ndarray, "length"]
    characters: int
    bits: Float[np.ndarray, "length condition stretch"]
    by_position: Float[np.ndarray, "length condition step"]

    @property
    def stretches(self) -> int:
        """Number of segments of the text, treated as independent texts."""
        return self.bits.shape[-1]

    def at(self, length: int, condition: str) -> Float[np.ndarray, "stretch"]:
        """Return the bits of each segment.

        Args:
            length: one of `lengths`.
            condition: one of `CONDITIONS`.
        """
        (row,) = np.flatnonzero(self.lengths == length)
        values: np.ndarray = self.bits[row, CONDITIONS.index(condition)]
        return values

    def mean(self, length: int, condition: str) -> Estimate:
        """Return the bits per character, mean over segments.

        Args:
            length: one of `lengths`.
            condition: one of `CONDITIONS`.
        """
        return mean_ci(self.at(length, condition), source="stretches")

    def dearer(self, length: int, condition: str, than: str) -> Estimate:
        """Return the paired difference in bits per character, `condition` minus `than`.

        Args:
            length: one of `lengths`.
            condition: one of `CONDITIONS`.
            than: the baseline.
        """
        a, b = self.at(length, condition), self.at(length, than)
        return paired_difference(a, b, source="stretches")

    def by_place(self, length: int, condition: str) -> Float[np.ndarray, "step"]:
        """Return the bits of the first, second, ... character that a window predicts.

        Args:
            length: one of `lengths`.
            condition: one of `CONDITIONS`.
        """
        (row,) = np.flatnonzero(self.lengths == length)
        values: np.ndarray = self.by_position[row, CONDITIONS.index(condition), :length]
        return values

    def compared(self, length: int) -> Facts:
        """State the bits per character in order, shuffled, and from a zero state."""
        right, wrong, reset = (self.mean(length, condition) for condition in CONDITIONS)
        return Facts(
            length=length, characters=self.characters, stretches=self.stretches, right=right,
            wrong=wrong, reset=reset, more=self.dearer(length, "random", "sequential"),
            empty=self.dearer(length, "reset", "sequential"),
        )  # fmt: skip

    def state_effect(self, length: int) -> Facts:
        """State the difference between the state of another position and a zero state."""
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
    """Return the bits of each character that windows predict, read batch by batch.

    Args:
        network: the network.
        ids: the text.
        starts: see `cutting.Windows`.
        steps: length of a window.
        carry: True to start a window from the final state of the same row in the previous batch;
            else, and in the first batch, from zero.
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
    """Compare three conditions on the same windows; only order or initial state differs.

    "random" reads all windows in random order and carries the state like "sequential".

    Args:
        network: the network.
        ids: the text.
        lengths: window lengths; each divides the largest.
        rows: batch size, and number of segments of the text.
        seed: seed of the random order.
        each: called with the share that is done.

    Raises:
        ValueError: a length does not divide the largest, or the text is too short.
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
            if condition == "random":  # restores the order of the text
                by_window = by_window[np.argsort(order)]
            bits[k, c] = by_window.mean(-1).reshape(begins.shape).mean(0)
            position[k, c, :steps] = by_window.mean(0)
            each((k * len(CONDITIONS) + c + 1) / bits[:, :, 0].size)
    return Carried(np.array(lengths), stretch * rows, bits, position)
