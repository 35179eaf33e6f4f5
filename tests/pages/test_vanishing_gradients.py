"""The lesson on vanishing gradients: what each bench says at some settings."""

from __future__ import annotations

import re

import numpy as np
import pytest

from seqviz.compute import vanishing_gradients as bptt
from seqviz.compute.vanishing_gradients import GradientExperiment, recall
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.core.units import unbroken
from seqviz.data import precomputed
from seqviz.figures.vanishing_gradients.cliff import cliff
from seqviz.figures.vanishing_gradients.clipping import with_and_without_clipping
from seqviz.figures.vanishing_gradients.norms import gradient_reach
from seqviz.figures.vanishing_gradients.pairs import pair_map
from seqviz.figures.vanishing_gradients.paths import path_bars, unrolled_graph
from seqviz.figures.vanishing_gradients.simplified_gru import gated_jacobian
from seqviz.figures.vanishing_gradients.truncation import kept_and_lost, mean_of_draws
from seqviz.figures.vanishing_gradients.weights import weights_by_step
from seqviz.lessons.framework.words import LessonWords
from seqviz.lessons.vanishing_gradients.lesson import lesson
from tests.pages.scenes import Scene, check, drawn, each

ROUNDING = "~"  # a number made of rounding alone: another machine has another
POWERS = (unbroken("k = 70"), unbroken("k = 70"))

# Bench, settings, figure, read-outs, notes, and words of the description and beside the read-outs.
SAID = (
    ("reach", {}, gradient_reach,
     {"sigma_max": "1.59", "radius": "0.945", "longest": "66", "shortest": "11"},
     ("between", "measured", "tanh", "on_c"),
     (unbroken("Linear RNN: 66 (× 0.937); RNN: 11 (× 0.656); LSTM: 26 (× 0.863); "
               "GRU: 19 (× 0.795)"),
      "Linear RNN", "RNN")),
    # 0.9 times an orthogonal matrix: 0.9^43 is the last power above 0.01. The gain is the default.
    ("reach", {"cells": ("linear", "lstm"), "steps": 60, "init": "orthogonal", "signal": "adding",
               "width": 16, "seed": 7, "forget_bias": 4.0}, gradient_reach,
     {"sigma_max": "0.900", "radius": "0.900", "longest": unbroken("≥ 59"), "shortest": "43"},
     ("shrinks", "measured"),
     ("线性 RNN：第 60 步为 2.36，第 1 步为 0.00471", "LSTM（按 c）", "线性 RNN")),
    # One network, so one horizon, and the sequence ends before the gradient.
    ("reach", {"init": "identity", "gain": 1.0, "cells": ("linear",)}, gradient_reach,
     {"sigma_max": "1.00", "radius": "1.00", "longest": unbroken("≥ 99")}, ("keeps", "measured"),
     (unbroken("Linear RNN: 99 (× 1.00)"),)),
    # [[0.5, 10], [0, 0.5]]: (s1 + s2)^2 = 101 and (s1 - s2)^2 = 100.
    ("reach", {"init": "non_normal", "cells": ("rnn", "lstm", "gru")}, gradient_reach,
     {"sigma_max": "10.0", "radius": "0.500", "longest": "51", "shortest": "10"},
     ("between",), ("RNN: 10", "LSTM: 51", "GRU: 31")),
    ("reach", {"cells": ("linear", "rnn"), "steps": 500, "gain": 2.0}, gradient_reach,
     {"sigma_max": "3.53", "radius": "2.10", "longest": unbroken("≥ 499"),
      "shortest": unbroken("≥ 475")},
     ("grows", "overflow", "left.above"), (unbroken("2.08 × 10³⁰³ at step 1"),)),
    # By default the smallest is fourteen digits below the largest: one digit is not rounding.
    ("pairs", {}, pair_map, {"pair": "40 → 80", "largest": unbroken("5.67 × 10⁻⁸"),
     "smallest": ROUNDING,
                             "bound": unbroken("1.13 × 10⁸")}, ("lost", "pair"),
                             ("从第 40 步到第 80 步",)),
    # Every singular value of a linear network with 0.8 times the identity: 0.8^60.
    ("pairs", {"reach.init": "identity", "reach.gain": 0.8, "cell": "linear", "earlier": 90,
               "later": 30}, pair_map,
     {"pair": "30 → 90", "largest": unbroken("1.53 × 10⁻⁶"), "smallest": unbroken("1.53 × 10⁻⁶"),
      "bound": unbroken("1.53 × 10⁻⁶")}, ("pair",), (unbroken("2.55 × 10⁻¹⁰"),)),
    ("pairs", {"cell": "lstm", "part": "hidden", "norm": "largest", "earlier": 5, "later": 40,
               "reach.steps": 250}, pair_map,
     {"pair": "5 → 40", "largest": "0.00770", "smallest": unbroken("7.73 × 10⁻¹²"),
      "bound": unbroken("1.11 × 10⁷")},
     ("stride", "pair"), ("第 1 步到第 250 步", unbroken("1.36 × 10⁻¹³"))),
    ("paths", {"printed": True, "steps": 6, "t": 1}, path_bars,
     {"total": "0.482", "autograd": "0.482", "mismatch": ROUNDING, "printed_mismatch": "93.2%"},
     ("printed", "share"), ("errors of steps 1 to 6", "bars added up", "PyTorch")),
    ("paths", {"printed": True, "steps": 9, "t": 4}, path_bars,
     {"total": "0.194", "autograd": "0.194", "mismatch": ROUNDING, "printed_mismatch": "94.7%"},
     ("printed",), ("第 4 步到第 9 步", "柱子相加")),
    ("paths", {"printed": True, "steps": 5, "t": 5}, path_bars,
     {"total": "0.134", "autograd": "0.134", "mismatch": ROUNDING, "printed_mismatch": "0.0%"},
     ("printed_last", "share_alone"), ("errors of steps 5 to 5",)),
    ("paths", {"cell": "rnn", "gain": 1.5, "steps": 30, "printed": True}, path_bars,
     {"total": "0.0834", "autograd": "0.0834", "mismatch": ROUNDING, "printed_mismatch": "92.3%"},
     ("share",), (unbroken("2.99 × 10⁻⁶"),)),
    ("cut", {"window": 10, "reach.steps": 80}, kept_and_lost,
     {"window": unbroken("k = 10"), "kept": "23.3%", "angle": "0.547°", "length": "1.00"},
     ("window.little",), ()),
    ("cut", {"kind": "segments", "cell": "gru", "window": 25, "reach.steps": 80}, kept_and_lost,
     {"window": unbroken("k = 25"), "kept": "30.6%", "angle": "11.5°", "length": "1.08"},
      ("segments.much",),
     ()),
    ("cut", {"kind": "segments", "cell": "lstm", "window": 10, "reach.steps": 80}, kept_and_lost,
     {"window": unbroken("k = 10"), "kept": "13.6%", "angle": "19.0°", "length": "0.977"},
     ("segments.much",), ("with window 10 of 80 steps",)),
    ("cut", {"window": 200, "reach.steps": 220}, kept_and_lost,
     {"window": unbroken("k = 200"), "kept": "100.0%", "angle": ROUNDING, "length": "1.00"},
     ("modest",), ("共 200 步",)),
    ("cut", {"window": 5, "reach.steps": 20, "reach.width": 128}, kept_and_lost,
     {"window": unbroken("k = 5"), "kept": "42.9%", "angle": "1.95°", "length": "1.00"},
      ("modest",), ()),
    ("cut", {"view": "random"}, mean_of_draws,
     {"expected": "10.0", "one_draw": "0.254", "all_draws": "0.00561", "fixed": "0.0100"},
     ("random.nearer",), (unbroken("n = 1,024"),)),
    ("cut", {"view": "random", "stop": 0.3, "seed": 5, "cell": "gru"}, mean_of_draws,
     {"expected": "3.33", "one_draw": "0.231", "all_draws": "0.0330", "fixed": "0.241"},
     ("random.nearer",), ()),
    ("cut", {"view": "clipping", "activation": "rnn"}, with_and_without_clipping,
     {"loss_free": "1.07", "loss_clipped": "1.08", "largest_norm": "2.24",
      "clipped": unbroken("118 / 150")},
     ("clipping_no_better",), ("以 1.00 裁剪，150 次更新后损失为 1.08",)),
    ("cut", {"view": "clipping", "radius": 1.3, "threshold": 0.1, "rate": 0.1},
     with_and_without_clipping,
     {"loss_free": "288", "loss_clipped": "1.15", "largest_norm": "17,034",
      "clipped": unbroken("150 / 150")},
     ("free_left", "clipping_no_better"), ("clipping at 0.100",)),
    ("cut", {"view": "clipping", "radius": 1.3, "threshold": 1000.0, "rate": 0.1},
     with_and_without_clipping,
     {"loss_free": "288", "loss_clipped": "288", "largest_norm": "16,938",
      "clipped": unbroken("1 / 1")},
     ("free_left", "clipped_left"), ()),
    ("weights", {}, weights_by_step,
     {"weight_total": "7.65", "weight_autograd": "7.65", "weight_mismatch": ROUNDING,
      "weight_step": "47.7%"}, ("weights.enough",), ("the last 4 steps", unbroken("t = 20"),
      "PyTorch")),
    ("weights", {"matrix": "readout", "t": 5}, weights_by_step,
     {"weight_total": "4.25", "weight_autograd": "4.25", "weight_mismatch": ROUNDING,
      "weight_step": "0.0%"}, ("weights.one",), ("第 5 步占 0.0%",)),
    ("weights", {"loss": "mean", "matrix": "input_hidden"}, weights_by_step,
     {"weight_total": "1.69", "weight_autograd": "1.69", "weight_mismatch": ROUNDING,
      "weight_step": "4.4%"}, ("weights.all",), ("the last 19 steps",)),
    ("cut", {"view": "cliff"}, cliff,
     {"cliff_norm": "58.1", "cliff_step": "5.81", "cliff_free": "0.0900",
      "cliff_clipped": ROUNDING}, ("cliff", "cliff_rounding"), ("58.1",)),
    ("cut", {"view": "cliff", "threshold": 100.0}, cliff,
     {"cliff_norm": "58.1", "cliff_step": "5.81", "cliff_free": "0.0900",
      "cliff_clipped": "0.0900"}, ("cliff_same",), ()),
    *(("gates", {"update": u, "reset": r, "reach.steps": 70}, gated_jacobian,
       {"gru_radius": radius, "rnn_radius": "0.945", "gru_power": power, "rnn_power": "0.0338"},
       (note,), POWERS)
      for u, r, radius, power, note in (
          (0.0, 0.0, "1.00", "1.00", "identity"), (0.0, 1.0, "1.00", "1.00", "identity"),
          (1.0, 0.0, "0", "0", "zero"), (1.0, 1.0, "0.945", "0.0338", "plain"))),
    ("gates", {"update": 0.3, "reset": 0.5, "reach.seed": 3}, gated_jacobian,
     {"gru_radius": "0.843", "rnn_radius": "0.997", "gru_power": unbroken("6.64 × 10⁻⁸"),
      "rnn_power": "1.26"}, ("gated",), ("更新门 0.300、重置门 0.500",)),
    ("gates", {"reach.steps": 500, "reach.width": 256}, gated_jacobian,
     {"gru_radius": "0.997", "rnn_radius": "0.970", "gru_power": "1.20", "rnn_power": "0.00546"},
     ("modest_gates", "gated"), (unbroken("k = 200"), unbroken("k = 200"))),
    # Rounding alone puts it on one side of 1 or the other.
    ("reach", {"init": "orthogonal", "gain": 1.0, "cells": ("linear",)}, gradient_reach,
     {"sigma_max": "1.00", "radius": "1.00", "longest": unbroken("≥ 99")}, ("keeps",), ()),
)  # fmt: skip


@pytest.mark.parametrize(
    ("language", "bench", "values", "figure", "readouts", "notes", "said"),
    [(LANGUAGES[index % 2], *row) for index, row in enumerate(SAID)],
)
def test_bench_matches_expected_output(language, bench, values, figure, readouts, notes, said):
    out = check(lesson, Scene(bench, values, figure, list(readouts), notes), language)
    result = {name: readout.value for name, readout in out.readouts.items()}
    assert {**result, **{n: v for n, v in readouts.items() if v == ROUNDING}} == readouts
    beside = [readout.caption for readout in out.readouts.values() if readout.caption]
    for words in said:
        assert words in out.figure.alt or words in beside, (words, out.figure.alt, beside)
    if not notes:
        assert not out.notes


def test_readouts_of_rounding_errors_have_few_digits():
    paths = lesson.benches["paths"].run({"printed": True, "steps": 5, "t": 5}).readouts
    assert re.fullmatch(unbroken(r"0|\d\.\d × 10⁻¹[⁵⁶⁷⁸]"), paths["mismatch"].value)
    assert re.fullmatch(
        unbroken(r"\d × 10⁻²[⁰¹²³]"), lesson.benches["pairs"].run({}).readouts["smallest"].value
    )
    # arccos(1 - 1e-15) is 3e-6 degrees: what rounding of the cosine leaves
    angle = lesson.benches["cut"].run({"window": 100}).readouts["angle"].value
    assert re.fullmatch(unbroken(r"0°|\d\.\d\d × 10⁻[⁶⁷⁸⁹]°"), angle)


def test_paths_bench_hides_printed_readout_by_default():
    """The misprint of the course's text is measured only where it is drawn."""
    bench = lesson.benches["paths"]
    assert "printed_mismatch" not in bench.run({}, code=False).readouts
    assert "printed_mismatch" in bench.run({"printed": True}, code=False).readouts


def test_reach_bench_ignores_gain_of_non_normal_preset():
    item, other = (
        lesson.benches["reach"].run({"init": "non_normal", **more}).readouts
        for more in ({}, {"gain": 2.0})
    )
    assert item == other


@pytest.mark.parametrize("lang", LANGUAGES)
def test_race_bench_hint_matches_measured_seconds(lang):
    """The race at the default settings came with the app, and its badge says how long it took."""
    shipped = precomputed.find(recall.compare, {"settings": recall.RecallSettings()})
    message = re.search(
        r"(\d+)\s(?:seconds|秒)", LessonWords(lesson.slug, Text(lang))("hint.train")
    )
    assert int(message[1]) == pytest.approx(shipped.seconds, rel=0.25)


# ----------------------------------------------------------------------------- step back, by hand
def ending(sentences: list[str]) -> np.ndarray:
    """The vector at the end of the equation under the figure."""
    (equation,) = (sentence for sentence in sentences if sentence.startswith("$$"))
    rows = re.findall(r"\\begin{pmatrix}([^{}]*(?:{[^{}]*}[^{}]*)*)\\end", equation)[-1]
    rows = re.sub(r"\\cdot 10\^{(-?\d+)}", r"e\1", rows)
    return np.array([float(row) for row in rows.split(r"\\")])


@pytest.mark.parametrize(("lang", "cell"), [("en", "linear"), ("zh", "rnn")])
def test_back_bench_equation_matches_recursion(lang, cell):
    total = bptt.recursion(GradientExperiment(cell, 4, 2, gain=0.8, loss="mean", seed=1)).total
    back = lesson.benches["back"]
    for taken in (1, 2, 3, 4):
        out = back.run({"cell": cell, "taken": taken}, lang)
        # three significant digits: half a unit of the third is at most 0.5%
        np.testing.assert_allclose(ending(out.notes), total[4 - taken], rtol=5.001e-3)
        drawn(back, Scene("back", figure=unrolled_graph), out, lang)
    begun = Scene("back", {"cell": cell, "taken": 0}, unrolled_graph, notes=("not_begun",))
    assert len(check(lesson, begun, lang).notes) == 1


# ------------------------------------------------------------------------------ short sentences
@each([
    Scene(bench, {f"{stem}signal": "sentence", f"{stem}sentence": text}, refuses="short_sentence")
    for text in ("", "two words")
    for bench, stem in (("reach", ""), ("pairs", "reach."), ("cut", "reach."))
])  # fmt: skip
def test_bench_rejects_too_short_sentence(scene, language):
    check(lesson, scene, language)
