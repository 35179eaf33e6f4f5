"""One recurrent cell with typed weights: h = tanh(W_hh h + W_hx x + b).

Elman (1990); y is softmax(W_yh h) (Jurafsky and Martin) or sigmoid (eq. 41 of S0).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from seqviz.compute import recurrent
from seqviz.compute import typed_numbers as typed
from seqviz.compute.attention.scaled import softmax
from seqviz.core.errors import UserError
from seqviz.core.units import Count, unbroken
from seqviz.stats.facts import Facts

OUTPUTS = ("softmax", "sigmoid")
MAX_UNITS = 3  # units, inputs and outputs that fit into the figure
_LARGEST = 100.0


@dataclass(frozen=True)
class CellWeights:
    """Weights shared by all steps; names and layout of the lecture (S0)."""

    recurrent: Float[np.ndarray, "hidden hidden"]
    inputs: Float[np.ndarray, "hidden input"]
    bias: Float[np.ndarray, "hidden"]
    output: Float[np.ndarray, "out hidden"]

    @property
    def parameters(self) -> Count:
        """Number of all weights."""
        return float(sum(w.size for w in (self.recurrent, self.inputs, self.bias, self.output)))


class Term(NamedTuple):
    """One product of a weighted sum.

    Attributes:
        of: "h", "x" or "b".
        number: index of the factor, from 1.
        value: value of the factor; 1 for the bias.
    """

    of: str
    number: int
    weight: float
    value: float

    @property
    def product(self) -> float:
        """Weight times value."""
        return self.weight * self.value


class ProgramLine(NamedTuple):
    """Line of the program of forward inference.

    Attributes:
        text: the line.
        runs: number of times that it has run.
        value: what it gave the last time; empty before.
        is_last: True for the line that has run last.
    """

    text: str
    runs: int
    value: Float[np.ndarray, "number"]
    is_last: bool


@dataclass(frozen=True)
class CellSteps:
    """States and outputs of a cell on a sequence.

    Attributes:
        a: pre-activations; step t at index t - 1.
        h: states; `h[t]` after step t, `h[0]` is zero.
        y: outputs; step t at index t - 1.
    """

    cell: CellWeights
    x: Float[np.ndarray, "time input"]
    a: Float[np.ndarray, "time hidden"]
    h: Float[np.ndarray, "time_1 hidden"]
    y: Float[np.ndarray, "time out"]
    by: str

    @property
    def parameters(self) -> Count:
        """Number of weights shared by all steps."""
        return self.cell.parameters

    @property
    def x_apart(self) -> float:
        """Distance of the last state from that without the first input."""
        return self.moved(len(self.x))

    def sum_of(self, t: int, unit: int) -> float:
        """Return the pre-activation of a unit.

        Args:
            t: the step, from 1.
            unit: the unit, from 1.
        """
        return float(self.a[t - 1, unit - 1])

    def state_of(self, t: int, unit: int) -> float:
        """Return the hidden state of a unit after a step.

        Args:
            t: the step, from 1; 0 is the initial state.
            unit: the unit, from 1.
        """
        return float(self.h[t, unit - 1])

    def loop(self) -> Facts:
        """State the remaining effect of the first input after all steps."""
        steps, far = len(self.x), self.x_apart
        variant = "loop_once" if steps == 1 else "gone" if far == 0 else "loop"
        return Facts(variant, steps=steps, parameters=self.parameters, far=far, x=self.x[0],
                     y=self.y[-1])  # fmt: skip

    def terms(self, t: int, unit: int) -> tuple[Term, ...]:
        """Return the products in the pre-activation of a unit; the bias has value 1.

        Args:
            t: the step, from 1.
            unit: the unit, from 1.
        """
        back, new = self.cell.recurrent[unit - 1], self.cell.inputs[unit - 1]
        sides = (("h", back, self.h[t - 1]), ("x", new, self.x[t - 1]),
                 ("b", self.cell.bias[unit - 1 : unit], np.ones(1)))  # fmt: skip
        return tuple(
            Term(of, position, float(weight), float(value))
            for of, weights, values in sides
            for position, (weight, value) in enumerate(zip(weights, values, strict=True), 1)
        )

    def program(self, executed: int) -> tuple[ProgramLine, ...]:
        """Return the lines of FORWARDRNN (Jurafsky and Martin) after some of them have run.

        Args:
            executed: lines that have run: h_0, then two for each step, then the return.
        """
        steps = len(self.x)
        executed = min(executed, 2 * steps + 2)
        states, outputs = min(executed // 2, steps), min((executed - 1) // 2, steps)
        done, none = int(executed == 2 * steps + 2), np.zeros(0)
        last = 3 if done else 0 if executed == 1 else 1 if executed % 2 == 0 else 2
        lines = (
            ("h₀ ← 0", 1, self.h[0]),
            ("h_t ← tanh(W_h h_{t−1} + W_x x_t + b)", states, self.h[states] if states else none),
            (f"y_t ← {self.by}(W_y h_t)", outputs, self.y[outputs - 1] if outputs else none),
            ("return y₁, …, y_T", done, self.y[-1] if done else none),
        )
        return tuple(
            ProgramLine(*line, is_last=position == last) for position, line in enumerate(lines)
        )

    def moved(self, t: int) -> float:
        """Return the Euclidean distance of h_t from its value with the first input set to 0."""
        x = self.x.copy()
        x[0] = 0
        return float(np.linalg.norm(self.h[t] - run(self.cell, x, self.by).h[t]))


def matrix(text: str, name: str) -> Float[np.ndarray, "row column"]:
    """Parse a typed matrix: numbers separated by spaces or commas, rows by semicolons.

    Args:
        text: the text.
        name: name of the matrix for the messages; the inputs "x" may have any size.

    Raises:
        UserError: "no_matrix" for a part that is not a number up to 100, "uneven_rows" for rows of
            unequal length, "large_matrix" for more than 3 rows or columns, and for a comma between
            two digits.
    """
    lines = typed.cut(typed.without_decimal_commas(text), ";")
    rows = [" ".join(typed.cut(line, ",")).split() for line in lines if line.strip()]
    try:
        values = [[typed.number(item) for item in row] for row in rows]
    except ValueError:
        values = []
    if not values or not all(abs(v) <= _LARGEST for row in values for v in row):
        raise UserError("no_matrix", f"{name} is no matrix of numbers from -100 to 100.", name=name)
    for row, items in enumerate(values[1:], 2):
        if len(items) != (first := len(values[0])):
            raise UserError("uneven_rows", f"Row {row} of {name} has {len(items)} numbers, the "
                            f"first row has {first}.", name=name, row=row, found=len(items),
                            first=first)  # fmt: skip
    if name != "x" and max(len(values), len(values[0])) > MAX_UNITS:
        raise UserError("large_matrix", f"{name} has more than {MAX_UNITS} rows or columns.",
            name=name,
                      most=MAX_UNITS)  # fmt: skip
    return np.array(values)


def cell(recurrent: str, inputs: str, bias: str, output: str) -> CellWeights:
    """Parse the four matrices of a cell, see `matrix`.

    Args:
        recurrent: W_hh.
        inputs: W_hx.
        bias: b.
        output: W_yh.

    Raises:
        UserError: errors of `matrix`, "not_square" for W_hh, "shapes" where shapes do not fit.
    """
    w_hh, w_hx, b, w_yh = (
        matrix(text, name)
        for text, name in (
            (recurrent, "W_h"), (inputs, "W_x"), (bias, "b"), (output, "W_y"),
        )
    )  # fmt: skip
    units = len(w_hh)
    if units != w_hh.shape[1]:
        shape = unbroken(" × ".join(map(str, w_hh.shape)))
        raise UserError("not_square", f"W_h is {shape}; it must be square.", shape=shape)
    targets = (("W_x", len(w_hx), w_hx), ("b", b.size, b),
              ("W_y", w_yh.shape[1], w_yh))  # fmt: skip
    for name, result, item in targets:
        if result != units:
            shape = unbroken(" × ".join(map(str, item.shape)))
            raise UserError("shapes", f"{name} is {shape}, but W_h has {units} rows.", name=name,
                          shape=shape, units=units)  # fmt: skip
    return CellWeights(w_hh, w_hx, b.ravel(), w_yh)


def inputs(text: str, width: int, steps: int) -> Float[np.ndarray, "time input"]:
    """Parse the inputs and pad them with zeros to the number of steps.

    Args:
        text: numbers, `width` for each step.
        width: input features.
        steps: number of steps.

    Raises:
        UserError: errors of `matrix`, "part_of_input" for an incomplete last step.
    """
    written = matrix(" ".join(typed.cut(text, ";")).strip() or "0", "x").ravel()
    if written.size % width:
        raise UserError("part_of_input", f"{written.size} numbers are no whole inputs of {width}.",
                      found=written.size, width=width)  # fmt: skip
    result = np.zeros((steps, width))
    given = written.reshape(-1, width)[:steps]
    result[: len(given)] = given
    return result


def run(cell: CellWeights, x: Float[np.ndarray, "time input"], by: str = "softmax") -> CellSteps:
    """Run all steps from h_0 = 0: h = tanh(W_hh h + W_hx x + b), then y from W_yh h.

    Args:
        cell: the weights.
        x: inputs.
        by: one of `OUTPUTS`.
    """
    weights = recurrent.RecurrentWeights(
        cell.inputs, cell.recurrent, cell.bias, np.zeros_like(cell.bias)
    )
    trace = recurrent.run(recurrent.RNN(), weights, x)
    h = trace.hidden
    scores = h[1:] @ cell.output.T
    y = softmax(scores) if by == "softmax" else recurrent.sigmoid(scores)
    return CellSteps(cell, x, trace.preactivation, h, y, by)


def steps(
    recurrent: str, inputs_by: str, bias: str, output: str, x: str, count: int, by: str
) -> CellSteps:
    """Parse a cell and its inputs, and run it.

    Args:
        recurrent: W_hh.
        inputs_by: W_hx.
        bias: b.
        output: W_yh.
        x: inputs.
        count: number of steps.
        by: one of `OUTPUTS`.
    """
    cell_weights = cell(recurrent, inputs_by, bias, output)
    return run(cell_weights, inputs(x, cell_weights.inputs.shape[1], count), by)
