"""Saturation drawn: the lines are the numbers, on axes that say what they are."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from seqviz.compute.attention.saturation import saturation
from seqviz.core.i18n import number
from seqviz.core.units import unbroken
from seqviz.figures.attention.scale import QUANTITIES, saturation_lines
from seqviz.plotting.style import LIGHT

FOUND = saturation()
EVERY = pytest.mark.parametrize("quantity", QUANTITIES)


@EVERY
def test_saturation_lines_match_values_and_alt_states_ends(quantity):
    figure = saturation_lines(FOUND, quantity)
    for trace, values in zip(figure.data[:3], getattr(FOUND, quantity), strict=True):
        np.testing.assert_array_equal(np.asarray(trace.x), FOUND.d_k)
        np.testing.assert_array_equal(np.asarray(trace.y), values)
        assert f"{trace.name.split('<')[0]}" in figure.alt
        assert number(float(values[-1])) in figure.alt
    assert [t.line.color for t in figure.data[:3]] == [
        LIGHT.truth, LIGHT.prediction, LIGHT.baseline,
    ]  # fmt: skip
    assert "from 1 to 1,024" in figure.alt
    assert not re.search(r"[<>{}]", figure.alt)
    layout = figure.layout
    assert [10**edge for edge in layout.xaxis.range] == pytest.approx([1, 1024])
    assert (layout.xaxis.type, list(layout.xaxis.tickvals)) == ("log", [1, 4, 16, 64, 256, 1024])
    log = quantity == "variance"
    assert layout.yaxis.type == ("log" if log else None)
    if log:
        powers = np.log10(layout.yaxis.tickvals)
        np.testing.assert_allclose(powers, np.arange(powers[0], powers[0] + len(powers)))
        assert layout.yaxis.ticktext[list(np.round(powers)).index(-2)] == "10<sup>−2</sup>"
    assert layout.shapes[0].x0 == 64  # of the base Transformer


@EVERY
@pytest.mark.parametrize(
    ("keys", "temperature"), [(16, 1.0), (2, 0.01), (2, 100.0), (128, 0.01), (128, 100.0)]
)
def test_saturation_lines_fit_axis_range(quantity, keys, temperature):
    figure = saturation_lines(saturation(keys, temperature, draws=5), quantity)
    low, high = figure.layout.yaxis.range
    lines = [np.asarray(trace.y) for trace in figure.data]
    lines = [np.log10(y) for y in lines] if figure.layout.yaxis.type == "log" else lines
    assert low <= min(y.min() for y in lines)
    assert high >= max(y.max() for y in lines)
    if keys == 16:  # more than 50 of about 330 pixels
        assert np.ptp(lines[0]) / (high - low) > 50 / 330


@pytest.mark.parametrize(
    ("keys", "bits"),
    [(16, unbroken("16 = 4 bits")), (3, unbroken("3 = 1.58 bits")), (2, unbroken("2 = 1 bits"))],
)
def test_saturation_lines_entropy_shows_maximum_and_error_on_hover(keys, bits):
    result = saturation(keys)
    *lines, maximum = saturation_lines(result, "entropy").data
    assert set(maximum.y) == {math.log2(keys)}
    assert bits in maximum.name
    for trace, errors in zip(lines, result.entropy_error, strict=True):
        np.testing.assert_array_equal(np.asarray(trace.customdata), errors)
        assert "%{customdata:.2g}" in trace.hovertemplate


def test_saturation_lines_variance_shows_theory():
    theory = saturation_lines(FOUND, "variance").data[3:]
    for trace, values in zip(theory, FOUND.theory, strict=True):
        np.testing.assert_array_equal(np.asarray(trace.y), values)
    assert [t.showlegend for t in theory] == [None, False, False]  # once in the legend


def test_saturation_lines_reject_unknown_quantity():
    with pytest.raises(ValueError, match=r"^The quantity is one of .*\.$"):
        saturation_lines(FOUND, "loss")
