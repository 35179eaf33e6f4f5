"""Gate clamps: hold a gate at a value, for all units or one, over all steps or some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent import GRU, LSTM, Cell

# Blocks of the weights in PyTorch's order.
BLOCKS = {"lstm": ("i", "f", "g", "o"), "gru": ("r", "z", "n")}


@dataclass(frozen=True)
class Clamp:
    """A gate that is held at a value.

    Attributes:
        unit: number of the unit, from 1; None for all units.
        first: first step, from 1.
        last: last step, included; None for the end of the sequence.
    """

    gate: str
    value: float
    unit: int | None = None
    first: int = 1
    last: int | None = None


def forced(
    cell: Cell, steps: int, hidden: int, clamps: Sequence[Clamp]
) -> Float[np.ndarray, "time gates hidden"]:
    """Return the clamps as an array for `recurrent.run`: nan where a gate is free.

    Args:
        cell: an LSTM or a GRU.
        steps: length of the sequence; clamps beyond it are ignored.
        hidden: number of units.
        clamps: the clamps; later ones override earlier ones.

    Raises:
        ValueError: the cell does not have the gate or unit, or no gates at all.
    """
    if not isinstance(cell, (LSTM, GRU)):
        raise ValueError("An RNN has no gates to force.")
    blocks = BLOCKS["lstm" if isinstance(cell, LSTM) else "gru"]
    values = np.full((steps, len(blocks), hidden), np.nan)
    for clamp in clamps:
        if clamp.gate not in blocks:
            raise ValueError(f"This cell has no gate {clamp.gate}; it has {', '.join(blocks)}.")
        if clamp.unit is not None and not 1 <= clamp.unit <= hidden:
            raise ValueError(f"Unit {clamp.unit} does not exist; there are {hidden}.")
        when = slice(max(clamp.first, 1) - 1, clamp.last)
        which = slice(None) if clamp.unit is None else clamp.unit - 1
        values[when, blocks.index(clamp.gate), which] = clamp.value
    return values
