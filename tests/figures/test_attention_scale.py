"""Saturation drawn: the lines are the numbers, on axes that say what they are."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from seqviz.compute.attention.saturation import saturation
from seqviz.figures.attention.scale import QUANTITIES, saturation_lines
from seqviz.figures.grammar.style import LIGHT
from seqviz.text import number

FOUND = saturation()
EVERY = pytest.mark.parametrize("quantity", QUANTITIES)


def refuse(token: str):
    raise AssertionError(f"{token} in a figure")


@EVERY
def test_lines_are_the_numbers(quantity):
    figure = saturation_lines(FOUND, quantity)
    for trace, values in zip(figure.data[:3], getattr(FOUND, quantity), strict=True):
        np.testing.assert_array_equal(np.asarray(trace.x), FOUND.d_k)
        np.testing.assert_array_equal(np.asarray(trace.y), values)
    json.loads(figure.to_json(), parse_constant=refuse)


@EVERY
def test_looks(quantity):
    """Unscaled first and dark; the other divisor dashed."""
    none, scaled, wide = saturation_lines(FOUND, quantity).data[:3]
    assert none.line.color == LIGHT.truth
    assert scaled.line.color == LIGHT.prediction
    assert (wide.line.color, wide.line.dash) == (LIGHT.baseline, "dash")
    assert len({none.name, scaled.name, wide.name}) == 3


@EVERY
def test_the_first_line_takes_the_width_and_much_of_the_height(quantity):
    """The whole width and more than 50 of about 330 pixels."""
    figure = saturation_lines(FOUND, quantity)
    first = figure.data[0]
    y, span = np.asarray(first.y), figure.layout.yaxis.range
    if figure.layout.yaxis.type == "log":
        y = np.log10(y)
    assert np.ptp(y) / (span[1] - span[0]) > 50 / 330
    assert [10**edge for edge in figure.layout.xaxis.range] == pytest.approx([1, 1024])
    assert (first.x[0], first.x[-1]) == (1, 1024)


@EVERY
@pytest.mark.parametrize("keys", [2, 128])
@pytest.mark.parametrize("temperature", [0.01, 100.0])
def test_nothing_is_cut_off(quantity, keys, temperature):
    figure = saturation_lines(saturation(keys, temperature, draws=5), quantity)
    low, high = figure.layout.yaxis.range
    for trace in figure.data:
        y = np.asarray(trace.y)
        y = np.log10(y) if figure.layout.yaxis.type == "log" else y
        assert y.min() >= low
        assert y.max() <= high


def test_axes():
    for quantity in QUANTITIES:
        axes = saturation_lines(FOUND, quantity).layout
        assert axes.xaxis.type == "log"
        assert list(axes.xaxis.tickvals) == [1, 4, 16, 64, 256, 1024]
        assert (axes.yaxis.type == "log") == (quantity == "variance")
    assert axes.yaxis.dtick == 1  # the variance, the last of them: decades only
    assert "bits" in saturation_lines(FOUND, "entropy").layout.yaxis.title.text


def test_most_possible_entropy():
    most = saturation_lines(FOUND, "entropy").data[3]
    assert set(most.y) == {math.log2(16)}
    assert most.line.dash == "dot"
    assert "16 = 4 bits" in most.name
    three = saturation_lines(saturation(3), "entropy").data[3]
    assert "3 = 1.58 bits" in three.name
    ten = saturation_lines(saturation(2), "entropy").data[3]
    assert "2 = 1 bits" in ten.name


def test_entropy_says_its_error_on_hover():
    traces = saturation_lines(FOUND, "entropy").data[:3]
    for trace, errors in zip(traces, FOUND.entropy_error, strict=True):
        np.testing.assert_array_equal(np.asarray(trace.customdata), errors)
        assert "%{customdata:.2g}" in trace.hovertemplate


def test_theory_beside_the_variance():
    figure = saturation_lines(FOUND, "variance")
    for trace, values in zip(figure.data[3:], FOUND.theory, strict=True):
        np.testing.assert_array_equal(np.asarray(trace.y), values)
    assert [t.showlegend for t in figure.data[3:]] == [True, False, False]


@EVERY
def test_description_names_the_last_numbers(quantity):
    said = saturation_lines(FOUND, quantity).alt
    for values in getattr(FOUND, quantity):
        assert number(float(values[-1])) in said
    assert "1,024" in said
    assert not re.search(r"[<>{}]", said)


def test_a_quantity_that_there_is_not():
    with pytest.raises(ValueError, match=r"^The quantity is one of .*\.$"):
        saturation_lines(FOUND, "loss")
