"""A learned table beside the sinusoidal one: the pictures are the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from seen import said, sound, trace

from seqviz.compute.positions import learned, offsets, sinusoidal
from seqviz.figures.grammar.style import LIGHT
from seqviz.figures.grammar.table import table as numbers
from seqviz.figures.positions import tables as drawn
from seqviz.figures.positions.examples import wandering_table
from seqviz.text import number

OWN = wandering_table()
WAVES = sinusoidal.encoding(*OWN.shape).table
LIKENESS = learned.compare(OWN)
SIZES = pytest.mark.parametrize(("positions", "width"), [(1, 2), (2, 2), (3, 5), (512, 8)])


def noise(positions: int, width: int) -> np.ndarray:
    return np.random.RandomState(0).standard_normal((positions, width))


def test_both_matrices_on_one_scale():
    both = [offsets.similarity(t) for t in (OWN, WAVES)]
    figure = drawn.table_similarity(*both)
    for heat, found in zip(figure.data, both, strict=True):
        np.testing.assert_array_equal(heat.z, found.cosine.astype(np.float32))
        assert heat.meta == "pick"
        # A cosine may exceed 1 by its rounding, some 1e-16 per entry.
        assert (heat.zmin, heat.zmax) == pytest.approx((-1, 1), abs=1e-12)
    assert [heat.showscale for heat in figure.data] == [False, None]
    assert said(figure) == ["learned", "sinusoidal"]


def test_of_512_positions_every_second_is_shown():
    found = offsets.similarity(wandering_table(512))
    figure = drawn.table_similarity(found, found)
    np.testing.assert_array_equal(figure.data[0].z, found.cosine[::2, ::2].astype(np.float32))
    np.testing.assert_array_equal(figure.data[1].x, np.arange(0, 512, 2))
    assert all("1 of 2 positions" in words for words in said(figure))


@pytest.mark.parametrize(("across", "up"), [(1, 2), (1, 3), (3, 2)])
def test_path_runs_through_the_components(across, up):
    found = learned.path(OWN)
    figure = drawn.component_path(found, across, up)
    line = figure.data[0]
    np.testing.assert_array_equal(line.x, found.components[:, across - 1])
    np.testing.assert_array_equal(line.y, found.components[:, up - 1])
    np.testing.assert_array_equal(line.marker.color, np.arange(40))
    assert f"{100 * found.explained[across - 1]:.1f} %" in figure.layout.xaxis.title.text
    assert f"{100 * found.explained[up - 1]:.1f} %" in figure.layout.yaxis.title.text
    assert figure.layout.yaxis.scaleanchor == "x"  # a circle looks like one


def test_path_names_its_start_and_end():
    figure = drawn.component_path(learned.path(OWN))
    assert said(figure) == ["<b>position 0</b>", "<b>position 39</b>"]
    for mark, row in zip(figure.layout.annotations, (0, -1), strict=True):
        assert (mark.x, mark.y) == (figure.data[0].x[row], figure.data[0].y[row])


@pytest.mark.parametrize("component", [0, 4])
def test_a_component_that_was_not_computed(component):
    with pytest.raises(ValueError, match=rf"^There are components 1 to 3, not {component}\.$"):
        drawn.component_path(learned.path(OWN), 1, component)


def test_spectrum_is_the_share_of_the_power():
    mine, theirs = learned.spectrum(OWN), learned.spectrum(WAVES)
    figure = drawn.power_spectrum(mine, theirs)
    for line, found in zip(figure.data, (mine, theirs), strict=True):
        np.testing.assert_array_equal(line.x, found.frequency)
        np.testing.assert_allclose(line.y, 100 * found.power / found.power.sum())
        assert np.nansum(line.y) == pytest.approx(100)
    assert [line.line.color for line in figure.data] == [LIGHT.gru, LIGHT.prediction]
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


def test_spectrum_ends_eight_decades_below_the_strongest():
    wave = np.sin(2 * np.pi * np.arange(64) / 8)[:, None]  # one frequency; the rest is rounding
    figure = drawn.power_spectrum(learned.spectrum(wave), learned.spectrum(wave))
    low, high = figure.layout.yaxis.range
    assert high - low < 9.5  # 8 decades and the room at both ends


def test_norms_share_an_axis():
    figure = drawn.table_norms(LIKENESS)
    np.testing.assert_array_equal(trace(figure, "learned").y, LIKENESS.norms)
    np.testing.assert_array_equal(trace(figure, "sinusoidal").y, LIKENESS.sinusoidal_norms)
    assert number(float(LIKENESS.norms[0])) in figure.alt


def test_norms_far_apart_stand_on_a_log_axis():
    near, far = learned.compare(WAVES * 0.5), learned.compare(WAVES * 0.01)
    assert drawn.table_norms(near).layout.yaxis.range[0] == 0
    axis = drawn.table_norms(far).layout.yaxis
    assert axis.type == "log"
    assert axis.range[0] < np.log10(far.norms.min())
    assert np.log10(far.sinusoidal_norms.max()) < axis.range[1]


def test_shares_are_percentages_with_their_names():
    figure = drawn.component_shares(LIKENESS)
    np.testing.assert_allclose(trace(figure, "learned").x, 100 * LIKENESS.share)
    np.testing.assert_allclose(trace(figure, "sinusoidal").x, 100 * LIKENESS.sinusoidal_share)
    frame = numbers(figure)
    assert list(frame["Principal components"])[:3] == ["first 2", "first 8", "first 32"]
    assert trace(figure, "learned").text[2] == "100.0 %"  # 12 dimensions have no more


@SIZES
def test_every_size(positions, width):
    mine = noise(positions, width)
    waves = sinusoidal.encoding(positions, width).table
    found = learned.compare(mine)
    figures = [
        drawn.table_similarity(*(offsets.similarity(t) for t in (mine, waves))),
        drawn.component_path(learned.path(mine)),
        drawn.table_norms(found),
        drawn.component_shares(found),
    ]
    if positions > 1:
        figures.append(drawn.power_spectrum(learned.spectrum(mine), learned.spectrum(waves)))
    for figure in figures:
        sound(figure)


def test_a_table_without_variation():
    flat = np.ones((6, 4))
    for figure in (
        drawn.component_path(learned.path(flat)),
        drawn.power_spectrum(learned.spectrum(flat), learned.spectrum(flat)),
        drawn.component_shares(learned.compare(flat)),
        drawn.table_norms(learned.compare(np.zeros((6, 4)))),
    ):
        sound(figure)
