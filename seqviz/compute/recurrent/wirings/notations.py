"""The same cell as six texts write it: other letters, other places, one tensor."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent.wirings.step import CellWeights


@dataclass(frozen=True)
class Notation:
    """How one text writes the pre-activation.

    sides: the products in its order, "h", "x" or "hx" and "xh" where both stand in one vector.
    letters: of their matrices. state: of the hidden state. bias: whether the text has one.
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
    """One notation with numbers: matrices and the vectors they multiply, in the text's order.

    result: tanh of their sum. difference: the largest from the standard form, S0's.
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
    """One step from h and x as the text called `name` writes it."""
    notation = NOTATIONS[name]
    result = _result(cell, h, x, notation)
    difference = float(np.abs(result - _result(cell, h, x, NOTATIONS["s0"])).max())
    return NotationExample(notation, *_parts(cell, h, x, notation), result, difference)


def all_written(
    cell: CellWeights, h: Float[np.ndarray, "hidden"], x: Float[np.ndarray, "input"]
) -> dict[str, NotationExample]:
    """The same in all six."""
    return {name: written(cell, h, x, name) for name in NOTATIONS}


def swapped(
    cell: CellWeights, h: Float[np.ndarray, "hidden"], x: Float[np.ndarray, "input"]
) -> float | None:
    """The largest error of who reads S2's U and W as S1's; None where the shapes do not fit."""
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
    """Each sum is rounded once, so that the order of its terms leaves no trace."""
    matrices, vectors, bias = _parts(cell, h, x, notation)
    products = np.hstack([*(m * v for m, v in zip(matrices, vectors, strict=True)), bias[:, None]])
    return np.tanh([fsum(row) for row in products])
