"""Notations of six texts for the same recurrent cell."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent.wirings.step import CellWeights


@dataclass(frozen=True)
class Notation:
    """Pre-activation of one text.

    Attributes:
        sides: the products in the text's order, "h" and "x", or "hx" and "xh" for one concatenated
            vector.
        letters: names of their matrices.
        state: name of the hidden state.
    """

    formula: str
    sides: tuple[str, ...]
    letters: tuple[str, ...]
    state: str = "h"
    bias: bool = True


NOTATIONS = {
    "s0": Notation("tanh(W_hh h + W_hx x + b)", ("h", "x"), ("W_hh", "W_hx")),
    "code": Notation("tanh(i2h(cat(x, h)))", ("xh",), ("i2h",)),
    "s1": Notation("g(U h + W x)", ("h", "x"), ("U", "W"), bias=False),
    "s2": Notation("σ(U x + W h + b)", ("x", "h"), ("U", "W")),
    "s3": Notation("g(W_aa a + W_ax x + b)", ("h", "x"), ("W_aa", "W_ax"), "a"),
    "joined": Notation("g(W_a [a, x] + b)", ("hx",), ("W_a",), "a"),
}


@dataclass(frozen=True)
class NotationExample:
    """One notation with numbers, in the text's order.

    Attributes:
        result: tanh of the sum of all products.
        difference: largest absolute difference from the standard form, S0's.
    """

    notation: Notation
    matrices: tuple[Float[np.ndarray, "hidden _"], ...]
    vectors: tuple[Float[np.ndarray, "_"], ...]
    bias: Float[np.ndarray, "hidden"]
    result: Float[np.ndarray, "hidden"]
    difference: float


def written(
    cell: CellWeights, h: Float[np.ndarray, "hidden"], x: Float[np.ndarray, "input"], name: str
) -> NotationExample:
    """Compute one step from h and x in a notation.

    Args:
        cell: the weights.
        h: previous hidden state.
        x: input.
        name: key of `NOTATIONS`.
    """
    notation = NOTATIONS[name]
    result = _result(cell, h, x, notation)
    difference = float(np.abs(result - _result(cell, h, x, NOTATIONS["s0"])).max())
    return NotationExample(notation, *_parts(cell, h, x, notation), result, difference)


def all_written(
    cell: CellWeights, h: Float[np.ndarray, "hidden"], x: Float[np.ndarray, "input"]
) -> dict[str, NotationExample]:
    """Compute one step from h and x in all six notations.

    Args:
        cell: the weights.
        h: previous hidden state.
        x: input.
    """
    return {name: written(cell, h, x, name) for name in NOTATIONS}


def swapped(
    cell: CellWeights, h: Float[np.ndarray, "hidden"], x: Float[np.ndarray, "input"]
) -> float | None:
    """Return the largest error of reading S2's U and W as S1's; None where shapes do not fit.

    Args:
        cell: the weights.
        h: previous hidden state.
        x: input.
    """
    if cell.inputs.shape != cell.recurrent.shape:
        return None
    other = CellWeights(cell.inputs, cell.recurrent, cell.bias, cell.output)
    standard = NOTATIONS["s0"]
    return float(np.abs(_result(other, h, x, standard) - _result(cell, h, x, standard)).max())


def _parts(
    cell: CellWeights, h: np.ndarray, x: np.ndarray, notation: Notation
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...], np.ndarray]:
    of = {"h": (cell.recurrent, h), "x": (cell.inputs, x)}
    matrices = tuple(np.hstack([of[item][0] for item in side]) for side in notation.sides)
    vectors = tuple(np.concatenate([of[item][1] for item in side]) for side in notation.sides)
    return matrices, vectors, cell.bias if notation.bias else np.zeros_like(cell.bias)


def _result(cell: CellWeights, h: np.ndarray, x: np.ndarray, notation: Notation) -> np.ndarray:
    """Return the new state; each sum is rounded once, whatever the order of its terms."""
    matrices, vectors, bias = _parts(cell, h, x, notation)
    products = np.hstack([*(m * v for m, v in zip(matrices, vectors, strict=True)), bias[:, None]])
    return np.tanh([fsum(row) for row in products])
