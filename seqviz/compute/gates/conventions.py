"""Distance between the states of the same weights under different texts' equations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent import GRU, LSTM, Cell, RecurrentWeights, as_dtype, run

# Deviations from PyTorch's equations; see `reading`.
VARIANTS = {
    "lstm": ("one_bias", "no_bias", "linear_output", "forget_one", "peephole"),
    "gru": ("renamed", "wrong_update", "reset_before", "one_bias", "no_bias"),
}
_PEEP = 0.1  # weight of every peephole in the variant; the networks were trained without peepholes


@dataclass(frozen=True)
class EquationVariant:
    """States under a variant of the equations, compared with PyTorch's equations.

    Attributes:
        distance: |h'_t - h_t|_2 for t = 1 ... T.
        size: |h_t|_2 in PyTorch's equations, for comparison.
        moved: relative change of the largest distance when the variant reads inputs that are larger
            by one part in 10^15, about the rounding of another processor.
    """

    variant: str
    distance: Float[np.ndarray, "time"]
    size: Float[np.ndarray, "time"]
    moved: float


def reading(
    variant: str,
    kind: str,
    weights: RecurrentWeights,
    inputs: Float[np.ndarray, "time input"],
    before: Float[np.ndarray, "first input"] | None = None,
) -> EquationVariant:
    """Run trained weights under a variant of the cell, in float64.

    LSTM: "one_bias", PyTorch's two added (S3: one per gate); "no_bias" (S0's GRU, S1);
    "linear_output", h = o c (S3); "forget_one", f = 1 (1997); "peephole", i and f see c_{t-1}, o
    sees c_t, each with the weight 0.1 (Gers and Schmidhuber 2000).
    GRU: "renamed", z' = 1 - z with the weights of z negated: the same network in the notation of
    S0, S1, S3 and Chung et al. 2014; "wrong_update", PyTorch's numbers put unchanged into those
    texts' equation; "reset_before", r applied to h before the product (S1, S3; Cho et al. 2014,
    later version); "one_bias" and "no_bias" as above.

    Args:
        variant: one of `VARIANTS[kind]`.
        kind: "lstm" or "gru".
        weights: the trained weights.
        inputs: inputs to compare on.
        before: inputs that both read first, from states of zero; not in the result.

    Raises:
        ValueError: the cell has no such variant.
    """
    if variant not in VARIANTS[kind]:
        raise ValueError(f"The variants of this cell are {', '.join(VARIANTS[kind])}.")
    exact = as_dtype(weights, np.float64)
    cell: Cell = LSTM() if kind == "lstm" else GRU()
    start = 0 if before is None else len(before)
    read = (inputs if before is None else np.concatenate([before, inputs])).astype(float)
    usual = run(cell, exact, read).hidden[1 + start :]
    other_cell, other = _variant(variant, cell, exact)
    changed, nearly = (
        np.linalg.norm(run(other_cell, other, item).hidden[1 + start :] - usual, axis=-1)
        for item in (read, read * (1 + 1e-15))
    )
    largest = float(changed.max(initial=0))
    moved = abs(float(nearly.max(initial=0)) - largest) / largest if largest else 0.0
    return EquationVariant(variant, changed, np.linalg.norm(usual, axis=-1), moved)


def _variant(variant: str, cell: Cell, weights: RecurrentWeights) -> tuple[Cell, RecurrentWeights]:
    nothing = np.zeros_like(weights.input_bias)
    if variant == "one_bias":
        both = weights.input_bias + weights.hidden_bias
        return cell, replace(weights, input_bias=both, hidden_bias=nothing)
    if variant == "no_bias":
        return cell, replace(weights, input_bias=nothing, hidden_bias=nothing)
    if variant == "linear_output":
        return LSTM(output="linear"), weights
    if variant == "forget_one":
        return LSTM(forget="one"), weights
    if variant == "peephole":
        return LSTM(peephole=True), replace(weights, peephole=np.full((3, weights.hidden), _PEEP))
    if variant == "wrong_update":
        return GRU(update="write"), weights
    if variant == "reset_before":
        return GRU(reset="before"), weights
    return GRU(update="write"), _negated_update(weights)


def _negated_update(weights: RecurrentWeights) -> RecurrentWeights:
    """Negate the block of z: as sigma(-a) = 1 - sigma(a), this turns "keep" into "write"."""
    sign = np.ones((3, weights.hidden))
    sign[1] = -1
    rows = sign.reshape(-1)
    return replace(
        weights,
        input_hidden=rows[:, None] * weights.input_hidden,
        hidden_hidden=rows[:, None] * weights.hidden_hidden,
        input_bias=rows * weights.input_bias,
        hidden_bias=rows * weights.hidden_bias,
    )
