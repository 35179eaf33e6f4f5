"""Masked words and tokens: the figures are the answers counted again, at every size."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from seqviz.compute.bert_accuracy.results import DIRECTIONS, ORDERS
from seqviz.core.units import unbroken
from seqviz.figures.bert_accuracy import bars_and_labels
from seqviz.figures.bert_accuracy.fill import (
    best_guesses,
    fill_in_accuracy,
    fill_in_accuracy_by_share,
)
from seqviz.figures.bert_accuracy.word_masking import accuracy_under_masking, sentence_under_masking
from seqviz.plotting import axes
from seqviz.plotting.sheet import Sheet
from seqviz.plotting.style import LIGHT, Style
from seqviz.stats.proportions import of, proportion, shares
from testing.figure_examples.bert_accuracy import (
    BASELINE,
    WORDS,
    at,
    fill_of,
    fills,
    guesses_of,
    knife_of,
    own_knife_of,
)
from tests.figures.markup_samples import HOSTILE, plainly
from tests.figures.trace_helpers import bands, sound
from tests.figures.trace_helpers import said as notes
from tests.figures.trace_helpers import trace as named

STYLE = Style()
CUT, FILLED = knife_of(), fill_of()


# --- what they share ------------------------------------------------------------------------------


def test_format_proportions_shows_interval_and_n():
    right = np.array([[1, 1, 0, np.nan], [np.nan] * 4])
    message = bars_and_labels.format_proportions(shares(right), STYLE.text)
    assert message.tolist() == [unbroken("66.7% [20.8, 93.9], n = 3"), "none"]


def test_bar_is_hatched_and_transparent_for_reported_values():
    sheet = Sheet(STYLE)
    panel = sheet.panel(axes.axis(), axes.axis())
    bars_and_labels.bar(panel, 1, of(8, 10), "ours", LIGHT.lstm)
    bars_and_labels.bar(panel, 1, of(8, 10), "theirs", LIGHT.baseline, hatched=True, sideways=True)
    ours, theirs = sheet.traces
    assert "pattern" not in ours["marker"]
    assert theirs["marker"]["pattern"]["shape"] == "/"
    assert theirs["marker"]["color"] == "rgba(0,0,0,0)"
    assert (ours["y"], theirs["x"]) == ([80], [80])
    assert theirs["error_x"]["array"] == ours["error_y"]["array"]


def test_fitted_axis_covers_values_and_is_never_empty():
    assert bars_and_labels.fitted([70.0, 70.0])[0] <= 65
    low, high = bars_and_labels.fitted(np.array([np.nan, 48, 79]), above=0.1, below=0.1)
    assert low < 48
    assert high > 79
    assert bars_and_labels.fitted(np.array([np.nan])) == pytest.approx((-1, 101 + 0.12 * 102))


# --- masked words -------------------------------------------------------------------------------


def test_masking_lines_match_accuracies_with_random_first():
    figure = accuracy_under_masking(CUT, "gradient", 0.35, BASELINE)
    first = figure.data[0]
    assert (first.name, first.line.color, first.line.dash) == (
        "usual head, random order",
        LIGHT.truth,
        None,
    )
    assert (first.x[0], first.x[-1]) == (0, 100)
    low, high = figure.layout.yaxis.range
    assert (max(first.y) - min(first.y)) / (high - low) * 300 > 50  # of some 300 px
    for row, line in enumerate(figure.data[:5]):
        expected = [at(CUT, ORDERS[row], share) for share in CUT.shares]
        np.testing.assert_allclose(line.y, expected)
    assert len({line.line.dash for line in figure.data[:5]}) == 5
    assert len({line.line.color for line in figure.data[:5]}) == 5


def test_masking_figure_draws_wilson_band_for_chosen_order_only():
    figure = accuracy_under_masking(CUT, "content", 0.35, BASELINE)
    (band,) = bands(figure)
    low, high = np.split(np.asarray(band.y), 2)
    right = (CUT.probability[3] >= 0.5) == CUT.positive
    for position in (0, 7, 20):
        result = proportion(right[position])
        assert (low[position], high[::-1][position]) == pytest.approx(
            (100 * result.low, 100 * result.high)
        )
    assert band.fillcolor == LIGHT.gru
    widths = {line.name: line.line.width for line in figure.data[:5]}
    assert max(widths, key=widths.get) == "content words first"


@pytest.mark.parametrize("share", [0.0, 0.35, 0.375, 1.0])
def test_masking_mark_lies_on_line(share: float):
    figure = accuracy_under_masking(CUT, "attention", share, BASELINE)
    mark = named(figure, "most attention first, chosen")
    expected = at(CUT, "attention", share)
    assert (mark.x[0], mark.y[0]) == pytest.approx((100 * share, expected))
    assert f"<b>{100 * share:.0f}%: {expected:.1f}%</b>" in notes(figure)
    line = figure.layout.shapes[0]
    assert line.x0 == line.x1 == pytest.approx(100 * share)
    message = figure.alt
    for words in (f"{expected:.1f}%", "2,000 sentences", "50.1%", "95% interval"):
        assert words in message, words
    sound(figure)


def test_masking_figures_reject_missing_order():
    with pytest.raises(ValueError, match="was not tried"):
        accuracy_under_masking(knife_of(5, 3, ("random",)), "content", 0, BASELINE)
    with pytest.raises(ValueError, match="was not tried"):
        sentence_under_masking(own_knife_of(orders=("random",)), "content", 0)


def test_masked_sentence_shows_each_step_and_masked_word():
    masking = own_knife_of()
    figure = sentence_under_masking(masking, "content", 3)
    line = named(figure, "content words first")
    np.testing.assert_allclose(line.y, 100 * masking.probability[3])
    np.testing.assert_array_equal(line.x, np.arange(len(WORDS) + 1))
    went = [plainly(text).removeprefix("last masked: ") for text in line.customdata[1:]]
    assert [WORDS.index(word) for word in went] == np.argsort(masking.turns[3]).tolist()
    assert set(named(figure, "undecided: 50%").y) == {50}
    assert f"<b>3 masked: {100 * masking.probability[3, 3]:.1f}%</b>" in notes(figure)
    assert all(word in figure.alt for word in went[:3])


@pytest.mark.parametrize("words", [(), ("x",), HOSTILE, tuple("abcdefghijklmnopqrstuvwxyz")])
@pytest.mark.parametrize("masked", [0, 7, 99])
def test_masked_sentence_renders_any_text(words, masked: int):
    masking = own_knife_of(words)
    figure = sentence_under_masking(masking, "random", masked)
    sound(figure)
    assert figure.layout.shapes[0].x0 == min(masked, len(words))
    for line in figure.data[:5]:
        assert not [text for text in line.customdata if "<" in text or "%{" in text]


# --- filling in -----------------------------------------------------------------------------------


def test_fill_bars_match_proportions_with_intervals():
    figure = fill_in_accuracy(FILLED)
    for axis, best in (("x", 1), ("x2", 5)):
        for index, name in enumerate(("[MASK]", "another token", "left alone")):
            rank = FILLED.rank[FILLED.treatment == index]
            expected = proportion(rank <= best)
            bar = named(figure, name, axis)
            assert bar.y[0] == pytest.approx(100 * expected.share)
            assert bar.y[0] + bar.error_y.array[0] == pytest.approx(100 * expected.high)
            assert bar.y[0] - bar.error_y.arrayminus[0] == pytest.approx(100 * expected.low)
            ticks = figure.layout["xaxis" + axis[1:]].ticktext
            assert ticks[index].endswith(unbroken(f"n = {len(rank):,}"))
        guess = 100 * float((FILLED.frequency <= best).mean())
        assert named(figure, "most frequent", axis).y == (guess,)
        (line,) = (shape for shape in figure.layout.shapes if shape.xref == f"{axis} domain")
        assert (line.y0, line.line.dash, line.layer) == (guess, "dot", "above")
    assert f"at {len(FILLED.rank):,} places" in figure.alt


def test_fill_figures_render_without_positions():
    figure = fill_in_accuracy(fill_of(500, mask=1.0))
    sound(figure)
    assert notes(figure).count("none") == 4
    nothing = replace(FILLED, **{k: np.zeros(0, int) for k in ("treatment", "rank", "frequency")})
    sound(fill_in_accuracy(nothing))
    sound(fill_in_accuracy_by_share((nothing,), 0.15))


def test_fill_curves_are_sorted_by_share():
    result = fills()
    figure = fill_in_accuracy_by_share(result[::-1], 0.15)
    np.testing.assert_allclose(figure.data[0].x, [5, 15, 25, 35, 45, 55, 65])
    expected = [100 * float((item.rank[item.treatment == 0] == 1).mean()) for item in result]
    np.testing.assert_allclose(named(figure, "[MASK]").y, expected)
    guess = named(figure, "always the most frequent token")
    np.testing.assert_allclose(
        guess.y, [100 * float((item.frequency == 1).mean()) for item in result]
    )
    assert len(bands(figure)) == 3
    assert f"15%: [MASK]: {expected[1]:.1f}%" in " ".join(notes(figure))
    assert figure.layout.shapes[0].x0 == 15


def test_guesses_mark_truth_once_per_panel():
    guesses = guesses_of()
    figure = best_guesses(guesses)
    for panel, bars in enumerate(figure.data):
        colors = list(bars.marker.color)
        assert colors.count(LIGHT.highlight) == 1
        index = colors.index(LIGHT.highlight)
        assert bars.marker.pattern.shape[index] == "/"
        assert bars.x[index] == pytest.approx(100 * guesses.truth_probability[panel])
        assert plainly(bars.customdata[index]) == guesses.truth
        np.testing.assert_allclose(bars.x[:8], 100 * guesses.probability[panel])
    assert figure.layout.meta["names"]["y"] == list(guesses.candidates[0])
    assert figure.layout.meta["names"]["y3"] == [*guesses.candidates[2], "", guesses.truth]
    message = " ".join(notes(figure))
    assert "<b>hidden</b>: rank 2" in message
    assert "<b>kept</b>: rank 4,211" in message
    assert "<b>replaced</b>: rank" in message
    assert message.count(" truth</b>") == 3
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range == figure.layout.xaxis3.range
    assert unbroken("< 0.1") in message


@pytest.mark.parametrize("conditions", [("mask",), DIRECTIONS, ("left", "right")])
@pytest.mark.parametrize("candidates", [1, 8])
def test_guesses_render_at_every_size(conditions, candidates: int):
    figure = best_guesses(guesses_of(conditions, candidates))
    sound(figure)
    assert len(figure.data) == len(conditions)
    domains = [figure.layout["xaxis" + t.xaxis[1:] if t.xaxis else "xaxis"].domain
               for t in figure.data]  # fmt: skip
    assert domains[-1][1] == pytest.approx(1)
    assert all(a[1] < b[0] for a, b in pairwise(domains))


def test_guesses_escape_hostile_tokens():
    guesses = replace(guesses_of(("mask",)), candidates=(HOSTILE[:8],), truth="<b>")
    figure = best_guesses(guesses)
    sound(figure)
    for text in (*figure.layout.yaxis.ticktext, *figure.data[0].customdata):
        bare = text.removeprefix("<b>").removesuffix("</b>")
        assert "<" not in bare
        assert "%{" not in bare
