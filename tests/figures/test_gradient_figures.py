"""Figures of the gradients lesson: what went in is what is drawn, and nothing is not a number."""

from __future__ import annotations

import json

import numpy as np
import pytest
from seqviz.figures.gradients.backward import recursion_step

from seqviz.compute import bptt
from seqviz.compute.bptt import Experiment
from seqviz.figures.gradients import backward, gated_jacobian, gradients, memory, truncation
from seqviz.figures.grammar.decades import HIGHEST, LOWEST
from seqviz.figures.grammar.style import Style
from seqviz.text import LANGUAGES, from_log10

EXTREMES = (
    Experiment(),
    Experiment("linear", 500, gain=2.0),
    Experiment("rnn", 500, gain=0.1),
    Experiment("lstm", 2, 2),
    Experiment("linear", 60, init="non_normal"),
)


def refuse(token: str):
    raise AssertionError(f"{token} in a figure")


def sound(figure) -> None:
    """A browser can read it: JSON knows neither NaN nor Infinity."""
    json.loads(figure.to_json(), parse_constant=refuse)
    assert figure.alt


def reach_figure(experiment: Experiment, style: Style = Style()):  # noqa: B008
    found = bptt.reach(experiment)
    size = (experiment.init, experiment.width, experiment.gain, experiment.seed)
    return found, gradients.gradient_reach(
        (experiment.cell,), (found,), bptt.spectrum(*size), style=style
    )


@pytest.mark.parametrize("experiment", EXTREMES)
def test_reach_draws_the_norms(experiment):
    found, figure = reach_figure(experiment)
    sound(figure)
    line = np.asarray(figure.data[0].y, float)
    there = np.isfinite(line)
    # Both sides are one rounding of 10^x away from the truth.
    np.testing.assert_allclose(np.log10(line[there]), found.norms.hidden[there], atol=1e-12)
    assert (np.abs(found.norms.hidden[~there]) > 300).all()  # a gap only beyond float64
    low, high = figure.layout.yaxis.range
    assert LOWEST - 10 < low < high < HIGHEST + 10
    diamond = next(t for t in figure.data if t.mode == "markers")
    assert list(diamond.x) == [len(line) - found.horizon]


def test_the_long_road_of_the_lstm_is_drawn_beside_the_short_one():
    found, figure = reach_figure(Experiment("lstm"))
    h, c = figure.data[:2]
    np.testing.assert_allclose(np.log10(np.asarray(c.y)), found.norms.cell_state, atol=1e-12)
    assert (h.line.dash, c.line.dash) == ("solid", "dash")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_words_on_the_axis_are_plain_text(lang):
    experiment = Experiment(signal="sentence", sentence="<b>a</b> b & c d")
    _, figure = reach_figure(experiment, Style(lang=lang))
    assert figure.layout.xaxis.ticktext[0] == "&lt;b&gt;a&lt;/b&gt;"
    assert "&amp;" in figure.layout.xaxis.ticktext


@pytest.mark.parametrize("cell", ["rnn", "lstm"])
def test_pairs_draw_their_map_and_mark_the_pair(cell):
    experiment = Experiment(cell, 30, 8)
    pairs = bptt.pair_norms(experiment)
    chosen = bptt.pair_spectrum(experiment, 5, 20)
    spectrum = bptt.spectrum("gaussian", 8, 1.0, 1)
    figure = gradients.pair_map(pairs, chosen, 5, 20, cell, spectrum)
    sound(figure)
    heat, mark, values = figure.data[:3]
    np.testing.assert_array_equal(np.asarray(heat.z), pairs.log10)
    assert heat.zmin == -heat.zmax  # symmetric about zero
    assert heat.meta == "pick"
    assert (mark.x[0], mark.y[0]) == (5, 20)
    seen = np.isfinite(chosen.log10)
    np.testing.assert_allclose(np.log10(np.asarray(values.y)[seen]), chosen.log10[seen], atol=1e-12)
    # The powers of W bound a plain RNN and say nothing about a gated one.
    assert len(figure.data) == (5 if cell == "rnn" else 3)
    assert from_log10(float(chosen.log10[0])) in figure.alt


def test_running_sum_of_the_paths_ends_at_autograd():
    found = bptt.paths(Experiment("linear", 6, 4, gain=0.8, loss="mean"), 1)
    figure = backward.path_bars(found, printed=True)
    sound(figure)
    bars, total, printed, printed_total, autograd = figure.data
    assert bars.type == printed.type == "bar"
    assert total.y[-1] == pytest.approx(autograd.y[0], rel=1e-12)
    assert abs(printed_total.y[-1] - autograd.y[0]) > 0.1 * autograd.y[0]
    assert len(bars.y) == 6


@pytest.mark.parametrize("taken", [0, 1, 4])
def test_the_graph_shows_only_what_has_come_back(taken):
    found = bptt.recursion(Experiment("rnn", 4, 2, loss="mean"))
    figure = backward.unrolled_graph(found, taken)
    sound(figure)
    assert list(figure.data[0].customdata).count("?") == 4 - taken


@pytest.mark.parametrize("t", [1, 3, 4])
def test_the_equation_has_its_numbers_and_its_braces(t):
    found = bptt.recursion(Experiment("rnn", 4, 2, loss="mean"))
    latex = recursion_step(found, t)
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\begin{pmatrix}") == (2 if t == 4 else 4)


def test_lost_terms_are_gray_and_kept_ones_are_not():
    experiment = Experiment("rnn", 20, 8, loss="mean")
    terms, found = bptt.terms(experiment, 5), bptt.truncation(experiment)
    figure = truncation.kept_and_lost(terms, found, 5)
    sound(figure)
    kept, lost = (np.asarray(trace.z, float) for trace in figure.data[:2])
    both = np.isfinite(kept).astype(int) + np.isfinite(lost)
    assert both.max() == 1
    later, earlier = np.nonzero(np.isfinite(kept))
    assert (later - earlier < 5).all()
    later, earlier = np.nonzero(np.isfinite(lost))
    assert (later - earlier >= 5).all()
    sound(truncation.kept_and_lost(bptt.terms(experiment, 20), found, 20))  # nothing is lost


def test_maps_of_all_pairs_are_numbers_and_not_words():
    """Ten thousand cells in words took 20 ms to write and were up to 400 kB: for each student who
    comes to the map, and again after each press above it."""
    experiment = Experiment("rnn", 100, 8, loss="mean")
    pairs = gradients.pair_map(
        bptt.pair_norms(experiment), bptt.pair_spectrum(experiment, 40, 80), 40, 80, "rnn",
        bptt.spectrum("gaussian", 8, 0.9, 1),
    )  # fmt: skip
    terms, found = bptt.terms(experiment, 10), bptt.truncation(experiment)
    cut = truncation.kept_and_lost(terms, found, 10)
    for figure, maps in ((pairs, 1), (cut, 2)):
        heat = [trace for trace in figure.data if trace.type == "heatmap"]
        assert len(heat) == maps
        for trace in heat:
            assert np.asarray(trace.z).shape == (100, 100)
            assert trace.text is None
            assert trace.customdata is None
            assert "10<sup>%{z:.2f}</sup>" in trace.hovertemplate  # z is log10, unclipped
        assert len(figure.to_json()) < maps * 140_000
    shown = np.concatenate([np.asarray(t.z)[np.isfinite(t.z)] for t in cut.data[:2]])
    assert sorted(shown) == sorted(terms.log10[np.isfinite(terms.log10)])


def test_draws_and_clipping_draw_their_numbers():
    found = bptt.randomized(Experiment("rnn", 20, 8, loss="mean"), 0.2, 64)
    figure = truncation.mean_of_draws(found)
    sound(figure)
    np.testing.assert_array_equal(figure.data[0].y, found.error)
    free, clipped = bptt.descend("linear", 1.0, None), bptt.descend("linear", 1.0, 1.0)
    figure = truncation.with_and_without_clipping(free, clipped, 1.0)
    sound(figure)
    named = [t.text[0] for t in figure.data if t.mode == "markers+text"]
    assert len(named) == 1
    assert str(free.left_float32) in named[0]


@pytest.mark.parametrize(("update", "reset"), [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (0.1, 0.7)])
def test_gated_jacobian_draws_eigenvalues_and_powers(update, reset):
    found = bptt.simplified_gru(update, reset, "gaussian", 8, 1.2, 1, 20)
    figure = gated_jacobian.gated_jacobian(found, update, reset)
    sound(figure)
    np.testing.assert_array_equal(figure.data[2].x, found.eigenvalues.real)
    if update == 0:
        assert set(figure.data[4].y) == {1.0}


def test_race_and_ladder():
    accuracy = np.array([[0.2, 0.3], [0.3, 1.0]])
    slopes = np.array([[-400.0, -np.inf, 0.0], [-2.0, -1.0, 0.0]])
    figure = memory.race_course(("rnn", "gru"), np.array([0, 5]), accuracy, slopes, 0.95, 10, 0.25)
    sound(figure)
    assert [figure.data[4].y[-1], figure.data[2].y[-1]] == [100.0, 30.0]
    figure = memory.ladder(
        ("rnn", "gru"), np.array([1, 2]), np.array([[1.0, 1.0], [np.nan, 0.5]]),
        np.array([[True, True], [False, False]]),
    )  # fmt: skip
    sound(figure)
    assert list(figure.data[0].x) == [1]
    assert list(figure.data[1].marker.symbol) == ["circle", "x"]
