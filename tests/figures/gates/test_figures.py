"""Figures of the gates lesson: what went in is what is drawn, at the extremes too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.gates.activations import SIGNED, activation, symbols
from seqviz.compute.gates.counting import Parameters, ParameterTable
from seqviz.compute.gates.observation import Expectation, Observation, VariantComparison
from seqviz.compute.gates.searching import UnitSearch
from seqviz.compute.gates.tasks import EXAMPLES
from seqviz.compute.gates.tiny_results import Tiny, TinyReport, TinySettings
from seqviz.compute.recurrent import LSTMTrace
from seqviz.core.i18n import Text, number
from seqviz.core.units import unbroken
from seqviz.figures.gates.effects import distance_by_variant, free_and_forced
from seqviz.figures.gates.maps import gate_map, gate_saturation
from seqviz.figures.gates.networks import (
    agreement,
    parameter_bars,
    training_curve,
    training_progress,
)
from seqviz.figures.gates.searching import found_and_scored
from seqviz.figures.gates.style import LOOKS, visible_symbols
from seqviz.figures.gates.traces import unit_traces
from seqviz.plotting.figure import Array, joined
from seqviz.plotting.style import Style
from testing.fake import fake
from testing.figure_examples.gates import observed
from tests.figures.trace_helpers import said as labels
from tests.figures.trace_helpers import sound

ZERO = np.zeros(5)


def seen(values, symbol="f", order=None, tokens=None) -> Observation:
    """A network whose gate or state has these values, shape (time, unit)."""
    steps, units = values.shape
    return fake(
        Observation, cell="lstm", kind="latch", pieces=tuple(tokens or ["a"] * steps),
        trace=observed("lstm").trace, symbol=symbol, values=values, unknown=np.zeros(steps, bool),
        order=np.arange(units) if order is None else order, probability=np.full(steps, 0.5),
    )  # fmt: skip


def one_unit(steps: int = 5, p=None, **parts) -> Observation:
    """An LSTM of one unit: its gates and states by the names of the trace, else zeros."""
    result = {
        "inputs": np.zeros((steps, 1)),
        "preactivation": np.zeros((steps, 4, 1)),
        **dict.fromkeys(("hidden", "cell_state"), np.zeros((steps + 1, 1))),
        **dict.fromkeys(("input_gate", "forget_gate", "candidate", "output_gate"),
                        np.zeros((steps, 1))),
    }  # fmt: skip
    for name, values in parts.items():
        first = [0.0] if name in ("hidden", "cell_state") else []
        result[name] = np.array([*first, *np.broadcast_to(values, steps)])[:, None]
    trace = LSTMTrace(**result)
    read = seen(trace.hidden[1:], "h")
    return replace(
        read, trace=trace, probability=read.probability if p is None else np.asarray(p, float)
    )


def test_visible_symbols_replace_whitespace():
    assert visible_symbols(("a", " ", "\n", "<b>", "")) == ("a", "␣", "⏎", "<b>", "")


# --- maps -----------------------------------------------------------------------------------------


def test_gate_map_orders_rows_from_top():
    values = observed("lstm", "f").values
    order = np.array([4, 0, 5, 2, 1, 3])
    figure = gate_map(seen(values, order=order), 3, 9)
    (heat,) = figure.data
    np.testing.assert_array_equal(np.asarray(heat.z), values.T[order].astype(np.float32))
    assert list(heat.y) == [1, 2, 3, 4, 5, 6]
    assert any(note.text.startswith("row 4 is unit 3;") for note in figure.layout.annotations)
    top, bottom = figure.layout.yaxis.range[::-1]
    assert top < 1 < 6 < bottom
    assert list(figure.layout.yaxis.ticktext) == ["5", "1", "6", "3", "2", "4"]
    assert (heat.zmin, heat.zmax, heat.meta) == (0, 1, "pick")
    row, column = figure.layout.shapes
    assert (row.y0, row.y1) == (3.5, 4.5)  # unit 3 is in the fourth row
    assert (column.x0, column.x1) == (8.5, 9.5)
    assert any(number(float(values[8, 2])) in words for words in labels(figure))


def test_gate_map_uses_symmetric_colors_for_states():
    state = observed("lstm", "c")
    (heat,) = gate_map(state, 1, 1).data
    assert heat.zmax == -heat.zmin == pytest.approx(np.abs(state.values).max(), rel=1e-6)  # float32
    assert heat.colorscale[5][1].endswith("0.00)")  # nothing at zero: the page itself


def test_gate_map_clips_color_range_at_outlier():
    values = np.random.RandomState(0).uniform(-1, 1, (40, 30))
    values[3:7, 7] = -50
    (heat,) = gate_map(seen(values, "c"), 8, 3).data
    assert 0.9 < heat.zmax == -heat.zmin < 1.01
    assert heat.colorbar.ticktext[0].startswith("≤ −")
    assert heat.colorbar.ticktext[-1].startswith("≥ ")
    assert np.asarray(heat.z).min() == -50  # the value itself stays: on hover and in the table


@pytest.mark.parametrize("symbol", ["h", "f"])
@pytest.mark.parametrize(("steps", "units"), [(1, 1), (1, 6), (400, 1), (400, 256)])
def test_gate_map_renders_any_size(steps, units, symbol):
    figure = gate_map(seen(np.zeros((steps, units)), symbol, tokens="<" * steps), units, steps)
    sound(figure)
    (heat,) = figure.data
    assert heat.zmin < heat.zmax  # also where all values are equal
    assert np.asarray(heat.z).dtype == np.float32
    assert len(figure.to_json()) < 8 * steps * units + 60_000  # typed, not a list of numbers


def test_gate_map_serializes_array_once_for_all_steps():
    observed, other = (seen(np.random.RandomState(k).rand(148, 256), "f") for k in (0, 1))
    figures = [gate_map(observed, 8, step) for step in (3, 4)]
    first, again = ([p for p in f.parts() if isinstance(p, Array)] for f in figures)
    assert len(first) == 1
    assert first[0] is again[0]
    (apart,) = (p for p in gate_map(other, 8, 3).parts() if isinstance(p, Array))
    assert apart.name != first[0].name
    assert joined(figures[0].parts()).decode() == figures[0].to_json() != figures[1].to_json()


def test_gate_map_escapes_tokens_on_axis_and_hover():
    few = gate_map(seen(np.zeros((3, 1)), tokens=["<b>", "&", "x"]), 1, 1)
    assert list(few.layout.xaxis.ticktext) == ["&lt;b&gt;", "&amp;", "x"]
    figure = gate_map(seen(np.zeros((61, 1)), tokens=["<i>"] * 61), 1, 1)
    assert set(figure.layout.xaxis.ticktext) <= {str(k) for k in range(1, 62)}
    assert figure.layout.xaxis.labelalias == {str(k): "&lt;i&gt;" for k in range(1, 62)}
    # A tick on a step itself would show its number on hover in place of its token.
    assert not np.isin(figure.layout.xaxis.tickvals, np.arange(62)).any()


@pytest.mark.parametrize(("token", "room"), [("e", 60), ("word", 40)])
def test_gate_map_labels_tokens_only_if_they_fit(token, room):
    for steps in (1, room, room + 1):
        figure = gate_map(seen(np.zeros((steps, 1)), tokens=[token] * steps), 1, 1)
        assert (token in figure.layout.xaxis.ticktext) == (steps <= room)


def test_gate_saturation_counts_steps_and_bins_time_constants(monkeypatch):
    keeps = np.array([0.0, 0.05, 0.1, 1.0, 999.9, 1000.0, 5e7, np.inf])
    monkeypatch.setattr(Observation, "time_constants", keeps)
    read = observed("lstm")
    figure = gate_saturation(read)
    sound(figure)
    diagonal, *gates, bars = figure.data
    assert (list(diagonal.x), list(diagonal.y)) == ([0, 1], [1, 0])
    for points, symbol in zip(gates, "ifo", strict=True):
        gate = activation(read.trace, symbol)
        np.testing.assert_allclose(points.x, (gate < 0.1).sum(axis=0) / len(gate), rtol=1e-15)
        np.testing.assert_allclose(points.y, (gate > 0.9).sum(axis=0) / len(gate), rtol=1e-15)
    assert len({points.marker.symbol for points in gates}) == 3
    counts = np.asarray(bars.y)
    assert counts.sum() == len(keeps)
    assert (counts[0], counts[1], counts[-2], counts[-1]) == (2, 1, 1, 3)
    assert bars.text[-1] == unbroken("≥ 1,000")
    assert "3" in figure.alt
    # The ends of a bin, told on hover, are those within which its bar stands.
    edges = np.asarray(bars.x) - np.asarray(bars.width) / 2
    np.testing.assert_allclose(np.diff(np.log10(edges)), 0.25, atol=1e-12)


@pytest.mark.parametrize("r", [0.1, 0.61, 0.75, 1.0])
def test_found_and_scored_labels_line_beside_it_and_above_every_bar(r):
    read = seen(np.eye(5))
    looked = UnitSearch(read, read, "quotes", *[np.array([0.05, r])] * 2, np.full(9, r), ZERO,
                        (True, True))  # fmt: skip
    figure = found_and_scored(looked)
    sound(figure)
    (bars,) = (trace for trace in figure.data if trace.type == "bar")
    assert max(bars.y) == 100
    assert figure.layout.yaxis2.range[1] >= 1.15 * 100
    (label,) = (note for note in figure.layout.annotations if "|r|" in note.text)
    assert (label.x, label.yanchor) == (r, "top")
    assert label.xanchor == ("left" if r < 0.7 else "right")
    assert (label.xshift > 0) == (r < 0.7)


# --- one unit -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_unit_traces_split_gates_and_states_into_panels(cell):
    read = observed(cell)
    for steps in (read, one_unit(2)) if cell == "lstm" else (read,):
        figure = unit_traces(steps, 1, 2)
        sound(figure)
        for line, symbol in zip(figure.data, symbols(steps.trace), strict=True):
            values = activation(steps.trace, symbol)[:, 0]
            np.testing.assert_array_equal(line.y, values.astype(np.float32))
            assert line.name == Text("en")(f"figure.gate_{symbol}")
            assert (line.yaxis == "y2") == (symbol in SIGNED)
            assert tuple(line.selectedpoints) == (1,)
        low, high = figure.layout.yaxis2.range
        assert low < 0 < high  # also of constants
        assert {shape.x0 for shape in figure.layout.shapes} == {2}
    view = [LOOKS[s] for s in symbols(read.trace) if s not in SIGNED]
    for part in zip(*view, strict=True):  # neither color, dash nor marker twice among gates
        assert len(set(part)) == len(view)


@pytest.mark.parametrize(("symbol", "bold"), [("c", "fc"), ("i", "ic"), ("h", "fh")])
def test_unit_traces_emphasize_observed_quantity_and_its_counterpart(symbol, bold):
    read = seen(observed("lstm").values, symbol)
    figure = unit_traces(read, 1, 2)
    drawn = {
        s: (line.line.width, line.opacity)
        for line, s in zip(figure.data, symbols(read.trace), strict=True)
    }
    assert len({drawn[s] for s in bold}) == 1
    faint = {look for s, look in drawn.items() if s not in bold}
    assert len(faint) == 1
    assert min(drawn[bold[0]]) >= 1
    assert max(next(iter(faint))) < drawn[bold[0]][0]


def test_unit_traces_omit_colliding_end_labels():
    states = {"cell_state": 1.0, "hidden": -1.0}
    apart = one_unit(1, forget_gate=0.5, output_gate=1.0, **states)
    assert labels(unit_traces(apart, 1, 1)) == [f"<b>{s}</b>" for s in "ifogch"]
    close = one_unit(1, input_gate=0.49, forget_gate=0.5, output_gate=1.0, **states)
    assert labels(unit_traces(close, 1, 1)) == [f"<b>{s}</b>" for s in "gch"]


# --- effects --------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1, None])
def test_free_and_forced_draw_both_runs_and_tint_clamped_steps(unit):
    free, forced = np.arange(5.0), np.arange(5.0) ** 2
    p, q = np.linspace(0, 1, 5), np.linspace(1, 0, 5)
    runs = one_unit(cell_state=free, p=p), one_unit(cell_state=forced, p=q)
    figure = free_and_forced(*runs, unit, 2, 9)
    sound(figure)
    held, held_p, loose, loose_p = figure.data
    for line, values in ((held, forced), (held_p, q), (loose, free), (loose_p, p)):
        np.testing.assert_array_equal(line.y, values)
    assert (held.line.dash or "solid", loose.line.dash) == ("solid", "dash")
    assert {(s.x0, s.x1) for s in figure.layout.shapes} == {(1.5, 5.5)}  # cut at the last step
    assert figure.layout.yaxis.domain[0] > figure.layout.yaxis2.domain[1]
    which = "one" if unit else "all"
    assert figure.layout.yaxis.title.text == Text("en")(f"figure.state_c_{which}", unit=unit)
    assert not free_and_forced(*runs, unit, 1, 9).layout.shapes  # from end to end: no tint


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_free_and_forced_draw_state_norm_of_all_units(cell):
    symbol = "c" if cell == "lstm" else "h"
    read = observed(cell, symbol)
    figure = free_and_forced(read, read, None, 1, 1)
    np.testing.assert_array_equal(figure.data[0].y, np.linalg.norm(read.values, axis=1))
    observation = one_unit(1, cell_state=0.25)  # one step, and no difference
    low, high = free_and_forced(observation, observation, 1, 1, 1).layout.yaxis.range
    assert low < 0.25 < high


def variants(*distances, size) -> VariantComparison:
    names = ("renamed", "one_bias", "no_bias")[: len(distances)]
    return VariantComparison(
        tuple("a" * len(size)), names, np.array(distances), size, np.zeros(len(names))
    )


@pytest.mark.parametrize(
    ("some", "size", "top"),
    [
        (np.array([0, 1e-3, 0, 1e-16, 10.0]), np.arange(5.0), 10.6),
        (np.array([0.5, 2.0, 100.0, 2.0, 400.0]), np.ones(5), 3.18),  # it leaves the figure
        (ZERO, ZERO, 1.06),
        (np.ones(1), np.ones(1), 1.06),
    ],
)
def test_distance_by_variant_draws_distances_and_state_norm(some, size, top):
    figure = distance_by_variant(variants(some, 0 * some, size=size))
    sound(figure)
    for line, values in zip(figure.data, (size, some, 0 * some), strict=True):
        np.testing.assert_array_equal(np.asarray(line.y), values)
    low, high = figure.layout.yaxis.range
    assert low < 0  # zeros are seen whole
    assert high == pytest.approx(top)
    assert len({line.line.dash for line in figure.data}) == 3


# --- networks -------------------------------------------------------------------------------------


def test_agreement_draws_log_ratio_and_both_probabilities_on_hover():
    p = np.array([[[0.1, 0.2], [0.2, 0.1], [0.0, 0.3]]])
    expectation = Expectation(("a", "<b>", "c"), ("was", "<were>"), ("characters_lstm",), p, 0)
    figure = agreement(expectation)
    sound(figure)
    zero, line = figure.data
    assert set(zero.y) == {0}
    np.testing.assert_allclose(np.asarray(line.y, float), [1, -1, np.nan], atol=1e-12)
    assert line.customdata[0] == ["0.200", "0.100"]
    assert line.customdata[2] == ["0.300", "0"]
    assert figure.layout.xaxis.ticktext[1] == "&lt;b&gt;"
    assert "<were>" not in figure.layout.yaxis.title.text
    assert "<were>" not in line.hovertemplate
    low, high = figure.layout.yaxis.range
    assert low == -high < -1
    palette = Style().palette
    assert (line.line.color, line.line.dash) == (palette.lstm, None)
    gru = agreement(replace(expectation, networks=("characters_gru",))).data[1]
    assert (gru.line.color, gru.line.dash) == (palette.gru, "dash")


def test_parameter_bars_stack_to_totals():
    counted = (
        Parameters(32, 1024, 64), Parameters(96, 3072, 192), Parameters(128, 4096, 0),
    )  # fmt: skip
    figure = parameter_bars(ParameterTable(("rnn", "gru", "lstm"), counted, counted))
    sound(figure)
    stacked = np.sum([bar.x for bar in figure.data], axis=0)
    assert stacked.tolist() == [1120, 3360, 4224]
    assert [bar.x[2] for bar in figure.data] == [128, 4096, 0]
    assert labels(figure) == ["<b>1,120</b>", "<b>3,360</b>", "<b>4,224</b>"]
    assert figure.layout.barmode == "stack"
    assert len({bar.marker.pattern.shape for bar in figure.data}) == 3  # not by color alone


def test_training_progress_uses_percent_and_fixed_axis():
    trail = tiny_reports(0.25, 0.5)
    for existing in (1, 2):
        figure = training_progress(trail[:existing], TinySettings("count", updates=400))
        line = figure.data[0]
        assert (list(line.x), list(line.y)) == ([0, 10][:existing], [25, 50][:existing])
        assert figure.layout.xaxis.range[1] == pytest.approx(408)


def tiny_reports(*accuracies: float) -> list[TinyReport]:
    """Reports after 0, 10, ... of 400 updates; the gate has their number at each of 13 steps."""
    return [
        TinyReport(10 * number, 400, accuracy, np.linspace(0, 0.1 * (number + 1), 13))
        for number, accuracy in enumerate(accuracies)
    ]


@pytest.mark.parametrize(("cell", "name"), [("lstm", "forget gate f"), ("gru", "update gate z")])
def test_training_draws_gate_on_example_and_replays_it(cell, name):
    settings = TinySettings("count", cell, updates=400)
    trail = tiny_reports(0.25, 0.5, 1.0)
    figure = training_progress([*trail[:2], trail[1], trail[2]], settings)  # a slow one is repeated
    _, gate = figure.data
    assert gate.name == name
    np.testing.assert_array_equal(gate.y, trail[-1].gate)
    assert "".join(figure.layout.xaxis2.ticktext) == EXAMPLES["count"]
    assert figure.layout.yaxis2.range[0] <= 0 < 1 <= figure.layout.yaxis2.range[1]
    (learned,) = figure.page["meta"]["replay"]["learned"]
    assert figure.traces[learned["trace"]]["name"] == name
    assert list(learned["updates"]) == [0, 10, 20]
    np.testing.assert_allclose(learned["y"], [report.gate for report in trail], rtol=1e-6)
    for said in (name, EXAMPLES["count"], "0.3"):
        assert said in figure.alt
    done = fake(
        Tiny, settings=settings, updates=np.array([0, 10, 20]),
        accuracy=np.array([report.accuracy for report in trail]),
        gate=np.array([report.gate for report in trail]),
    )  # fmt: skip
    assert training_curve(done) == training_progress(trail, settings)
