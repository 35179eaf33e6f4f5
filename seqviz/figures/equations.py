"""Equations with the numbers of this very run in them, as LaTeX."""

from __future__ import annotations

import numpy as np

from seqviz.compute.bptt import Recursion
from seqviz.text import number

_PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def recursion_step(found: Recursion, t: int) -> str:
    """dJ/dh_t = (dh_{t+1}/dh_t)^T dJ/dh_{t+1} + W_yh^T dJ/dyhat_t with all its numbers.

    t counts from 1; at the last step only the second term is there.
    """
    output = (
        rf"\underbrace{{{_matrix(found.readout.T)}}}_{{W_{{yh}}^\top}}"
        rf"\underbrace{{({_number(found.residuals[t - 1, 0])})}}"
        rf"_{{\partial J/\partial\hat y_{t}}}"
    )
    carried = ""
    if t < len(found.total):
        carried = (
            rf"\underbrace{{{_matrix(found.jacobian[t - 1].T)}}}"
            rf"_{{(\partial h_{t + 1}/\partial h_{t})^\top}}"
            rf"\underbrace{{{_matrix(found.total[t][:, None])}}}"
            rf"_{{\partial J/\partial h_{t + 1}}} + "
        )
    ending = _matrix(found.total[t - 1][:, None])
    return rf"\frac{{\partial J}}{{\partial h_{t}}} = {carried}{output} = {ending}"


def _matrix(values: np.ndarray) -> str:
    rows = r"\\".join("&".join(_number(v) for v in row) for row in values)
    return rf"\begin{{pmatrix}}{rows}\end{{pmatrix}}"


def _number(value: float) -> str:
    """The digits that a screen shows, in LaTeX."""
    mantissa, _, power = number(float(value)).replace("−", "-").partition(" × 10")
    return rf"{mantissa}\cdot 10^{{{power.translate(_PLAIN)}}}" if power else mantissa
