"""Lines about positions: encodings by offset, clocks, lengths, a table's path, scores, slopes."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from seqviz.compute.positions import (
    clocks,
    learned,
    offsets,
    relative,
    rotary,
    simple,
    sinusoidal,
)
from seqviz.core.i18n import number
from seqviz.core.units import unbroken
from seqviz.figures.positions.biases import alibi
from seqviz.figures.positions.clocks import clock_hands, embedding_norms, wavelengths
from seqviz.figures.positions.encodings import similarity_by_offset
from seqviz.figures.positions.schemes import rotary_scores, term_maps
from seqviz.figures.positions.simple import code_demands, digits_and_waves
from seqviz.figures.positions.tables import (
    component_path,
    early_and_late,
    power_spectrum,
    row_updates,
)
from seqviz.plotting.style import LIGHT
from seqviz.plotting.table import table
from testing.figure_examples.positions import wandering_table
from tests.figures.trace_helpers import said, sound

WAVES = sinusoidal.encoding(64, 64)
OWN = wandering_table()


def within(values, axis_range, log: bool = False) -> bool:
    """Whether all of them are in view."""
    observed = np.log10(values) if log else np.asarray(values)
    return axis_range[0] < observed.min() and observed.max() < axis_range[1]


# --- by offset ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("positions", "width"), [(1, 2), (2, 2), (64, 64), (512, 2)])
def test_similarity_by_offset_draws_dot_formula_and_cosine(positions, width):
    similarity = offsets.similarity(sinusoidal.encoding(positions, width).table)
    closed = similarity.dot_by_offset.mean + 1
    figure = similarity_by_offset(similarity, closed)
    dot, formula, cosine = figure.data
    both = (similarity.dot_by_offset.mean, closed, similarity.cosine_by_offset.mean)
    for line, half in zip((dot, formula, cosine), both, strict=True):
        np.testing.assert_array_equal(line.x, np.arange(1 - positions, positions))
        np.testing.assert_array_equal(line.y, np.concatenate([half[:0:-1], half]))
    assert (formula.line.dash, cosine.yaxis) == ("dot", "y2")
    layout = figure.layout
    assert within([0, 1], layout.yaxis2.range)
    assert layout.yaxis2.domain[1] < layout.yaxis.domain[0]
    sound(figure)
    if positions == 64:  # it takes more than 50 pixels, without the legend and the axis below
        low, high = layout.yaxis.range
        share = layout.yaxis.domain[1] - layout.yaxis.domain[0]
        assert np.ptp(dot.y) / (high - low) * (layout.height - 44 - 60) * share > 50


def test_similarity_by_offset_accepts_zeros_and_rejects_bad_length():
    similarity = offsets.similarity(np.zeros((5, 4)))
    assert "cosine is –" in similarity_by_offset(similarity, np.zeros(5)).alt
    with pytest.raises(ValueError, match=r"^There are 5 distances, and 9 closed forms\.$"):
        similarity_by_offset(similarity, np.zeros(9))


# --- clocks ---------------------------------------------------------------------------------------


def hands(line) -> np.ndarray:
    """From center to tip."""
    x, y = (np.asarray(v, float).reshape(-1, 3) for v in (line.x, line.y))
    return np.stack([x[:, 1] - x[:, 0], y[:, 1] - y[:, 0]], axis=1)


@pytest.mark.parametrize("width", [2, 5, 64, 512])
def test_clock_hands_match_dimension_pairs(width):
    before, after = (clocks.clocks(sinusoidal.encoding(64, width), p) for p in (5, 12))
    figure = clock_hands(before, after)
    pairs = width // 2
    visible = np.round(np.linspace(0, pairs - 1, min(pairs, 32))).astype(int)  # evenly chosen
    ring, thin, strong = figure.data[:3]
    for line, at in ((thin, before), (strong, after)):
        # A hand's tip is its center plus the pair, and centers are below 100: rounding of 1e-14.
        tips = np.stack([at.cosine, at.sine], axis=1)[visible]
        np.testing.assert_allclose(hands(line), tips, atol=1e-13)
    assert (thin.line.color, strong.line.color) == (LIGHT.baseline, LIGHT.prediction)
    assert ("32 of 256 clocks" in said(figure)) == (pairs > 32)
    layout = figure.layout
    assert layout.yaxis.scaleanchor == "x"
    for values, axis in ((ring.x, layout.xaxis), (ring.y, layout.yaxis)):
        positions = np.asarray(values, float)
        assert within(positions[np.isfinite(positions)], axis.range)
    frame = table(figure)
    later = frame[frame["series"] == "hand at position 12"]
    np.testing.assert_array_equal(later["Angle of the hand (radians)"], after.angle)
    np.testing.assert_array_equal(later["Pair of dimensions"], np.arange(pairs))


@pytest.mark.parametrize(
    ("width", "base", "words"),
    [(8, 1e4, ["6.28", "62.8", "628", "6,283"]), (4, 1e10, ["6.28", "6.3·10<sup>5</sup>"])],
)
def test_clock_hands_show_wavelengths(width, base, words):
    before, after = (clocks.clocks(sinusoidal.encoding(13, width, base), p) for p in (0, 12))
    assert said(clock_hands(before, after)) == words


@pytest.mark.parametrize(("width", "base"), [(2, 1.5), (5, 100.0), (512, 1e6)])
def test_wavelengths_draw_limits(width, base):
    sines = sinusoidal.encoding(1, width, base)
    figure = wavelengths(sines)
    np.testing.assert_array_equal(figure.data[0].y, sines.wavelengths)
    low, high = (shape.y0 for shape in figure.layout.shapes)
    assert (low, high) == (2 * math.pi, 2 * math.pi * base)
    assert within([low, high], figure.layout.yaxis.range, log=True)


def test_embedding_norms_draw_histogram_percentages():
    draw = np.random.RandomState(0).standard_normal((500, 64)) / 8
    embedding_scale = clocks.embedding_scale(draw, WAVES.table)
    figure = embedding_norms(embedding_scale)
    rows = (embedding_scale.embedding, embedding_scale.scaled, embedding_scale.encoding)
    for line, values in zip(figure.data, rows, strict=True):
        edges, share = np.asarray(line.x), np.asarray(line.y)
        expected = [np.mean((values >= a) & (values < b)) for a, b in pairwise(edges)]
        np.testing.assert_allclose(share[:-1], 100 * np.array(expected))
        assert number(float(np.median(values))) in line.name
        assert within(values, figure.layout.xaxis.range, log=True)  # every vector is in a bin
        assert share.sum() == pytest.approx(100)


@pytest.mark.parametrize("words", [np.zeros((3, 4)), np.ones((1, 4))])
def test_embedding_norms_render_degenerate_input(words):
    sound(embedding_norms(clocks.embedding_scale(words, np.zeros((2, 4)))))


# --- a learned table ------------------------------------------------------------------------------


def test_component_path_draws_components_and_end_labels():
    result = learned.path(OWN)
    figure = component_path(result)
    line = figure.data[0]
    np.testing.assert_array_equal(np.stack([line.x, line.y]), result.components.T)
    np.testing.assert_array_equal(line.marker.color, np.arange(40))
    for axis, share in zip(("xaxis", "yaxis"), result.explained, strict=True):
        assert f"{100 * share:.1f}%" in figure.layout[axis].title.text
    assert figure.layout.yaxis.scaleanchor == "x"  # a circle looks like one
    assert said(figure) == ["<b>position 0</b>", "<b>position 39</b>"]
    for mark, row in zip(figure.layout.annotations, (0, -1), strict=True):
        assert (mark.x, mark.y) == tuple(result.components[row])


def test_power_spectrum_draws_power_percentages():
    both = learned.spectrum(OWN), learned.spectrum(sinusoidal.encoding(*OWN.shape).table)
    figure = power_spectrum(*both)
    for line, result in zip(figure.data, both, strict=True):
        np.testing.assert_array_equal(line.x, result.frequency)
        np.testing.assert_allclose(line.y, 100 * result.power / result.power.sum())
    assert [line.line.color for line in figure.data] == [LIGHT.gru, LIGHT.prediction]
    wave = np.sin(2 * np.pi * np.arange(64) / 8)[:, None]  # one frequency; the rest is rounding
    low, high = power_spectrum(*[learned.spectrum(wave)] * 2).layout.yaxis.range
    assert high - low < 9.5  # 8 decades and the room at both ends


@pytest.mark.parametrize("rows", [np.ones((6, 4)), np.eye(2), np.ones((1, 2))])
def test_path_and_spectrum_render_degenerate_tables(rows):
    sound(component_path(learned.path(rows)))
    if len(rows) > 1:
        sound(power_spectrum(learned.spectrum(rows), learned.spectrum(rows)))


# --- positions inside the score -------------------------------------------------------------------


@pytest.mark.parametrize("places", [np.arange(40), np.array([10, 12, 16]), np.array([5])])
def test_rotary_scores_draw_all_pairs_and_closed_form(places):
    """Whether the positions are evenly spaced or not."""
    q, k = np.random.RandomState(4).standard_normal((2, 8))
    offset = rotary.score_by_offset(q, k, places)
    at = rotary.turned(16, 12, 9)
    figure = rotary_scores(offset, at)
    points, line, alike, here = figure.data[-4:]
    pairs = sorted(zip(points.x.tolist(), points.y.tolist(), strict=True))
    query_minus_key = np.subtract.outer(places, places).ravel().tolist()
    assert pairs == sorted(zip(query_minus_key, offset.scores.ravel().tolist(), strict=True))
    np.testing.assert_array_equal(line.x, offset.by_offset.offset)
    np.testing.assert_array_equal(line.y, offset.closed_form)
    np.testing.assert_allclose(alike.y, rotary.closed_form(q, q, offset.by_offset.offset))
    assert (here.x[0], here.y[0]) == (3, pytest.approx(at.score))
    assert within(query_minus_key, figure.layout.xaxis2.range)
    off = replace(offset, closed_form=offset.closed_form + 0.25)
    assert "from the formula by 0.250." in rotary_scores(off, at).alt


def test_rotary_scores_subsample_many_pairs_over_all_offsets():
    figure = rotary_scores(rotary.random_scores(16, 512), rotary.turned(16, 5, 2))
    points = figure.data[-4]
    assert len(points.x) == 4096
    assert (points.x.min(), points.x.max()) == (-511, 511)
    assert "4,096 scores" in points.name


@pytest.mark.parametrize("shift", [0, 1, 1000])
def test_rotary_scores_rotate_arrows_and_keep_angle_between_them(shift):
    """Tips by the formula of a turn, each pair scaled to its longer arrow."""
    q, k = np.random.RandomState(1).standard_normal((2, 8))
    at = rotary.turned(8, 7 + shift, 4 + shift, 100.0)
    samples = [t for t in rotary_scores(rotary.random_scores(8, 24), at).data if t.name]
    tips = [(t.x[1], t.y[1]) for t in samples[:6]]
    for row, pair in enumerate((0, 2, 3)):
        omega = 100.0 ** (-2 * pair / 8)
        longest = max(np.hypot(v[pair], v[pair + 4]) for v in (q, k))
        for index, (v, position) in enumerate(((q, 7 + shift), (k, 4 + shift))):
            expected = (v[pair] + 1j * v[pair + 4]) * np.exp(1j * omega * position) / longest
            x, y = tips[2 * row + index]
            assert (x, y + 2.6 * row) == pytest.approx((expected.real, expected.imag), abs=1e-9)
    still = rotary.turned(8, 7, 4, 100.0)
    np.testing.assert_allclose(at.between, still.between, atol=1e-9)
    assert at.score == pytest.approx(still.score, abs=1e-10)


# --- simple codes, all schemes, early and late ----------------------------------------------------


def test_code_demands_draw_codes_alike_in_every_panel_with_waves_on_top():
    demands = simple.demands(20)
    _, *lines = code_demands(demands).data  # without the word vector
    panels = [lines[first : first + 4] for first in (0, 4, 8)]
    for panel, axis in zip(panels, ("x", "x2", "x3"), strict=True):
        assert {line.xaxis or "x" for line in panel} == {axis}
        assert [line.name for line in panel][-1] == "waves"
        assert [line.line for line in panel] == [line.line for line in panels[0]]
    np.testing.assert_array_equal(panels[0][0].y, np.arange(20))
    np.testing.assert_allclose(panels[1][1].y, np.arange(20) / 19 - np.arange(20) / 39)
    changed = [(at ^ (at + 1)).bit_count() for at in range(19)]
    np.testing.assert_allclose(panels[2][2].y, np.sqrt(changed))


def test_digits_and_waves_draw_binary_digits_above_sines():
    binary, sinusoids = (simple.code(name, 48) for name in ("binary", "waves"))
    above, below = digits_and_waves(binary, sinusoids).data
    assert np.shape(above.z) == np.shape(below.z) == (6, 48)
    assert ["".join(str(int(d)) for d in column[::-1]) for column in np.asarray(above.z).T] == [
        f"{p:06b}" for p in range(48)
    ]
    np.testing.assert_allclose(
        below.z, np.sin(np.outer(0.5 ** np.arange(6.0), np.arange(48))), atol=1e-6
    )


def test_term_maps_draw_each_scheme_with_limit():
    scheme_terms = relative.position_terms(10, 16, 3)
    figure = term_maps(scheme_terms)
    assert len(figure.data) == 5
    for index, trace in enumerate(figure.data):
        np.testing.assert_allclose(trace.z, scheme_terms.terms[index], atol=1e-5)
        limit = number(float(np.abs(scheme_terms.terms[index]).max()), 2)
        assert said(figure)[index] == f"{trace.name}<br>±{limit}"


def test_early_and_late_draw_norms_and_neighbor_cosines():
    result, sinusoids = learned.ages(OWN), learned.ages(WAVES.table)
    norm, neighbor, sines = early_and_late(result, sinusoids).data
    np.testing.assert_array_equal(norm.y, np.linalg.norm(OWN, axis=1))
    cosines = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in pairwise(OWN)]
    np.testing.assert_allclose(neighbor.y, cosines)
    assert np.ptp(sines.y) < 1e-12


def test_row_updates_draw_shares_of_both_packings():
    result = learned.updates(np.array([2, 3, 3, 8]), 10, 6)
    separate, packed = row_updates(result).data
    assert separate.y.tolist() == [100, 100, 75, 25, 25, 25, 0, 0, 0, 0]
    assert packed.y.tolist() == [100] * 6 + [0] * 4
    assert "last 4 vectors are never updated" in row_updates(result).alt


@pytest.mark.parametrize(("heads", "said_of"), [(1, "1/256"), (12, "0.707"), (64, "0.459")])
def test_alibi_draws_slopes_and_marks_head(heads, said_of):
    slopes, head = relative.alibi_slopes(heads), min(8, heads - 1)
    figure = alibi(slopes, relative.alibi_bias(heads, 16), head)
    line, axis = figure.data[0], figure.layout.yaxis
    np.testing.assert_array_equal(line.y, slopes)
    np.testing.assert_array_equal(line.x, np.arange(heads))
    powers = np.log2(np.asarray(axis.tickvals))
    np.testing.assert_array_equal(powers, np.round(powers))
    assert within(slopes, axis.range, log=True)
    marked = [color == LIGHT.highlight for color in line.marker.color]
    assert marked == [at == head for at in range(heads)]
    assert said(figure)[1] == unbroken(f"head {head}, s = {said_of}")
