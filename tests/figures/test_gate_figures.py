"""Figures of the gates lesson: what went in is what is drawn, at the extremes too."""

from __future__ import annotations

import numpy as np
import pytest
from gate_drawings import LETTERS, UNITS, gate_drawings, labels, sound, trace

from seqviz.compute.gates.activations import GRU_SYMBOLS, LSTM_SYMBOLS, SIGNED
from seqviz.compute.recurrent import GRU, LSTM
from seqviz.figures.gates import effects, maps, networks, traces
from seqviz.figures.grammar.style import DARK, LIVE, Style
from seqviz.text import LANGUAGES, Text, number

ONE = np.array([0.25])
ZERO = np.zeros(5)
TOKENS = tuple("abcde")
LANG = pytest.mark.parametrize("lang", LANGUAGES)


@pytest.mark.parametrize("drawing", gate_drawings(), ids=lambda drawing: drawing[0])
@pytest.mark.parametrize("style", [Style(LIVE, "zh"), Style(DARK, scale=1.25)], ids=["zh", "large"])
def test_every_figure_is_sound(drawing, style):
    _, draw, args, _ = drawing
    sound(draw(*args, style=style))


@LANG
def test_every_symbol_of_the_cells_has_a_name(lang):
    text = Text(lang)
    names = [text(f"figure.gate_{s}") for s in {*LSTM_SYMBOLS, *GRU_SYMBOLS}]
    assert all(symbol in traces.LOOKS for symbol in {*LSTM_SYMBOLS, *GRU_SYMBOLS})
    assert len(set(names)) == len(names)
    for symbols in (LSTM_SYMBOLS, GRU_SYMBOLS):
        looks = [traces.LOOKS[s] for s in symbols if s not in SIGNED]
        for part in zip(*looks, strict=True):  # neither color, dash nor marker twice among gates
            assert len(set(part)) == len(looks)


# --- maps -----------------------------------------------------------------------------------------


def test_rows_stand_in_the_given_order_and_the_first_is_on_top():
    values = trace(LSTM()).forget_gate
    order = np.array([4, 0, 5, 2, 1, 3])
    figure = maps.gate_map(values, order, LETTERS, "f", False, 3, 9)
    (heat,) = figure.data
    np.testing.assert_array_equal(np.asarray(heat.z), values.T[order].astype(np.float32))
    assert list(heat.y) == [1, 2, 3, 4, 5, 6]
    top, bottom = figure.layout.yaxis.range[::-1]
    assert top < 1 < 6 < bottom
    assert list(figure.layout.yaxis.ticktext) == ["5", "1", "6", "3", "2", "4"]
    assert (heat.zmin, heat.zmax, heat.meta) == (0, 1, "pick")
    row, column = figure.layout.shapes
    assert (row.y0, row.y1) == (3.5, 4.5)  # unit 3 is in the fourth row
    assert (column.x0, column.x1) == (8.5, 9.5)
    assert any(number(float(values[8, 2])) in words for words in labels(figure))


def test_states_have_colors_symmetric_about_zero():
    values = trace(LSTM()).cell_state[1:]
    figure = maps.gate_map(values, np.arange(UNITS), LETTERS, "c", True, 1, 1)
    (heat,) = figure.data
    assert heat.zmax == -heat.zmin == pytest.approx(np.abs(values).max(), rel=1e-6)  # float32
    assert heat.colorscale[5][1].endswith("0.00)")  # nothing at zero: the page itself


def test_a_state_that_ran_away_does_not_take_the_color_from_the_others():
    values = np.random.RandomState(0).uniform(-1, 1, (40, 30))
    values[3:7, 7] = -50
    (heat,) = maps.gate_map(values, np.arange(30), ["a"] * 40, "c", True, 8, 3).data
    assert 0.9 < heat.zmax == -heat.zmin < 1.01
    assert heat.colorbar.ticktext[0].startswith("≤ −")
    assert heat.colorbar.ticktext[-1].startswith("≥ ")
    assert np.asarray(heat.z).min() == -50  # the value itself stays: on hover and in the table


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize(("steps", "units"), [(1, 1), (1, 6), (400, 1), (400, 256)])
def test_map_of_any_size(steps, units, signed):
    values = np.zeros((steps, units))
    tokens = ["<"] * steps
    figure = maps.gate_map(values, np.arange(units), tokens, "h", signed, units, steps)
    sound(figure)
    (heat,) = figure.data
    assert heat.zmin < heat.zmax  # also where all values are equal
    assert np.asarray(heat.z).dtype == np.float32
    assert len(figure.to_json()) < 8 * steps * units + 60_000  # typed, not a list of numbers


def test_tokens_are_plain_text_on_the_axis_and_on_hover():
    few = maps.gate_map(np.zeros((3, 1)), np.array([0]), ["<b>", "&", "x"], "f", False, 1, 1)
    assert list(few.layout.xaxis.ticktext) == ["&lt;b&gt;", "&amp;", "x"]
    many = ["<i>"] * 61
    figure = maps.gate_map(np.zeros((61, 1)), np.array([0]), many, "f", False, 1, 1)
    assert set(figure.layout.xaxis.ticktext) <= {str(k) for k in range(1, 62)}
    assert figure.layout.xaxis.labelalias == {str(k): "&lt;i&gt;" for k in range(1, 62)}
    # A tick on a step itself would show its number on hover in place of its token.
    assert not np.isin(figure.layout.xaxis.tickvals, np.arange(62)).any()


@pytest.mark.parametrize(("token", "room"), [("e", 60), ("word", 40)])
def test_tokens_stand_below_the_map_as_long_as_they_fit(token, room):
    for steps in (1, room, room + 1):
        figure = maps.gate_map(
            np.zeros((steps, 1)), np.array([0]), [token] * steps, "f", False, 1, 1
        )
        assert (token in figure.layout.xaxis.ticktext) == (steps <= room)


@LANG
def test_saturation_draws_shares_and_counts_every_unit(lang):
    left = {"i": np.array([0.0, 0.5, 1.0]), "f": np.array([0.1, 0.2, 0.3])}
    right = {"i": np.array([1.0, 0.5, 0.0]), "f": np.array([0.0, 0.0, 0.7])}
    keeps = np.array([0.0, 0.05, 0.1, 1.0, 999.9, 1000.0, 5e7, np.inf])
    figure = maps.saturation(left, right, keeps, Style(lang=lang))
    sound(figure)
    diagonal, i, f, bars = figure.data
    assert (list(diagonal.x), list(diagonal.y)) == ([0, 1], [1, 0])
    np.testing.assert_array_equal(i.x, left["i"])
    np.testing.assert_array_equal(f.y, right["f"])
    assert i.marker.symbol != f.marker.symbol
    counts = np.asarray(bars.y)
    assert counts.sum() == len(keeps)
    assert (counts[0], counts[1], counts[-2], counts[-1]) == (2, 1, 1, 3)
    assert bars.text[-1] == "≥ 1,000"
    assert "3" in figure.alt
    # The ends of a bin, told on hover, are those within which its bar stands.
    edges = np.asarray(bars.x) - np.asarray(bars.width) / 2
    np.testing.assert_allclose(np.diff(np.log10(edges)), 0.25, atol=1e-12)


def test_saturation_of_one_unit_that_never_forgets():
    figure = maps.saturation({"z": np.zeros(1)}, {"z": np.ones(1)}, np.array([np.inf]))
    sound(figure)
    assert np.asarray(figure.data[-1].y)[-1] == 1


# --- one unit -------------------------------------------------------------------------------------


def test_traces_draw_gates_above_and_states_below():
    run = trace(GRU())
    gates = {"r": run.reset_gate[:, 0], "z": run.update_gate[:, 0]}
    states = {"h": run.hidden[1:, 0], "n": run.candidate[:, 0]}
    figure = traces.unit_traces(gates, states, LETTERS, 7, 1)
    given = {**gates, **states}
    assert len(figure.data) == len(given)
    for line, (symbol, values) in zip(figure.data, given.items(), strict=True):
        np.testing.assert_allclose(np.asarray(line.y), values, rtol=1e-6)  # float32
        assert line.yaxis == ("y" if symbol in gates else "y2")
        assert list(line.selectedpoints) == [6]
        assert number(float(values[6])) in figure.alt
    assert {shape.x0 for shape in figure.layout.shapes} == {7}


def test_letters_stand_at_the_ends_unless_they_would_collide():
    apart = {"i": ONE * 0, "f": ONE * 2, "o": ONE * 4}
    figure = traces.unit_traces(apart, {"c": ONE}, ["a"], 1, 1)
    assert labels(figure) == ["<b>i</b>", "<b>f</b>", "<b>o</b>", "<b>c</b>"]
    close = {"i": ONE, "f": ONE * 1.02, "o": ONE * 4}
    assert labels(traces.unit_traces(close, {"c": ONE}, ["a"], 1, 1)) == ["<b>c</b>"]


def test_traces_of_one_step_and_of_constants():
    sound(traces.unit_traces({"f": ONE}, {"c": ONE * 0}, ["<"], 1, 1))
    figure = traces.unit_traces({"f": ZERO}, {"c": ZERO}, TOKENS, 5, 1)
    sound(figure)
    low, high = figure.layout.yaxis2.range
    assert low < 0 < high


# --- effects --------------------------------------------------------------------------------------


def test_free_and_forced_draw_both_runs_and_tint_the_clamp():
    free, forced = np.arange(5.0), np.arange(5.0) ** 2
    p, q = np.linspace(0, 1, 5), np.linspace(1, 0, 5)
    figure = effects.free_and_forced(free, forced, "c", p, q, "P", TOKENS, (2, 9))
    sound(figure)
    held, held_p, loose, loose_p = figure.data
    for line, values in ((held, forced), (held_p, q), (loose, free), (loose_p, p)):
        np.testing.assert_array_equal(line.y, values)
    assert (held.line.dash, loose.line.dash) == ("solid", "dash")
    assert {(s.x0, s.x1) for s in figure.layout.shapes} == {(1.5, 5.5)}  # cut at the last step
    assert (figure.layout.yaxis.title.text, figure.layout.yaxis2.title.text) == ("c", "P")
    assert figure.layout.yaxis.domain[0] > figure.layout.yaxis2.domain[1]


def test_what_is_clamped_from_end_to_end_needs_no_tint():
    figure = effects.free_and_forced(ZERO, ZERO + 1, "c", ZERO, ZERO, "P", TOKENS, (1, 9))
    sound(figure)
    assert not figure.layout.shapes


def test_free_and_forced_of_one_step_and_without_a_difference():
    figure = effects.free_and_forced(ONE, ONE, "c", ONE, ONE, "P", ["a"], (1, 1))
    sound(figure)
    low, high = figure.layout.yaxis.range
    assert low < 0.25 < high
    sound(effects.free_and_forced(ZERO, ZERO, "c", ZERO, ZERO, "P", TOKENS, (3, 3)))


@LANG
def test_distances_stand_beside_the_length_that_they_are_distances_from(lang):
    some, size = np.array([0, 1e-3, 0, 1e-16, 10.0]), np.arange(5.0)
    figure = effects.conventions({"<b>": some, "same": ZERO}, size, TOKENS, Style(lang=lang))
    sound(figure)
    for line, values in zip(figure.data, (size, some, ZERO), strict=True):
        np.testing.assert_array_equal(np.asarray(line.y), values)
    assert figure.data[1].name == "&lt;b&gt;"
    low, high = figure.layout.yaxis.range
    assert low < 0 < 10 < high  # zeros are seen whole
    assert len({line.line.dash for line in figure.data}) == 3


def test_a_state_that_runs_away_leaves_the_figure_and_not_the_data():
    size, far = np.ones(5), np.array([0.5, 2.0, 100.0, 2.0, 400.0])
    figure = effects.conventions({"far": far}, size, TOKENS)
    assert 3 < figure.layout.yaxis.range[1] < 3.5
    np.testing.assert_array_equal(np.asarray(figure.data[1].y), far)


def test_distances_all_zero_or_of_one_step():
    figure = effects.conventions({"same": ZERO}, ZERO, TOKENS)
    sound(figure)
    assert figure.layout.yaxis.range[1] > 0
    sound(effects.conventions({"other": ONE}, ONE, ["a"]))


def test_agreement_is_the_ratio_in_bits_and_hover_has_both_probabilities():
    singular, plural = np.array([0.1, 0.2, 0.0]), np.array([0.2, 0.1, 0.3])
    figure = networks.agreement(
        ["a", "<b>", "c"], {"LSTM": singular}, {"LSTM": plural}, "was", "<were>"
    )
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


def test_networks_have_the_look_of_their_cell_or_take_turns():
    def looks(*names: str) -> list[tuple[str, str]]:
        p = dict.fromkeys(names, ONE)
        lines = networks.agreement(["a"], p, p, "was", "were").data[1:]
        return [(line.line.color, line.line.dash) for line in lines]

    palette = Style().palette
    assert looks("GRU", "LSTM") == [(palette.gru, "dash"), (palette.lstm, "solid")]
    for names in (("small GRU", "large GRU"), ("one", "two"), ("one", "GRU")):
        assert len(set(looks(*names))) == 2


def test_parameters_are_stacked_to_their_totals():
    counts = {
        "rnn": {"input": 32, "recurrent": 1024, "biases": 64},
        "gru": {"input": 96, "recurrent": 3072, "biases": 192},
        "lstm": {"input": 128, "recurrent": 4096, "biases": 0},
    }
    figure = networks.parameter_bars(counts)
    sound(figure)
    stacked = np.sum([bar.x for bar in figure.data], axis=0)
    assert stacked.tolist() == [1120, 3360, 4224]
    assert labels(figure) == ["<b>1,120</b>", "<b>3,360</b>", "<b>4,224</b>"]
    assert figure.layout.barmode == "stack"
    assert len({bar.marker.pattern.shape for bar in figure.data}) == 3  # not by color alone


def test_training_is_drawn_in_percent_on_an_axis_that_does_not_move():
    figure = networks.training(np.array([0, 10]), np.array([0.25, 0.5]), "lstm", 0.9, 400)
    sound(figure)
    goal, line = figure.data
    assert list(line.y) == [25, 50]
    assert list(goal.y) == [90, 90]
    assert figure.layout.xaxis.range[1] >= 400
    sound(networks.training(np.array([0]), np.array([np.nan]), "gru"))
    sound(networks.training(np.array([], int), np.array([]), "gru"))
