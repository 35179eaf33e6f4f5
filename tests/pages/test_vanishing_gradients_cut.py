"""The lesson on vanishing gradients: truncation, clipping, gates as the library computes them."""

from __future__ import annotations

import numpy as np
import pytest
from looking import bench
from test_vanishing_gradients import SLUG, note, read, said, shown

from seqviz.compute import bptt
from seqviz.compute.bptt import Experiment
from seqviz.text import LANGUAGES, from_log10, number


# ------------------------------------------------------------------------- truncation and clipping
@pytest.mark.parametrize(
    ("lang", "kind", "cell", "k"),
    [("en", "window", "rnn", 10), ("zh", "segments", "gru", 25), ("en", "segments", "lstm", 10)],
)
def test_what_a_truncation_loses(visit, lang, kind, cell, k):
    page = visit(
        SLUG, lang, vg__cut__kind=kind, vg__cut__cell=cell, vg__cut__window=str(k),
        vg__reach__steps="80",
    )  # fmt: skip
    curve = bptt.truncation(Experiment(cell, 80, 32, "gaussian", 0.9, 1.0, 1.0, loss="mean"), kind)
    place = int(np.argmin(np.abs(curve.windows - k)))
    window = int(curve.windows[place])
    step = np.arange(80)  # every step has an error: count the pairs that it keeps
    pairs = np.minimum(step + 1, window) if kind == "window" else step % window + 1
    assert shown(page, "cut") == {
        "window": (f"k = {window}", ""),
        "kept": (f"{100 * pairs.sum() / (80 * 81 / 2):.1f} %", ""),
        "angle": (f"{number(curve.angle[place])}°", ""),
        "length": (number(curve.length[place]), ""),
    }
    assert not bench(page.app, "cut").get("caption")  # nothing was made smaller


def test_a_window_as_long_as_the_sequence_loses_nothing(visit):
    found = shown(visit(SLUG, vg__cut__window="100"), "cut")
    assert found["window"][0] == "k = 100"
    assert found["kept"][0] == "100.0 %"
    assert found["length"][0] == number(1.0)
    # arccos(1 - 1e-15) is 3e-6 degrees: what rounding of the cosine leaves
    assert read(found["angle"][0].removesuffix("°")) < 1e-5


@pytest.mark.parametrize(("steps", "width"), [(220, 32), (20, 128)])
def test_a_large_network_is_cut_to_a_modest_one_and_the_page_says_so(visit, steps, width):
    page = visit(
        SLUG, vg__reach__steps=str(steps), vg__reach__width=str(width), vg__cut__window="200"
    )
    least = {"steps": min(steps, 200), "width": min(width, 64)}
    asked = Experiment("rnn", **least, gain=0.9, update_bias=1.0, loss="mean")
    assert note(page, "modest", **least) in said(page, "cut")
    assert shown(page, "cut")["window"][0] == f"k = {least['steps']}"
    page.run(vg__cut__window=5)
    curve = bptt.truncation(asked)
    place = int(np.argmin(np.abs(curve.windows - 5)))
    assert shown(page, "cut")["angle"][0] == f"{number(curve.angle[place])}°"


@pytest.mark.parametrize(("lang", "stop", "seed"), [("en", 0.1, 1), ("zh", 0.3, 5)])
def test_a_randomized_truncation(visit, lang, stop, seed):
    page = visit(
        SLUG, lang, vg__cut__view="random", vg__cut__stop=str(stop), vg__cut__seed=str(seed)
    )
    asked = Experiment("rnn", 100, 32, "gaussian", 0.9, 1.0, 1.0, loss="mean")
    found = bptt.randomized(asked, stop, 1024, seed)
    assert shown(page, "cut") == {
        "expected": (number(1 / stop), ""),
        "one_draw": (number(found.error[0]), ""),
        "all_draws": (number(found.error[-1]), "n = 1,024"),
        "fixed": (number(found.fixed), ""),
    }


CLIPPED = {
    "neither leaves": ("rnn", 1.0, 1.0, 0.02, (False, False)),
    "only the free one leaves": ("linear", 1.3, 0.1, 0.1, (True, False)),
    "both leave": ("linear", 1.3, 1000.0, 0.1, (True, True)),
}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("case", CLIPPED)
def test_clipping(visit, lang, case):
    cell, radius, threshold, rate, leave = CLIPPED[case]
    page = visit(
        SLUG, lang, vg__cut__view="clipping", vg__cut__activation=cell,
        vg__cut__radius=f"{radius:g}", vg__cut__threshold=f"{threshold:g}",
        vg__cut__rate=f"{rate:g}",
    )  # fmt: skip
    activation = {"rnn": "tanh", "linear": "linear"}[cell]
    free, clipped = (bptt.descend(activation, radius, t, rate, 1) for t in (None, threshold))
    assert (free.left_float32 is not None, clipped.left_float32 is not None) == leave
    assert shown(page, "cut") == {
        "loss_free": (number(free.loss[-1]), ""),
        "loss_clipped": (number(clipped.loss[-1]), ""),
        "largest_norm": (number(clipped.norm.max()), ""),
        "clipped": (f"{(clipped.norm > threshold).sum()} / {len(clipped.loss)}", ""),
    }
    sentences = said(page, "cut")
    for key, run in (("free_left", free), ("clipped_left", clipped)):
        update = len(run.loss) + 1  # the one after the last that float32 holds
        words = note(page, key, update=update, threshold=number(threshold))
        assert str(update) in words
        assert (words in sentences) == (run.left_float32 is not None)


# ------------------------------------------------------------------------------------------- gates
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_three_limits_of_the_gates_are_exact(visit, lang):
    page = visit(SLUG, lang, vg__reach__steps="70")
    w = bptt.recurrent_matrix("gaussian", 32, 0.9, 1)
    radius = number(np.abs(np.linalg.eigvals(w)).max())
    power = number(np.linalg.norm(np.linalg.matrix_power(w, 70), 2))
    limits = {
        (0.0, 0.0, "identity"): ("1.00", "1.00"),
        (0.0, 1.0, "identity"): ("1.00", "1.00"),
        (1.0, 0.0, "zero"): ("0", "0"),
        (1.0, 1.0, "plain"): (radius, power),
    }
    notes = {key: note(page, key) for key in ("identity", "zero", "plain")}
    for (update, reset, key), (gated, gated_power) in limits.items():
        page.run(vg__gates__update=update, vg__gates__reset=reset)
        assert shown(page, "gates") == {
            "gru_radius": (gated, ""),
            "rnn_radius": (radius, ""),
            "gru_power": (gated_power, "k = 70"),
            "rnn_power": (power, "k = 70"),
        }
        assert [name for name, words in notes.items() if words in said(page, "gates")] == [key]
        exact = bptt.simplified_gru(update, reset, "gaussian", 32, 0.9, 1, 70).jacobian
        limit = {"identity": np.eye(32), "zero": np.zeros((32, 32)), "plain": w}[key]
        np.testing.assert_array_equal(exact, limit)


def test_gates_in_between(visit):
    """The eigenvalues of I - u(I - rW) are 1 - u + u r lambda."""
    page = visit(SLUG, vg__gates__update="0.3", vg__gates__reset="0.5", vg__reach__seed="3")
    values = np.linalg.eigvals(bptt.recurrent_matrix("gaussian", 32, 0.9, 3))
    found = shown(page, "gates")
    assert found["gru_radius"][0] == number(np.abs(0.7 + 0.15 * values).max())
    log10 = bptt.simplified_gru(0.3, 0.5, "gaussian", 32, 0.9, 3, 100).log10_norm[-1]
    assert found["gru_power"][0] == from_log10(log10)
    notes = [note(page, key) for key in ("identity", "zero", "plain")]
    assert not set(notes) & set(said(page, "gates"))


def test_gates_of_a_large_network_are_computed_on_a_smaller_one_and_say_so(visit):
    page = visit(SLUG, vg__reach__steps="500", vg__reach__width="256")
    words = page.text("vanishing_gradients.note.modest_gates", steps=200, width=64)
    assert words in said(page, "gates")
    matrix = bptt.simplified_gru(0.1, 1.0, "gaussian", 64, 0.9, 1, 200)
    assert from_log10(float(matrix.log10_norm[-1])) in {
        value for value, _ in shown(page, "gates").values()
    }
