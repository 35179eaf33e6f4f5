"""Trainings, searches, comparisons: what is drawn is what was found, at every size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.bert_accuracy.counting import (
    BERT_BASE,
    BERT_LARGE,
    DISTILBERT,
    MINILM,
    count,
    groups,
)
from seqviz.compute.bert_accuracy.reported import CURVES, REPORTED
from seqviz.compute.bert_accuracy.results import TuneSettings
from seqviz.core.units import unbroken
from seqviz.figures.bert_accuracy.compare import (
    confusion_matrices,
    paired_answers,
    running_accuracy,
)
from seqviz.figures.bert_accuracy.counts import parameter_counts
from seqviz.figures.bert_accuracy.curves import learning_curves
from seqviz.figures.bert_accuracy.modes import train_and_eval
from seqviz.figures.bert_accuracy.progress import training_progress
from seqviz.figures.bert_accuracy.regimes import system_accuracies
from seqviz.figures.bert_accuracy.search import best_so_far, search_trials
from seqviz.plotting.style import LIGHT
from seqviz.plotting.table import table
from seqviz.stats.proportions import Paired, mcnemar, of, of_share, running
from testing.figure_examples.bert_accuracy import (
    NAMES,
    RATES,
    baseline,
    confusions,
    modes_of,
    right,
    searched,
    surface,
    systems,
    trail,
    truth,
    tuned,
)
from tests.figures.trace_helpers import said as notes
from tests.figures.trace_helpers import sound
from tests.figures.trace_helpers import trace as named

ESCAPED = "head &lt;b&gt;&amp;"


def with_numbers(figure):
    """The trace of the discs that say which trial it was."""
    (result,) = [t for t in figure.data if t.type == "scatter" and t.mode == "markers+text"]
    return result


# --- systems --------------------------------------------------------------------------------------


def test_system_bars_show_mean_and_interval_with_best_last():
    every_system = systems()
    figure = system_accuracies(every_system, truth(), "all", baseline(), REPORTED)
    bars = [t for t in figure.data if t.type == "bar" and t.xaxis in (None, "x")]
    assert len(bars) == len(every_system)
    means = sorted(((item.probability >= 0.5) == truth()).mean() for item in every_system)
    for position, (bar, mean) in enumerate(zip(bars, means, strict=True), 1):
        assert bar.y == (position,)
        assert bar.x[0] == pytest.approx(100 * mean)
        expected = of_share(mean, 2000)
        assert bar.x[0] + bar.error_x.array[0] == pytest.approx(100 * expected.high)
        assert bar.x[0] - bar.error_x.arrayminus[0] == pytest.approx(100 * expected.low)
    first, last = figure.layout.yaxis.range
    assert last < 1 < len(bars) < first  # the first row is above


def test_system_bars_highlight_chosen_system():
    figure = system_accuracies(systems(), truth(), "lora", baseline())
    opacity = {t.name: t.opacity for t in figure.data if t.type == "bar"}
    assert opacity.pop("LoRA") == 1
    assert max(opacity.values()) < 0.6
    assert "<b>LoRA</b>" in figure.layout.yaxis.ticktext


def test_system_bars_draw_each_run_as_dot():
    result = {system.system: system for system in systems()}
    figure = system_accuracies(tuple(result.values()), truth(), "all", baseline())
    dots = named(figure, "head on the mean, runs")
    expected = 100 * ((result["head_mean"].probability >= 0.5) == truth()).mean(axis=1)
    np.testing.assert_allclose(dots.x, expected)
    (position,) = named(figure, "head on the mean").y
    assert np.abs(np.asarray(dots.y) - position).max() < 0.31  # within the bar
    assert not [t for t in figure.data if t.name == "GRU, runs"]  # a single run is the bar itself


def test_system_bars_separate_and_hatch_reported_results():
    figure = system_accuracies(systems(), truth(), "all", baseline(), REPORTED)
    theirs = [t for t in figure.data if t.xaxis == "x2"]
    assert [t.x[0] for t in theirs] == sorted(100 * item.accuracy for item in REPORTED)
    assert all(t.marker.pattern.shape == "/" for t in theirs)
    assert not any(
        t.marker.pattern.shape for t in figure.data if t.xaxis == "x" and t.type == "bar"
    )
    existing = next(t for t in theirs if t.name == "all weights, bert-base")
    expected = of(23458, 25000)
    assert existing.x[0] + existing.error_x.array[0] == pytest.approx(100 * expected.high)
    unknown = next(t for t in theirs if t.name == "earlier chapter, RNN")
    assert np.isnan(unknown.error_x.array[0])
    assert "n not given" in unknown.hovertemplate
    assert "reported in textbooks, not by us" in notes(figure)
    assert not [
        t for t in system_accuracies(systems(), truth(), "all", baseline()).data if t.xaxis == "x2"
    ]


# --- learning -------------------------------------------------------------------------------------


def test_learning_curves_draw_thick_mean_and_thin_run_lines():
    result = tuned()
    figure = learning_curves(result, None, baseline())
    np.testing.assert_allclose(named(figure, "training", "x").y, result.loss.mean(0))
    np.testing.assert_allclose(named(figure, "training", "x2").y, 100 * result.accuracy.mean(0))
    strong = named(figure, "validation", "x2")
    np.testing.assert_allclose(strong.y, 100 * result.validation.mean(0))
    thin = named(figure, "validation, run 2", "x2")
    np.testing.assert_array_equal(thin.y, 100 * result.validation[1])
    assert thin.line.width < strong.line.width
    assert named(figure, "training", "x").line.dash == "dash"
    assert strong.line.dash is None
    assert figure.data[0].name == "training"
    assert len(figure.data[0].x) == 6
    assert figure.alt.endswith(". Always the more frequent class of the training sentences: 49.9%.")


def test_learning_curves_band_matches_validation_interval():
    result = tuned(1)
    band = next(t for t in learning_curves(result, n=200).data if not t.name)
    low, high = np.split(np.asarray(band.y), 2)
    for epoch, share in enumerate(result.validation[0]):
        expected = of_share(share, 200)
        assert low[epoch] == pytest.approx(100 * expected.low)
        assert high[::-1][epoch] == pytest.approx(100 * expected.high)


def test_learning_curves_mark_best_epoch_in_both_panels():
    result = tuned()
    best = int(np.argmax(result.validation.mean(0)))
    figure = learning_curves(result)
    ring = named(figure, "best validation accuracy", "x2")
    assert (ring.x[0], ring.y[0]) == (best, 100 * result.validation.mean(0)[best])
    assert [shape.x0 for shape in figure.layout.shapes] == [best, best]
    assert any(text.startswith(f"best after epoch {best}: ") for text in notes(figure))


def test_learning_curves_draw_reported_curve_dotted_from_epoch_one():
    curve = CURVES[1]
    figure = learning_curves(tuned(1), curve)
    loss = named(figure, "training, reported in a textbook", "x")
    np.testing.assert_array_equal(loss.x, [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(loss.y, curve.loss)
    accuracy = named(figure, "training, reported in a textbook", "x2")
    np.testing.assert_array_equal(accuracy.y, 100 * curve.train)
    assert loss.line.dash == accuracy.line.dash == "dot"
    assert notes(figure).count("in a textbook") == 2
    low, high = figure.layout.yaxis2.range
    assert low < 100 * curve.train.min()
    assert high > 100 * curve.train.max()
    # A text without losses has no line there; its validation is drawn.
    other = learning_curves(tuned(1), CURVES[2])
    assert [t.xaxis for t in other.data if "text" in (t.name or "")] == ["x2", "x2"]
    sound(other)


@pytest.mark.parametrize("epochs", [0, 1, 5, 20])
@pytest.mark.parametrize("runs", [1, 2])
def test_learning_curves_render_any_number_of_epochs_and_runs(epochs, runs):
    figure = learning_curves(tuned(runs, epochs), None, baseline())
    sound(figure)
    assert figure.layout.xaxis.range[1] >= max(epochs, 1)
    assert bool([t for t in figure.data if "run" in (t.name or "")]) == (runs > 1)
    for trace in figure.data:
        if trace.mode != "lines" or not trace.name:
            assert np.max(trace.x) <= max(epochs, 1)


def test_learning_curves_render_without_validation():
    result = tuned()
    figure = learning_curves(replace(result, validation=np.full_like(result.validation, np.nan)))
    sound(figure)
    assert not figure.layout.shapes
    assert "validation" not in notes(figure)


def test_training_progress_keeps_axes_fixed():
    settings = TuneSettings(regime="lora", epochs=3, runs=2)
    ranges = set()
    for until in (0.01, 0.3, 0.55, 1.0):
        figure = training_progress(trail(settings, until), settings, baseline())
        ranges.add((figure.layout.xaxis.range, figure.layout.xaxis2.range,
                    figure.layout.yaxis2.range))  # fmt: skip
        sound(figure)
    assert len(ranges) == 1
    (((_, last), *_),) = ranges
    assert 684 <= last < 720  # three epochs of 228 batches


def test_training_progress_matches_reports():
    settings = TuneSettings(regime="all", epochs=2)
    records = trail(settings, 1.0)
    figure = training_progress(records, settings)
    loss, accuracy = named(figure, "training", "x"), named(figure, "training", "x2")
    np.testing.assert_array_equal(loss.x, [record.step for record in records])
    np.testing.assert_array_equal(loss.y, [record.loss for record in records])
    np.testing.assert_array_equal(accuracy.y, [100 * record.accuracy for record in records])
    finite = [record for record in records if np.isfinite(record.validation)]
    points = named(figure, "validation", "x2")
    assert list(points.x) == [record.step for record in finite]
    assert len(points.x) == 2
    expected = of_share(finite[0].validation, 800)
    assert points.y[0] + points.error_y.array[0] == pytest.approx(100 * expected.high)


def test_training_progress_fades_earlier_runs():
    settings = TuneSettings(epochs=2, runs=3)
    figure = training_progress(trail(settings, 0.9), settings)
    opacity = {t.name: t.opacity for t in figure.data if t.name.startswith("training")}
    assert opacity["training, run 3"] == 1
    assert opacity["training, run 1"] == opacity["training, run 2"] < 0.5
    assert "run 3 of 3" in notes(figure)


@pytest.mark.parametrize("count", [0, 1])
def test_training_progress_renders_with_zero_or_one_report(count):
    settings = TuneSettings(epochs=2)
    figure = training_progress(trail(settings)[:count], settings)
    sound(figure)
    assert {t.xaxis or "x" for t in figure.data} == {"x", "x2"}  # no trace, no axes


# --- modes ----------------------------------------------------------------------------------------


def test_modes_figure_draws_repeats_as_dots_and_states_gradients():
    mode_comparison = modes_of(8)
    figure = train_and_eval(mode_comparison)
    for row, name in enumerate(("evaluation mode, eval()", "training mode, train()")):
        np.testing.assert_allclose(named(figure, name).x, 100 * mode_comparison.probability[row])
        assert len(set(named(figure, name).y)) == 8
    words = [text for text in notes(figure) if "gradient" in text]
    assert len(words) == 2
    for text in words:
        assert "gradient: <b>yes</b>" in text
        assert "under no_grad(): <b>no</b>" in text
    assert "8 times: <b>83.0%</b>" in words[0]
    other = train_and_eval(
        replace(mode_comparison, gradient=np.array([[False, False], [True, False]]))
    )
    assert "gradient: <b>no</b>" in next(text for text in notes(other) if "gradient" in text)
    assert "computed in: train();" in other.alt


# --- search ---------------------------------------------------------------------------------------


def test_search_trials_draw_surface_and_trials():
    result, existing = searched(), surface()
    figure = search_trials(result, existing)
    heat, trials = named(figure, "Validation accuracy (%)"), named(figure, "trials")
    np.testing.assert_array_equal(heat.z, 100 * existing.validation)
    np.testing.assert_allclose(heat.x, np.log10(RATES))
    np.testing.assert_array_equal(trials.x, np.log10(result.rate))
    assert [figure.layout.yaxis.ticktext[int(y) - 1] for y in trials.y] == [
        str(b) for b in result.batch
    ]
    low, high = figure.layout.xaxis.range
    assert low < -5
    assert high > -1
    assert figure.layout.xaxis.ticktext[0] == "10<sup>−5</sup>"


def test_search_trials_are_numbered_and_best_is_ringed():
    result = searched()
    figure = search_trials(result, surface())
    discs = with_numbers(figure)
    assert list(discs.text) == [str(k) for k in range(1, 13)]
    (ring,) = [t for t in figure.data if t.type == "scatter" and t.marker.color == LIGHT.highlight]
    assert (ring.x[0], ring.y[0]) == (discs.x[result.best], discs.y[result.best])
    best = of_share(result.validation.max(), 800)
    (message,) = notes(figure)
    assert f"trial {result.best + 1}" in message
    assert unbroken(f"[{100 * best.low:.1f}, {100 * best.high:.1f}], n = 800") in message


def test_search_trials_spread_overlapping_discs():
    result = searched(trials=3)
    same = replace(result, rate=np.full(3, 1e-3), batch=np.full(3, 32))
    discs = with_numbers(search_trials(same, surface()))
    assert len(set(discs.y)) == 3
    assert np.abs(np.asarray(discs.y) - 2).max() < 0.5  # within the row
    np.testing.assert_array_equal(named(search_trials(same, surface()), "trials").y, [2, 2, 2])


@pytest.mark.parametrize("trials", [0, 1, 2, 30])
@pytest.mark.parametrize("known", [None, surface()])
def test_search_trials_render_any_number_of_trials(trials, known):
    result = searched("random", trials)
    figure = search_trials(result, known)
    sound(figure)
    positions = np.log10(result.rate)
    low, high = figure.layout.xaxis.range
    assert all(low < position < high for position in positions)
    sound(best_so_far((result,)))


def test_best_so_far_lines_never_fall_and_end_at_best():
    result = tuple(searched(method) for method in ("grid", "random", "bayes"))
    figure = best_so_far(result)
    names = ("grid search", "random search", "Bayesian search")
    for item, name in zip(result, names, strict=True):
        line = named(figure, name)
        assert (np.diff(line.y) >= 0).all()
        assert line.y[-1] == 100 * item.validation.max()
        np.testing.assert_array_equal(named(figure, f"{name}, trials").y, 100 * item.validation)
        end = named(figure, f"{name}, best")
        assert end.x[0] > 12
        assert end.y[0] - end.error_y.arrayminus[0] == pytest.approx(
            100 * of_share(item.validation.max(), 800).low
        )
    assert len({named(figure, name).line.dash for name in names}) == 3
    low, high = figure.layout.yaxis.range
    for name in names:
        end = named(figure, f"{name}, best")
        assert low < end.y[0] - end.error_y.arrayminus[0]
        assert end.y[0] + end.error_y.array[0] < high


# --- two systems ----------------------------------------------------------------------------------


def test_running_accuracy_draws_lines_bands_and_selected_n():
    a, b = running(right(0.79, 8)), running(right(0.87, 9))
    figure = running_accuracy(a, b, NAMES, 300)
    for result, name in ((a, ESCAPED), (b, "all weights")):
        np.testing.assert_array_equal(named(figure, name).y, 100 * result.share)
        mark = named(figure, f"{name}, first 300")
        assert (mark.x[0], mark.y[0]) == (300, 100 * result.share[299])
    for band, result in zip([t for t in figure.data if not t.name], (a, b), strict=True):
        np.testing.assert_allclose(band.y, 100 * np.concatenate([result.low, result.high[::-1]]))
    (line,) = figure.layout.shapes
    assert line.x0 == line.x1 == 300
    (message,) = [text for text in notes(figure) if unbroken("n = 300") in text]
    assert message.startswith(f"{ESCAPED}: {100 * a.share[299]:.1f}%")
    assert {ESCAPED, "all weights"} <= set(notes(figure))
    assert named(figure, ESCAPED).line.dash != named(figure, "all weights").line.dash


@pytest.mark.parametrize("n", [0, 26])
def test_running_accuracy_rejects_n_out_of_range(n):
    a = running(right(0.8, 8, 25))
    with pytest.raises(ValueError, match=f"not {n}"):
        running_accuracy(a, a, NAMES, n)


def test_running_accuracy_truncates_long_name():
    a = running(right(0.8, 8, 25))
    figure = running_accuracy(a, a, ("x" * 80, "y"), 5)
    assert "x" * 21 + "…" in notes(figure)


def test_paired_tiles_match_mcnemar_counts():
    paired = mcnemar(right(0.79, 8), right(0.87, 9))
    figure = paired_answers(paired, NAMES)
    np.testing.assert_array_equal(
        figure.data[0].z, [[paired.both, paired.only_first], [paired.only_second, paired.neither]]
    )
    counts = (paired.both, paired.only_first, paired.only_second, paired.neither)
    words = (
        "both right",
        f"only<br>{ESCAPED}<br>is right",
        "only<br>all weights<br>is right",
        "neither is right",
    )
    positions = ((1, 1), (2, 1), (1, 2), (2, 2))
    for count_, message, position in zip(counts, words, positions, strict=True):
        (tile,) = [mark for mark in figure.layout.annotations if message in mark.text]
        assert f"<b>{count_:,}</b>" in tile.text
        assert f"{100 * count_ / paired.n:.1f}%" in tile.text
        assert (tile.x, tile.y) == position
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]  # rows from above
    framed = [(s.x0 > 1.5, s.y0 > 1.5) for s in figure.layout.shapes if s.line.width]
    assert framed == [(True, False), (False, True)]  # where just one is right
    assert any(
        f"{paired.only_first + paired.only_second} of 2,000" in text for text in notes(figure)
    )


@pytest.mark.parametrize(
    ("found", "p"),
    [(Paired(3, 0, 0, 1, 4, 1.0), unbroken("p = 1.00")), (Paired(0, 0, 0, 0, 0, 1.0),
     unbroken("p = 1.00")),
     (Paired(10, 61, 38, 5, 114, 0.0262), unbroken("p = 0.0262")),
     (Paired(0, 90, 1, 0, 91, 1e-9), unbroken("p < 0.001"))],
)  # fmt: skip
def test_paired_figure_formats_p_value(found, p):
    figure = paired_answers(found, NAMES)
    sound(figure)
    assert any(text.endswith(p) for text in notes(figure))
    assert p in figure.alt


def test_confusion_matrices_show_counts_and_row_percent():
    first, second = confusions()
    figure = confusion_matrices(first, second, NAMES)
    for trace, result in zip(figure.data, (first, second), strict=True):
        np.testing.assert_array_equal(trace.z, result.counts)
        for row in (0, 1):
            for column in (0, 1):
                share = 100 * result.counts[row, column] / result.counts[row].sum()
                assert trace.text[row][column] == (
                    f"<b>{result.counts[row, column]:,}</b><br>{share:.1f}%"
                )
        assert trace.zmax == max(first.counts.max(), second.counts.max())
    accuracy = 100 * np.trace(first.counts) / 2000
    assert any(text.startswith(f"{ESCAPED}: {accuracy:.1f}%") for text in notes(figure))
    assert list(figure.layout.xaxis.ticktext) == ["negative", "positive"]
    assert {"Actual class: name", "Predicted class: name"} <= set(table(figure).columns)


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [MINILM, DISTILBERT, BERT_BASE, BERT_LARGE])
@pytest.mark.parametrize("regime", ["random", "head", "top", "lora", "all"])
def test_parameter_counts_bars_sum_to_total(config, regime):
    result = count(config, regime)
    figure = parameter_counts(result, "a network")
    rendered = {t.name: round(1e6 * sum(t.x)) for t in figure.data}
    assert rendered.get("trained", 0) == result.trainable
    assert rendered.get("frozen", 0) == result.total - result.trainable
    assert len(figure.layout.yaxis.ticktext) <= 14
    assert f"<b>{result.trainable:,}</b> of {result.total:,}" in figure.layout.title.text
    for trace in figure.data:
        assert bool(trace.marker.pattern.shape) == (trace.name == "frozen")
    assert figure.layout.xaxis.range[0] == 0  # lengths of bars compare
    assert figure.layout.xaxis.type != "log"
    sound(figure)


def test_parameter_counts_list_layers_separately_if_few():
    figure = parameter_counts(count(MINILM, "top", layers=2), "MiniLM")
    frozen, trained = named(figure, "frozen"), named(figure, "trained")
    names = figure.layout.yaxis.ticktext
    assert [names[y - 1] for y in trained.y][:2] == ["layer 5", "layer 6"]
    assert "classifier" in [names[y - 1] for y in trained.y]
    assert [names[y - 1] for y in frozen.y][:4] == [
        "word table", "position table", "segment table", "embedding norm",
    ]  # fmt: skip
    by_name = {group.name: group.total for group in groups(count(MINILM, "top", layers=2))}
    assert 1e6 * trained.x[0] == pytest.approx(by_name["layer 5"], abs=0.5)
    assert 1e6 * frozen.x[4] == pytest.approx(by_name["layer 1"], abs=0.5)


def test_parameter_counts_group_equal_layers_if_many():
    figure = parameter_counts(count(BERT_BASE, "top", layers=2), "bert-base")
    layers = [name for name in figure.layout.yaxis.ticktext if "layer" in name]
    assert layers == ["layers 1–10", "layers 11–12"]
    assert [mark for mark in notes(figure) if mark == f"{10 * 7_087_872:,}"]
