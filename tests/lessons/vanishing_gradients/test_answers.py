"""Vanishing gradients: what the questions call right is what the page's own benches show.

And every sentence changes when its numbers do.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute import vanishing_gradients as bptt
from seqviz.compute.recurrent import jacobians
from seqviz.compute.vanishing_gradients import GradientExperiment, recall
from seqviz.compute.vanishing_gradients.autograd import matrix_gradient, state_gradients
from seqviz.compute.vanishing_gradients.recall.tasks import TOLERANCE
from seqviz.core.i18n import LANGUAGES, Text, format_log10, number, sections
from seqviz.core.units import unbroken
from seqviz.data import precomputed
from seqviz.lessons.vanishing_gradients.lesson import lesson
from tests.pages.scenes import words_of

SLUG = lesson.slug


def marked(question: str, language: str) -> str:
    """The option that is marked correct."""
    text = Text(language)
    stem = f"{SLUG}.predict.{question}"
    return text.items(f"{stem}.options")[int(text(f"{stem}.answer"))]


def reveal(question: str, language: str) -> str:
    return Text(language)(f"{SLUG}.predict.{question}.reveal")


def drawn(bench: str, values: dict, name: str) -> np.ndarray:
    """The heights of the line or the bars of this name in a bench's figure."""
    traces = lesson.benches[bench].run(values).figure.traces
    (result,) = (t for t in traces if str(t.get("name", "")).startswith(name) and len(t["y"]) > 1)
    return np.asarray(result["y"], float)


# ------------------------------------------------------------------------------------- questions
@pytest.mark.parametrize("language", LANGUAGES)
def test_norm_answer_grows_then_vanishes(language):
    values = {"init": "non_normal", "cells": ("linear",)}
    out = lesson.benches["reach"].run(values)
    assert (out.readouts["sigma_max"].value, out.readouts["radius"].value) == ("10.0", "0.500")
    line = drawn("reach", values, "Linear RNN")  # t = 1 ... T: the way back is from right to left
    back = line[::-1] / line[-1]
    assert back[1] > 1  # not from the first step on
    assert back.argmax() < 10
    assert back[-1] < 1e-20  # 0.5^99 times 20 * 99 is 3e-27
    assert marked("norm", language) in ("It grows at first and then vanishes", "起初增长，然后消失")


@pytest.mark.parametrize("language", LANGUAGES)
def test_index_answer_matches_near_steps(language):
    bars = drawn("paths", {}, "share of the error")
    assert len(bars) == 6
    near = bars[:3].sum() / bars.sum()
    assert near > 0.5 > abs(bars[5]) / bars.sum()
    result = bptt.paths(GradientExperiment("linear", 6, 4, gain=0.8, loss="mean", seed=1), 1)
    message = reveal("index", language)
    for value in (result.stretch[-1], result.error.max()):
        assert number(float(value)) in message
    assert result.stretch.argmax() == 1
    assert number(float(result.stretch[1])) in message
    assert f"{100 * near:.0f}%" in message
    assert result.error.argmax() + 1 == 5
    louder = bptt.paths(GradientExperiment("linear", 6, 4, gain=1.2, loss="mean", seed=1), 1)
    assert louder.largest[0] == 5
    assert number(float(louder.stretch[-1])) in message
    assert louder.stretch[-1] == louder.stretch.max()
    assert re.search("1 to 3|1 到 3", marked("index", language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_truncation_answer_matches_persistent_bias(language):
    draws = {"view": "random"}
    random, fixed = (drawn("cut", draws, name) for name in ("mean of n", "fixed"))
    assert random[-1] < random[0] / 10
    assert fixed[0] == fixed[-1] > random[-1]
    assert marked("truncation", language)[0] in "N不"


@pytest.mark.parametrize("language", LANGUAGES)
def test_race_answer_matches_gated_winner(language):
    question, message = Text(language)(f"{SLUG}.predict.race.question"), reveal("race", language)
    settings = recall.RecallSettings()
    assert f"{settings.delay}" in question
    assert f"{settings.updates}" in question
    done = precomputed.find(recall.compare, {"settings": settings}).result
    first = {cell: done.learned_at(cell) for cell in settings.cells}
    assert first["rnn"] is None
    assert all(re.search(rf"\b{first[cell]}\b", message) for cell in ("lstm", "gru"))
    assert "gated" in marked("race", language) or "门控" in marked("race", language)
    visible = lesson.benches["race"].run({}, language)
    assert any(words_of(lesson, "note.race_won", language).fullmatch(n) for n in visible.notes)
    closed = lesson.benches["race"].run({"view": "closed"}, language)
    assert "forget_bias=0.0" in closed.code
    assert any(words_of(lesson, "note.race_none", language).fullmatch(n) for n in closed.notes)


def test_race_note_depends_on_task():
    """The marked numbers stand one in each half, and the help says which answer is right."""
    alone = {"delay": 4, "updates_adding": 100, "updates": 100, "cells": ("lstm",)}
    for language in LANGUAGES:
        assert f"{TOLERANCE}" in Text(language)(f"{SLUG}.control.task.help")
        for task, felt in (("first", "race_felt"), ("adding", "race_felt_adding")):
            visible = lesson.benches["race"].run(
                {**alone, "task": task}, language, train=True, code=False
            )
            verdict = "race_all" if visible.notes[0].find("Not learned") < 0 else "race_none"
            assert words_of(lesson, f"note.{felt}", language).fullmatch(visible.notes[1])
            if language == "en":
                assert words_of(lesson, f"note.{verdict}", language).fullmatch(visible.notes[0])
                assert visible.notes[0].endswith("**LSTM**.")  # one network is not "all of them"


@pytest.mark.parametrize("language", LANGUAGES)
def test_random_note_reports_bias_only_if_not_negligible(language):
    say = lesson.benches["cut"].run
    little = words_of(lesson, "note.random.little", language)
    for steps, stop, observed in (
        (2, 0.6, False),
        (3, 0.6, False),
        (10, 0.6, True),
        (100, 0.02, False),
    ):
        values = {"view": "random", "reach.steps": steps, "stop": stop}
        (note,) = say(values, language, code=False).notes
        assert bool(little.fullmatch(note)) != observed


def test_ladder_note_reports_limit_not_reached():
    """At the page's settings the LSTM and the GRU learn the longest delay there is."""
    message = lesson.benches["race"].run({"view": "ladder"}, code=False).notes[-1]
    assert message == "For LSTM, GRU this is no limit: no delay beyond 50 was tried."


def test_clipping_note_reports_overlong_step():
    """It is the step that fails: clipped harder, the same network learns."""
    much = lesson.benches["cut"].run({"view": "clipping", "threshold": 1000.0}, code=False).notes
    assert much[-1].endswith("a step could still be 20.0 long, the learning rate times θ.")
    less = lesson.benches["cut"].run({"view": "clipping", "threshold": 1.0}, code=False).notes
    assert "below the 1 of always answering 0" in less[-1]


@pytest.mark.parametrize("variant", range(5))
def test_horizon_exercise_accepts_hint_formula(variant):
    exercise = lesson.exercises["horizon"]
    case, answer, within = exercise.variant_of(variant)
    steps = math.floor(math.log(0.01) / math.log(case["gain"]) + 1e-9)
    assert abs(steps - answer) <= within
    assert case["gain"] ** steps >= 0.01 > case["gain"] ** (steps + 1)


# ------------------------------------------------------------------------------- sentences on W
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({"init": "orthogonal", "gain": 0.99}, "shrinks"),
        *(({"init": "orthogonal", "gain": 1.0, "seed": seed}, "keeps") for seed in (1, 2, 3, 12)),
        ({"init": "identity", "gain": 1.0}, "keeps"),
        ({"init": "identity", "gain": 1.01}, "grows"),
        *(({"init": "radius", "gain": 1.0, "seed": seed}, "edge") for seed in (1, 2, 3, 4)),
        ({"init": "radius", "gain": 0.99}, "between"),
        ({"init": "radius", "gain": 1.01}, "grows"),
        ({}, "between"),
    ],
)
def test_reach_verdict_ignores_rounding(values, verdict, language):
    out = lesson.benches["reach"].run({**values, "cells": ("linear",)}, language, code=False)
    message = [
        key
        for key in ("shrinks", "keeps", "edge", "between", "grows")
        if any(words_of(lesson, f"note.{key}", language).fullmatch(note) for note in out.notes)
    ]
    assert message == [verdict]


def test_reach_factor_matches_slope_and_spectral_radius():
    for gain in (0.5, 0.9, 1.0, 1.3):
        result = bptt.reach(GradientExperiment("linear", 60, 8, "orthogonal", gain))
        assert result.factor == pytest.approx(gain, rel=1e-9)
    for loss in bptt.LOSSES:  # of the last step's error alone, whatever the loss
        result = bptt.reach(GradientExperiment("rnn", gain=0.9, loss=loss))
        assert result.factor == pytest.approx(0.656, abs=5e-4)
    lstm = bptt.reach(GradientExperiment("lstm", gain=0.9))
    hidden = lstm.norms.hidden
    far = np.flatnonzero(hidden >= hidden[-1] - 2)[0]
    assert lstm.horizon_hidden == len(hidden) - 1 - far
    assert (lstm.horizon, lstm.horizon_hidden) == (26, 16)


@pytest.mark.parametrize("language", LANGUAGES)
def test_reach_note_and_prose_match_zero_bias_factors(language):
    """The factors that the prose after the race names at biases 0."""
    shut = {"forget_bias": 0.0, "update_bias": 0.0}
    note = lesson.benches["reach"].run(shut, language, code=False).notes[1]
    prose = sections(SLUG, language)["race_more"]
    for cell in ("lstm", "gru", "rnn"):
        factor = number(bptt.reach(GradientExperiment(cell, gain=0.9, forget_bias=0.0)).factor)
        assert factor in note
        assert factor in prose


def test_reach_note_states_share_reaching_subject():
    out = lesson.benches["reach"].run({"signal": "sentence"})
    (message,) = (note for note in out.notes if "“were”" in note)
    assert "“flights”" in message
    assert list(out.readouts) == ["sigma_max", "radius", "longest"]  # all reach the first word
    for cell in ("linear", "rnn"):
        line = bptt.reach(
            GradientExperiment(
                cell, gain=0.9, signal="sentence", sentence=lesson.values("reach").sentence
            )
        ).norms.hidden
        assert f"{100 * 10 ** (line[1] - line[-1]):.1f}%" in message


@pytest.mark.parametrize(
    ("values", "longest", "shortest"),
    [
        ({}, "Linear RNN", "RNN"),
        ({"steps": 5}, "all of them", None),
        ({"signal": "sentence"}, "all of them", None),
        ({"steps": 5, "cells": ("gru",)}, "GRU", None),
        ({"gain": 0.1}, "LSTM (on c), GRU", "Linear RNN, RNN"),
        ({"gain": 2.0}, "Linear RNN, RNN, LSTM (on c)", "GRU"),
    ],
    ids=str,
)
def test_reach_caption_names_all_tied_networks(values, longest, shortest):
    out = lesson.benches["reach"].run(values, code=False).readouts
    assert out["longest"].caption == longest
    assert (out["shortest"].caption if "shortest" in out else None) == shortest


def test_pairs_note_uses_singular_for_one_value():
    """Somewhere on the way back exactly one is lost, and no longer."""
    run = lesson.benches["pairs"].run
    message = {note for later in range(46, 80) for note in run({"later": later}, code=False).notes}
    assert any(note.startswith("One singular value is so much") for note in message)
    assert not any(note.startswith("1 singular") for note in message)


def test_paths_note_reports_reversed_errors_for_printed_index():
    """T + t − τ over τ = t ... T; of an odd number of paths the middle one keeps its error."""
    last, t = 7, 1
    assert [last + t - tau for tau in range(t, last + 1)] == list(range(last, t - 1, -1))
    (_, message) = lesson.benches["paths"].run({"steps": last, "printed": True}, code=False).notes
    assert "in reverse order" in message


def test_zero_gradient_note_does_not_blame_float32():
    dead = {"cells": ("relu",), "init": "radius", "gain": 1.0, "width": 2}
    for language in LANGUAGES:
        message = lesson.benches["reach"].run(dead, language, code=False).notes[-1]
        assert words_of(lesson, "note.left.zero", language).fullmatch(message)
        assert "float32" not in message
        there = {f"reach.{key}": value for key, value in dead.items() if key != "cells"}
        (message,) = (
            lesson.benches["pairs"].run({**there, "cell": "relu"}, language, code=False).notes
        )
        assert words_of(lesson, "note.pair_zero", language).fullmatch(message)


def test_paths_note_accepts_printed_index_at_last_step():
    notes = lesson.benches["paths"].run({"t": 6, "printed": True}, code=False).notes
    assert notes == [
        unbroken(
            "At t = T = 6 there is one error and no path: nothing has stretched or shrunk it."
        ),
        unbroken("With t = T = 6 the printed index T + t − τ is τ itself: here it is right."),
    ]


# ------------------------------------------------- sentences: other numbers, another sentence
@pytest.mark.parametrize(
    ("bench", "one", "other", "keys"),
    [
        ("pairs", {}, {"earlier": 78}, ("pair", "pair")),
        ("paths", {}, {"gain": 1.2}, ("share", "share")),
        ("paths", {}, {"t": 6}, ("share", "share_alone")),
        ("back", {"taken": 1}, {"taken": 2}, ("entered", "carried")),
        ("back", {"taken": 1}, {"shift": 2.0}, ("entered", "entered")),
        ("weights", {}, {"loss": "mean"}, ("weights.enough", "weights.all")),
        ("weights", {}, {"matrix": "readout"}, ("weights.enough", "weights.one")),
        ("weights", {}, {"loss": "mean", "matrix": "input_hidden", "gain": 1.5},
         ("weights.enough", "weights.every")),
        ("cut", {}, {"window": 1}, ("window.little", "window.much")),
        ("cut", {"kind": "segments"}, {"kind": "segments", "window": 200},
         ("segments.much", "nothing_dropped")),
        ("cut", {"window": 50}, {"window": 200}, ("window.little", "nothing_dropped")),
        ("pairs", {}, {"earlier": 80}, ("pair", "pair_same")),
        ("paths", {}, {"gain": 0.1}, ("share", "share_over")),
        ("cut", {"view": "clipping"}, {"view": "clipping", "threshold": 1000.0},
         ("clipping_better", "clipped_left")),
        ("cut", {"view": "random"}, {"view": "random", "stop": 0.02},
         ("random.nearer", "random.little")),
        ("cut", {"view": "clipping"}, {"view": "clipping", "activation": "rnn"},
         ("clipping_better", "clipping_no_better")),
        ("cut", {"view": "cliff"}, {"view": "cliff", "threshold": 30.0}, ("cliff", "cliff_still")),
        ("cut", {"view": "cliff"}, {"view": "cliff", "threshold": 100.0}, ("cliff", "cliff_same")),
        ("gates", {}, {"reset": 0.5}, ("gated", "gated")),
        ("race", {}, {"view": "closed"}, ("race_felt", "race_felt")),
    ],
)  # fmt: skip
def test_note_changes_with_numbers(bench, one, other, keys):
    messages = []
    for language, values, key in zip(LANGUAGES, (one, other), keys, strict=True):
        notes = lesson.benches[bench].run(values, language, code=False).notes
        expected = words_of(lesson, f"note.{key}", language)
        assert any(expected.fullmatch(note) for note in notes), (key, notes)
        english = notes if language == "en" else lesson.benches[bench].run(values, code=False).notes
        messages.append(english)
    assert messages[0] != messages[1]


# -------------------------------------------------------------------- the mathematics beneath
@pytest.mark.parametrize("matrix", bptt.MATRICES)
@pytest.mark.parametrize("loss", bptt.LOSSES)
@pytest.mark.parametrize("cell", ["linear", "rnn", "relu"])
def test_weight_steps_match_autograd(cell, loss, matrix):
    experiment = GradientExperiment(cell, 9, 5, gain=1.1, loss=loss, seed=3)
    weight_steps = bptt.weight_steps(experiment, matrix)
    np.testing.assert_allclose(weight_steps.total, matrix_gradient(experiment, matrix), atol=1e-12)
    assert weight_steps.mismatch < 1e-12
    assert weight_steps.shares.sum() == pytest.approx(weight_steps.length)
    recent = [
        np.linalg.norm(weight_steps.each[-k:].sum(0) - weight_steps.total) for k in range(1, 10)
    ]
    within = [miss <= 0.1 * weight_steps.length for miss in recent]
    assert all(within[weight_steps.enough - 1 :])
    assert weight_steps.enough == 1 or not within[weight_steps.enough - 2]


def test_weight_steps_match_finite_differences():
    """By finite differences: the matrix is changed at one step and not at the others."""
    experiment = GradientExperiment("rnn", 6, 3, loss="last", seed=2)
    net = bptt.unroll(experiment)
    w, u = net.weights.input_hidden, net.weights.hidden_hidden

    def loss(step: int, row: int, column: int, by: float) -> float:
        h = np.zeros(3)
        for t, x in enumerate(net.signal.inputs, 1):
            there = u.copy()
            there[row, column] += by * (t == step)
            h = np.tanh(w @ x + there @ h)
        return float(((net.readout @ h - net.signal.targets[-1]) ** 2).sum())

    each = bptt.weight_steps(experiment, "hidden_hidden").each
    for step, row, column in ((6, 0, 2), (5, 1, 1), (2, 2, 0), (1, 0, 0)):
        slope = (loss(step, row, column, 1e-6) - loss(step, row, column, -1e-6)) / 2e-6
        assert each[step - 1, row, column] == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize(("experiment", "matrix"), [(GradientExperiment("lstm"), "readout"),
                                                   (GradientExperiment(), "bias")])  # fmt: skip
def test_weight_steps_reject_other_cells_and_matrices(experiment, matrix):
    with pytest.raises(ValueError):  # noqa: PT011
        bptt.weight_steps(experiment, matrix)


def test_paths_stretch_matches_jacobian_norm():
    result = bptt.paths(GradientExperiment("rnn", 7, 4, gain=1.1, loss="mean", seed=2), 3)
    net = bptt.unroll(GradientExperiment("rnn", 7, 4, gain=1.1, loss="mean", seed=2))
    steps = jacobians(net.cell, net.weights, net.trace)
    product = np.eye(4)
    for k, later in enumerate(range(3, 8)):
        product = product if k == 0 else steps[later - 1] @ product
        assert result.stretch[k] == pytest.approx(np.linalg.svd(product)[1][0])
        assert np.linalg.norm(result.terms[k]) <= result.stretch[k] * result.error[k] * (1 + 1e-12)


def test_lstm_jacobian_matches_equations():
    net = bptt.unroll(GradientExperiment("lstm", 5, 4))
    block = jacobians(net.cell, net.weights, net.trace)  # of (h, c)
    for t in range(1, 5):
        retained = np.diag(net.trace.forget_gate[t])
        visible = np.diag(net.trace.output_gate[t] / np.cosh(net.trace.cell_state[t + 1]) ** 2)
        np.testing.assert_allclose(block[t, 4:, 4:], retained, atol=1e-14)
        np.testing.assert_allclose(block[t, :4, 4:], visible @ retained, atol=1e-14)
        by_output = block[t, :4, :4] - visible @ block[t, 4:, :4]
        o = net.trace.output_gate[t]
        expected = (np.tanh(net.trace.cell_state[t + 1]) * o * (1 - o))[:, None]
        np.testing.assert_allclose(by_output, expected * net.weights.block(3), atol=1e-14)


def test_recursion_shift_moves_residual_and_gradient():
    experiment = GradientExperiment("rnn", 4, 2, gain=0.8, loss="mean")
    item, other = bptt.recursion(experiment), bptt.recursion(replace(experiment, shift=1.5))
    np.testing.assert_allclose(other.residuals[:3], item.residuals[:3])
    np.testing.assert_allclose(other.residuals[3], item.residuals[3] - 2 / 4 * 1.5)
    np.testing.assert_allclose(
        other.total, state_gradients(replace(experiment, shift=1.5)), atol=1e-12
    )
    again = bptt.recursion(experiment)
    np.testing.assert_array_equal(again.total, item.total)  # nothing is written over


def test_cliff_slopes_match_finite_differences():
    for w, b in ((5.0, -2.5), (4.0, -1.0), (6.5, -3.5)):
        _, by_weight, by_bias = bptt.cliff.error_and_slopes(w, b)
        ends = [bptt.cliff.error_and_slopes(w + d, b + e)[0] for d, e in
                ((1e-6, 0), (-1e-6, 0), (0, 1e-6), (0, -1e-6))]  # fmt: skip
        assert by_weight == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5)
        assert by_bias == pytest.approx((ends[2] - ends[3]) / 2e-6, rel=1e-5)


def test_walk_limits_clipped_step_to_rate_times_threshold():
    free, held = (bptt.walk(5.0, -2.5, theta, 0.1) for theta in (None, 1.0))
    np.testing.assert_allclose(free.steps, 0.1 * free.norm[:-1], rtol=1e-9)
    np.testing.assert_allclose(held.steps, 0.1 * np.minimum(held.norm[:-1], 1), rtol=1e-9)
    assert np.median(held.error[-50:]) < 0.01 < free.last_error


def test_clipped_walk_says_where_rounding_decides_its_end():
    """A start moved by 1e-12 ends elsewhere at the cliff, and alike where the path misses it."""
    for start, alike in (((5.0, -2.5), False), ((4.5, -2.0), True)):
        one, other = (bptt.walk(start[0] + by, start[1], 1.0, 0.1) for by in (0, bptt.NUDGE))
        assert one.ends_like(other) is alike
        for language in LANGUAGES:
            values = {"view": "cliff", "start_weight": start[0], "start_bias": start[1]}
            notes = lesson.benches["cut"].run(values, language, code=False).notes
            rounding = words_of(lesson, "note.cliff_rounding", language)
            assert any(rounding.fullmatch(note) for note in notes) is not alike


def test_reach_handles_float64_underflow():
    result = bptt.reach(GradientExperiment("linear", 500, 4, "identity", 0.1))
    assert result.factor == pytest.approx(0.1)
    assert format_log10(result.arrived[0]) == unbroken("1.00 × 10⁻⁴⁹⁹")
