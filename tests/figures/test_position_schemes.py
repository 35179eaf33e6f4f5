"""Positions inside the score: points on one line, slopes, buckets, and what a shift changes."""

from __future__ import annotations

import numpy as np
import pytest
from seen import said, sound

from seqviz.compute.positions import relative, rotary
from seqviz.figures.grammar.style import LIGHT
from seqviz.figures.grammar.table import table
from seqviz.figures.positions.biases import alibi, t5_buckets
from seqviz.figures.positions.schemes import rotary_scores, shift_bars

CHANGES = [relative.shift_change(scheme) for scheme in relative.SCHEMES]


# --- rotary ---------------------------------------------------------------------------------------


def test_all_pairs_lie_on_the_closed_form():
    found = rotary.random_scores(16, 40)
    points, line = rotary_scores(found).data
    assert len(points.x) == 40**2
    assert sorted(points.y) == sorted(found.scores.ravel())
    np.testing.assert_array_equal(line.x, np.arange(-39, 40))
    np.testing.assert_array_equal(line.y, found.closed_form)
    expected = dict(zip(line.x.tolist(), line.y.tolist(), strict=True))
    for x, y in zip(points.x, points.y, strict=True):
        assert y == pytest.approx(expected[x], abs=1e-10)  # the lesson's own bound
    assert points.marker.color == LIGHT.rnn
    assert line.line.dash == "dot"


def test_offsets_are_query_minus_key():
    """Whether the positions are evenly spaced or not."""
    q, k = np.random.RandomState(4).standard_normal((2, 8))
    for places in (np.array([10, 12, 14, 16]), np.array([0, 1, 5])):
        found = rotary.score_by_offset(q, k, places)
        points = rotary_scores(found).data[0]
        pairs = sorted(zip(points.x.tolist(), points.y.tolist(), strict=True))
        offsets = np.subtract.outer(places, places).ravel().tolist()
        assert pairs == sorted(zip(offsets, found.scores.ravel().tolist(), strict=True))


def test_of_very_many_pairs_some_are_drawn_at_all_offsets():
    points = rotary_scores(rotary.random_scores(16, 512)).data[0]
    assert len(points.x) == 4096
    assert (points.x.min(), points.x.max()) == (-511, 511)
    assert "4,096 pairs" in points.name


def test_one_position_has_one_score():
    figure = rotary_scores(rotary.random_scores(16, 1))
    assert len(figure.data[0].x) == 1
    low, high = figure.layout.xaxis.range
    assert low < 0 < high


# --- ALiBi ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", [1, 8, 12, 64])
def test_slopes_in_powers_of_two(heads):
    slopes = relative.alibi_slopes(heads)
    figure = alibi(slopes, relative.alibi_bias(heads, 16))
    np.testing.assert_array_equal(figure.data[0].y, slopes)
    np.testing.assert_array_equal(figure.data[0].x, np.arange(heads))
    axis = figure.layout.yaxis
    powers = np.log2(np.asarray(axis.tickvals))
    np.testing.assert_array_equal(powers, np.round(powers))
    low, high = axis.range
    assert low < np.log10(slopes).min()
    assert np.log10(slopes).max() < high


@pytest.mark.parametrize("causal", [True, False])
def test_bias_of_the_chosen_head(causal):
    slopes, bias = relative.alibi_slopes(8), relative.alibi_bias(8, 16, causal)
    figure = alibi(slopes, bias, 3)
    heat = figure.data[1]
    np.testing.assert_array_equal(heat.z, np.where(np.isfinite(bias[3]), bias[3], np.nan))
    assert (heat.zmin, heat.zmax) == (-15 / 16, 0)
    assert said(figure)[1] == "head 3, m = 1/16"
    colors = figure.data[0].marker.color
    assert [h for h in range(8) if colors[h] == LIGHT.highlight] == [3]


def test_one_position_has_no_bias():
    figure = alibi(relative.alibi_slopes(1), relative.alibi_bias(1, 1))
    assert figure.data[1].z.tolist() == [[0]]
    assert "down to 0" in figure.alt


def test_a_slope_that_is_no_power_of_two():
    slopes = relative.alibi_slopes(12)
    figure = alibi(slopes, relative.alibi_bias(12, 4), 8)
    assert said(figure)[1] == "head 8, m = 0.707"


# --- T5 -------------------------------------------------------------------------------------------


def color_at(heat, bucket: int) -> str:
    """The color of the middle of a bucket, read from the scale as a browser does."""
    share = (bucket - heat.zmin) / (heat.zmax - heat.zmin)
    below = max(place for place, (at, _) in enumerate(heat.colorscale) if at <= share)
    return heat.colorscale[below][1]


@pytest.mark.parametrize("bidirectional", [True, False])
def test_each_bucket_has_its_color(bidirectional):
    buckets = relative.t5_map(256, bidirectional)
    (heat,) = t5_buckets(buckets).data
    np.testing.assert_array_equal(heat.z, buckets)
    used = np.unique(buckets).tolist()
    colors = [color_at(heat, bucket) for bucket in used]
    assert len(set(colors)) == len(used)
    blue = {bucket for bucket, color in zip(used, colors, strict=True) if "43,108,196" in color}
    assert blue == set(np.unique(np.tril(buckets)).tolist())


def test_numbers_in_a_small_map():
    assert t5_buckets(relative.t5_map(16)).data[0].texttemplate == "%{z}"
    assert t5_buckets(relative.t5_map(17)).data[0].texttemplate is None


@pytest.mark.parametrize("positions", [1, 2, 2048])
def test_buckets_at_every_size(positions):
    figure = t5_buckets(relative.t5_map(positions))
    assert figure.data[0].z.size <= 512**2
    shares = [at for at, _ in figure.data[0].colorscale]
    assert (shares[0], shares[-1]) == (0, 1)
    assert shares == sorted(shares)


# --- a shift --------------------------------------------------------------------------------------


def test_bars_are_the_largest_changes():
    figure = shift_bars(CHANGES)
    (bars,) = figure.data
    values = np.array([change.largest for change in CHANGES])
    drawn_values = np.asarray(bars.x, float)
    np.testing.assert_array_equal(drawn_values[values > 0], values[values > 0])
    assert np.isnan(drawn_values[~(values > 0)]).all()  # a log axis has no 0
    assert figure.layout.xaxis.type == "log"
    low, high = figure.layout.xaxis.range
    assert low < np.log10(values[values > 0]).min()
    assert np.log10(values[values > 0]).max() < high


def test_zero_and_no_row_are_said_in_words():
    words = dict(zip(relative.SCHEMES, said(shift_bars(CHANGES))[1:], strict=True))
    assert words["none"] == words["alibi"] == words["t5"] == "<b>0 (exactly)</b>"
    assert words["learned"] == "<b>no row beyond 512</b>"
    assert words["sinusoidal"] not in ("<b>0 (exactly)</b>", "<b>–</b>")
    shorter = said(shift_bars(CHANGES, rows=128))
    assert "<b>no row beyond 128</b>" in shorter


def test_words_stand_at_the_left_edge_or_at_the_end_of_the_bar():
    figure = shift_bars(CHANGES)
    marks = figure.layout.annotations[1:]
    for mark, change in zip(marks, CHANGES, strict=True):
        end = np.log10(change.largest) if change.largest > 0 else figure.layout.xaxis.range[0]
        assert mark.x == pytest.approx(end)


def test_bars_differ_without_their_colors():
    assert len(set(shift_bars(CHANGES).data[0].marker.pattern.shape)) == len(CHANGES)


def test_nothing_shifted():
    still = [relative.shift_change(scheme, shift=0) for scheme in relative.SCHEMES]
    figure = shift_bars(still)
    assert all(words == "<b>0 (exactly)</b>" for words in said(figure)[1:])
    sound(figure)


def test_the_table_names_the_schemes():
    frame = table(shift_bars(CHANGES))
    assert list(frame["Encoding"])[:2] == ["no encoding", "sinusoidal"]
