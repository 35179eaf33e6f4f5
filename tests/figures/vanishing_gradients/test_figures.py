"""Figures of the gradients lesson: what went in is what is drawn, and nothing is not a number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute import vanishing_gradients
from seqviz.compute.training.progress import moments
from seqviz.compute.vanishing_gradients import GradientExperiment, recall
from seqviz.compute.vanishing_gradients.recall.tasks import LEARNED, SYMBOLS
from seqviz.core.i18n import format_log10, number
from seqviz.figures.vanishing_gradients.clipping import with_and_without_clipping
from seqviz.figures.vanishing_gradients.norms import gradient_reach
from seqviz.figures.vanishing_gradients.pairs import pair_map
from seqviz.figures.vanishing_gradients.paths import path_bars, recursion_step, unrolled_graph
from seqviz.figures.vanishing_gradients.recall import (
    accuracy_by_delay,
    accuracy_by_delay_progress,
    race_course,
    race_progress,
)
from seqviz.figures.vanishing_gradients.simplified_gru import gated_jacobian
from seqviz.figures.vanishing_gradients.truncation import kept_and_lost, mean_of_draws
from seqviz.plotting.axes import HIGHEST, LOWEST, decades
from seqviz.plotting.table import table, tables
from testing.figure_examples.vanishing_gradients import race_of, reports, rungs, search_of
from tests.figures.trace_helpers import sound

EXTREMES = (
    GradientExperiment(),
    GradientExperiment("linear", 500, gain=2.0),
    GradientExperiment("rnn", 500, gain=0.1),
    GradientExperiment("lstm", 2, 2),
    GradientExperiment("linear", 60, init="non_normal"),
)


def reach_figure(experiment: GradientExperiment):
    result = vanishing_gradients.reach(experiment)
    size = (experiment.init, experiment.width, experiment.gain, experiment.seed)
    return result, gradient_reach(
        (experiment.cell,), (result,), vanishing_gradients.spectrum(*size)
    )


@pytest.mark.parametrize("experiment", EXTREMES)
def test_reach_draws_gradient_norms(experiment):
    result, figure = reach_figure(experiment)
    sound(figure)
    line = np.asarray(figure.data[0].y, float)
    there = np.isfinite(line)
    low, high = figure.layout.yaxis.range
    if result.norms.hidden.min() > HIGHEST:  # by their exponents, as none is within reach
        np.testing.assert_array_equal(line, result.norms.hidden)
        assert low < line.min() < line.max() < high
    else:
        # Both sides are one rounding of 10^x away from the truth.
        np.testing.assert_allclose(np.log10(line[there]), result.norms.hidden[there], atol=1e-12)
        assert (np.abs(result.norms.hidden[~there]) > 300).all()  # a gap only beyond float64
        assert LOWEST - 10 < low < high < HIGHEST + 10
    diamond = next(t for t in figure.data if t.mode == "markers")
    assert list(diamond.x) == [len(line) - result.horizon]


def test_reach_draws_lstm_cell_state_beside_hidden_state():
    result, figure = reach_figure(GradientExperiment("lstm"))
    h, c = figure.data[:2]
    np.testing.assert_allclose(np.log10(np.asarray(c.y)), result.norms.cell_state, atol=1e-12)
    assert (h.line.dash, c.line.dash) == (None, "dash")


def test_reach_escapes_words_on_axis():
    """Plotly reads tags, entities and, in a hover text, "%{...}"."""
    experiment = GradientExperiment(signal="sentence", sentence="<b>a</b> b & %{x} d")
    _, figure = reach_figure(experiment)
    visible = list(figure.layout.xaxis.ticktext)
    assert visible == ["&lt;b&gt;a&lt;/b&gt;", "b", "&amp;", "%&#123;x}"]  # the last is predicted


@pytest.mark.parametrize("cell", ["rnn", "lstm"])
def test_pair_map_draws_norms_and_marks_selected_pair(cell):
    experiment = GradientExperiment(cell, 30, 8)
    pairs = vanishing_gradients.pair_norms(experiment)
    chosen = vanishing_gradients.pair_spectrum(experiment, 5, 20)
    spectrum = vanishing_gradients.spectrum("gaussian", 8, 1.0, 1)
    figure = pair_map(pairs, chosen, 5, 20, cell, spectrum)
    sound(figure)
    heat, mark, values = figure.data[:3]
    np.testing.assert_array_equal(np.asarray(heat.z), pairs.log10)
    assert heat.zmin == -heat.zmax  # symmetric about zero
    assert heat.meta == "pick"
    assert (mark.x[0], mark.y[0]) == (5, 20)
    finite = np.isfinite(chosen.log10)
    np.testing.assert_allclose(
        np.log10(np.asarray(values.y)[finite]), chosen.log10[finite], atol=1e-12
    )
    # The powers of W bound a plain RNN and say nothing about a gated one.
    assert len(figure.data) == (5 if cell == "rnn" else 3)
    assert format_log10(float(chosen.log10[0])) in figure.alt


@pytest.mark.parametrize("cell", ["relu", "linear"])
@pytest.mark.parametrize("gain", [0.1, 0.7])
def test_pair_map_draws_underflowing_singular_values_as_exponents(cell, gain):
    """Of 499 steps back: about 1e-587 and 1e-165; both are below what the axis reaches else."""
    experiment, size = GradientExperiment(cell, 500, gain=gain), ("gaussian", 32, gain, 1)
    chosen = vanishing_gradients.pair_spectrum(experiment, 1, 500)
    figure = pair_map(
        vanishing_gradients.pair_norms(experiment), chosen, 1, 500, cell,
        vanishing_gradients.spectrum(*size),
    )  # fmt: skip
    sound(figure)
    values, (low, high) = np.asarray(figure.traces[2]["y"]), figure.axis("y2")["range"]
    finite = np.isfinite(chosen.log10)
    assert finite.any()
    assert chosen.log10[finite].max() < LOWEST
    np.testing.assert_array_equal(values[finite], chosen.log10[finite])
    assert low < values[finite].min() <= values[finite].max() < high
    assert figure.axis("y2").get("type") != "log"
    ticks = figure.axis("y2")
    assert [word.replace("−", "-") for word in ticks["ticktext"]] == [
        f"10<sup>{tick}</sup>" for tick in ticks["tickvals"]
    ]
    assert any(name.startswith("log₁₀") for frame in tables(figure) for name in frame.columns)
    over = figure.traces[2]["customdata"]
    assert format_log10(float(chosen.log10[0])) in over


def test_decades_use_log_axis_if_any_value_is_in_range():
    """As soon as one of them is within reach; what is further down is said in words."""
    for logs, kind in (([-49.0, -400.0], "log"), ([-51.0], None), ([46.0], None), ([44.0], "log"),
                       ([-np.inf, -60.0], None), ([-np.inf], "log"), ([], "log"),
                       ([-400.0, 400.0], None)):  # fmt: skip
        axis = decades(np.array(logs), "size")
        assert axis.get("type") == kind, logs
        finite = [log for log in logs if np.isfinite(log)]
        if kind is None:
            assert axis["range"][0] < min(finite) <= max(finite) < axis["range"][1]
            assert axis["range"][0] <= axis["tickvals"][0] <= axis["range"][1]


def test_path_bars_running_sum_ends_at_autograd():
    result = vanishing_gradients.paths(GradientExperiment("linear", 6, 4, gain=0.8, loss="mean"), 1)
    figure = path_bars(result, printed=True)
    sound(figure)
    bars, total, printed, printed_total, autograd, stretch, error = figure.data
    np.testing.assert_allclose(stretch.y, result.stretch, rtol=1e-12)
    np.testing.assert_allclose(error.y, result.error, rtol=1e-12)
    assert bars.type == printed.type == "bar"
    assert total.y[-1] == pytest.approx(autograd.y[0], rel=1e-12)
    assert abs(printed_total.y[-1] - autograd.y[0]) > 0.1 * autograd.y[0]
    assert len(bars.y) == 6


@pytest.mark.parametrize("taken", [0, 1, 4])
def test_unrolled_graph_shows_only_propagated_gradients(taken):
    recursion = vanishing_gradients.recursion(GradientExperiment("rnn", 4, 2, loss="mean"))
    figure = unrolled_graph(recursion, taken)
    sound(figure)
    messages = [note.hovertext or "" for note in figure.layout.annotations]
    assert sum("∂h" in item for item in messages) == 4
    assert sum(item.endswith("?") for item in messages) == 4 - taken
    numbers = table(figure)
    lengths = numbers[numbers["series"] == "‖∂J/∂ht‖"].iloc[:, -1]
    np.testing.assert_array_equal(lengths, np.linalg.norm(recursion.total, axis=1)[4 - taken :])


def test_unrolled_graph_arrows_are_as_wide_as_what_they_carry():
    recursion = vanishing_gradients.recursion(
        GradientExperiment("rnn", 5, 2, loss="mean", gain=1.2)
    )
    arrows = [note for note in unrolled_graph(recursion, 5).layout.annotations if note.showarrow]
    thinnest = min(arrow.arrowwidth for arrow in arrows)
    own = [a.arrowwidth - thinnest for a in arrows if a.ax == a.x]
    carried = [a.arrowwidth - thinnest for a in arrows if a.ax > a.x]
    norms = [recursion.own_error(t) for t in range(1, 6)] + [
        recursion.carried(t) for t in range(1, 5)
    ]
    widths = np.array(own + carried)
    np.testing.assert_allclose(widths / widths.max(), np.array(norms) / max(norms), rtol=1e-9)
    assert all(a.arrowwidth == thinnest for a in arrows if a.ax < a.x)  # forward: no error


def test_unrolled_graph_is_a_map_of_its_states():
    recursion = vanishing_gradients.recursion(GradientExperiment("rnn", 4, 2, loss="mean"))
    parts = unrolled_graph(recursion, 2).layout.meta["map"]["parts"]
    for taken in range(1, 5):
        t = 4 - taken + 1
        left, right, _, _ = parts[taken]["box"]
        assert left < t < right
        known = number(recursion.length(t)) if taken <= 2 else "?"
        assert parts[taken]["label"] == f"h_{t}: ‖∂J/∂h_{t}‖ = {known}"


@pytest.mark.parametrize("t", [1, 3, 4])
def test_recursion_step_has_balanced_braces_and_expected_vectors(t):
    recursion = vanishing_gradients.recursion(GradientExperiment("rnn", 4, 2, loss="mean"))
    latex = recursion_step(recursion, t)
    assert latex.count("{") == latex.count("}")
    assert latex.count(r"\begin{pmatrix}") == (2 if t == 4 else 4)


def test_pair_maps_send_numbers_instead_of_hover_text():
    """Ten thousand cells in words took 20 ms to write and were up to 400 kB: for each student who
    comes to the map, and again after each press above it."""
    experiment = GradientExperiment("rnn", 100, 8, loss="mean")
    pairs = pair_map(
        vanishing_gradients.pair_norms(experiment),
        vanishing_gradients.pair_spectrum(experiment, 40, 80), 40, 80, "rnn",
        vanishing_gradients.spectrum("gaussian", 8, 0.9, 1),
    )  # fmt: skip
    terms, result = (
        vanishing_gradients.terms(experiment, 10),
        vanishing_gradients.truncation(experiment),
    )
    cut = kept_and_lost(terms, result, 10)
    for figure, maps in ((pairs, 1), (cut, 2)):
        heat = [trace for trace in figure.data if trace.type == "heatmap"]
        assert len(heat) == maps
        for trace in heat:
            assert np.asarray(trace.z).shape == (100, 100)
            assert trace.text is None
            assert trace.customdata is None
            assert "10<sup>%{z:.2f}</sup>" in trace.hovertemplate  # z is log10, unclipped
        assert len(figure.to_json()) < maps * 140_000
    for trace, part in zip(
        cut.data, (terms.is_included, ~terms.is_included), strict=False
    ):  # the lost ones gray
        expected = np.where(part & np.isfinite(terms.log10), terms.log10, np.nan)
        np.testing.assert_array_equal(np.asarray(trace.z), expected)
    sound(kept_and_lost(vanishing_gradients.terms(experiment, 100), result, 100))  # nothing is lost


def test_mean_of_draws_and_clipping_figures_match_values():
    randomized = vanishing_gradients.randomized(
        GradientExperiment("rnn", 20, 8, loss="mean"), 0.2, 64
    )
    figure = mean_of_draws(randomized)
    sound(figure)
    np.testing.assert_array_equal(figure.data[0].y, randomized.error)
    free, clipped = (
        vanishing_gradients.descend("linear", 1.0, None),
        vanishing_gradients.descend("linear", 1.0, 1.0),
    )
    figure = with_and_without_clipping(free, clipped, 1.0)
    sound(figure)
    named = [t.text[0] for t in figure.data if t.mode == "markers+text"]
    assert len(named) == 1
    assert str(free.left_float32) in named[0]


@pytest.mark.parametrize(("update", "reset"), [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (0.1, 0.7)])
def test_gated_jacobian_draws_eigenvalues_and_powers(update, reset):
    simplified_gru = vanishing_gradients.simplified_gru(update, reset, "gaussian", 8, 1.2, 1, 20)
    figure = gated_jacobian(simplified_gru, update, reset)
    sound(figure)
    np.testing.assert_array_equal(figure.data[2].x, simplified_gru.eigenvalues.real)
    if update == 0:
        assert set(figure.data[4].y) == {1.0}


def test_race_course_draws_accuracies_and_final_gradients():
    done = race_of()
    figure = race_course(done)
    named = {trace.name: trace for trace in figure.data}
    np.testing.assert_array_equal(named["GRU"].y, 100 * done.accuracy[:, 2])
    slopes = np.log10(np.asarray(named["GRU, gradient"].y))
    np.testing.assert_allclose(slopes, done.log10_gradients[-1, 2], rtol=1e-6)
    levels = [trace.y[0] for trace in figure.data if trace.line.color == figure.data[0].line.color]
    assert levels == [100 * LEARNED, 100 / SYMBOLS]
    for share in done.accuracy[-1]:
        assert f"{100 * share:.1f}%" in figure.alt
    adding = race_course(recall.compare(recall.RecallSettings("adding", 2, ("gru",), updates=1)))
    assert len(adding.data) == 3  # a cell on both sides; nobody guesses among four symbols


def test_race_progress_matches_race_course_when_finished():
    done = race_of()
    course = race_course(done)
    assert race_progress(reports(done), done.settings) == course
    early = race_progress(reports(done)[:1], done.settings)
    assert list(early.data[2].x) == [0]
    assert early.axis("x") == course.axis("x")  # it does not move while curves grow


def test_running_race_is_replayed_with_each_report_once():
    """A slow report is repeated; what a reader looks at is not replaced by later ones."""
    updates, short = np.array(moments(600)), race_of(time=201)
    again = np.arange(len(updates)) % len(short.updates)
    done = replace(
        short, updates=updates, accuracy=short.accuracy[again], loss=short.loss[again],
        log10_gradients=short.log10_gradients[again],
    )  # fmt: skip
    first, second, *later = reports(done)
    begun = race_progress([first, first, second, second], done.settings)
    assert list(begun.data[2].x) == [0, second.update]
    trail = [first, second, *later]
    learned = [
        race_progress(trail[:count], done.settings).page["meta"]["replay"]["learned"]
        for count in (1, 20, 35, len(trail))
    ]
    for early in learned[:-1]:
        for part, whole in zip(early, learned[-1], strict=True):
            kept = len(part["updates"])
            np.testing.assert_array_equal(part["updates"], whole["updates"][:kept])
            np.testing.assert_array_equal(part["y"], whole["y"][:kept])
    assert sum(part["y"].nbytes for part in learned[-1]) <= 3 * 20_000


def test_race_progress_draws_zero_gradients_as_gaps():
    settings = recall.RecallSettings(delay=2, cells=("rnn", "gru"), updates=10)
    slopes = np.array([[-400.0, -np.inf, 0.0], [-2.0, -1.0, 0.0]])
    report = recall.ComparisonReport(5, 10, np.array([0.3, 1.0]), np.ones(2), slopes)
    figure = race_progress([report], settings)
    sound(figure)
    assert np.isnan(np.asarray(figure.data[3].y, float)[:2]).all()


def test_accuracy_by_delay_ends_at_failed_cell():
    done = search_of()
    figure = accuracy_by_delay(done)
    for c, line in enumerate(figure.data):
        tried = done.tried[:, c]
        assert list(line.x) == list(done.delays[tried])
        np.testing.assert_array_equal(line.y, 100 * done.accuracy[tried, c])
        signs = ["circle" if learned else "x" for learned in done.learned[tried, c]]
        assert list(line.marker.symbol) == signs
    rnn, lstm, gru = done.longest
    assert rnn < gru  # one of them failed
    assert f"RNN: {rnn}; LSTM: {lstm}; GRU: {gru}" in figure.alt


def test_accuracy_by_delay_progress_shows_latest_report_per_delay():
    done = search_of()
    trail = rungs(done)
    begun = replace(trail[1], accuracy=np.array([0.2, np.nan, 0.5]), update=0)
    late, full = (
        accuracy_by_delay_progress([trail[0], begun, *trail[1:]], done.settings),
        accuracy_by_delay(done),
    )
    assert late.alt == full.alt
    for item, other in zip(late.data, full.data, strict=True):
        assert (*item.x, *item.y, *item.marker.symbol) == (*other.x, *other.y, *other.marker.symbol)
    early = accuracy_by_delay_progress([trail[0], begun], done.settings)
    assert [list(line.x) for line in early.data] == [[1, 2], [1], [1, 2]]
    nobody = accuracy_by_delay_progress([replace(begun, delay=1)], done.settings)
    assert "RNN: –; LSTM: –; GRU: –" in nobody.alt
