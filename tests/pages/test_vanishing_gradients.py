"""The lesson on vanishing gradients: each bench shows what the library computes."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest
from scenes import Scene, check, drawn, each

from seqviz.compute import bptt
from seqviz.compute.bptt import Experiment
from seqviz.compute.bptt.autograd import state_gradients
from seqviz.figures.gradients import clipping, norms, pairs, paths, simplified_gru, truncation
from seqviz.figures.grammar.style import Style
from seqviz.lessons.bench.output import Output
from seqviz.lessons.bench.words import Words
from seqviz.lessons.vanishing_gradients import lesson
from seqviz.text import LANGUAGES, Text, from_log10, number

PLAIN = str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")
SAY = {lang: Words(lesson.slug, Text(lang)) for lang in LANGUAGES}
REACH = ("sigma_max", "radius", "longest", "shortest")
PAIRS = ("pair", "largest", "smallest", "bound")
PATHS = ("total", "autograd", "mismatch", "printed_mismatch")

TERMS = ("window", "kept", "angle", "length")
RANDOM = ("expected", "one_draw", "all_draws", "fixed")
CLIPPING = ("loss_free", "loss_clipped", "largest_norm", "clipped")
GATES = ("gru_radius", "rnn_radius", "gru_power", "rnn_power")


def run(bench: str, language: str = "en", figure=None, readouts=(), notes=(), **values) -> Output:
    """A bench held to its figure and read-outs; "reach__gain" is the gain of the bench it is on."""
    values = {name.replace("__", "."): value for name, value in values.items()}
    found = check(lesson, Scene(bench, values, figure, readouts, notes), language)
    assert found is not None
    return found


def shown(output: Output) -> dict[str, tuple[str, str]]:
    """The read-outs: the value and what stands beside it."""
    return {name: (one.value, one.beside or "") for name, one in output.readouts.items()}


def read(value: str) -> float:
    """A number of the screen as a number again."""
    mantissa, _, power = value.translate(PLAIN).replace(",", "").partition(" × 10")
    return float(mantissa) * 10.0 ** int(power or 0)


# ---------------------------------------------------------------- how far back the error reaches
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_reach_of_the_defaults(lang):
    out = run("reach", lang, norms.gradient_reach, REACH, ("between",))
    found = {
        cell: bptt.reach(Experiment(cell, 100, 32, "gaussian", 0.9, 1.0, 1.0))
        for cell in ("rnn", "lstm", "gru")
    }
    w = bptt.recurrent_matrix("gaussian", 32, 0.9, 1)
    sigma = np.linalg.svd(w, compute_uv=False)[0]
    radius = np.abs(np.linalg.eigvals(w)).max()
    far, near = (pick(found, key=lambda cell: found[cell].horizon) for pick in (max, min))
    assert len({one.horizon for one in found.values()}) == 3  # who is first is no matter of order
    say = SAY[lang]
    assert shown(out) == {
        "sigma_max": (number(sigma), ""),
        "radius": (number(radius), ""),
        "longest": (str(found[far].horizon), say.option("cells", far)),
        "shortest": (str(found[near].horizon), say.option("cells", near)),
    }
    assert radius < 1 < sigma
    assert say("note.between", sigma=number(sigma), radius=number(radius)) in out.notes


def test_the_reach_of_other_networks():
    """A linear network with 0.9 times an orthogonal matrix: its horizon is a closed form."""
    out = run(
        "reach", "en", norms.gradient_reach, REACH, ("shrinks",), cells=("linear", "lstm"),
        steps=60, init="orthogonal", signal="adding", width=16, seed=7, forget_bias=4.0,
    )  # fmt: skip
    lstm = bptt.reach(Experiment("lstm", 60, 16, "orthogonal", 0.9, 4.0, 1.0, "adding", seed=7))
    steps = int(np.log(0.01) / np.log(0.9))
    assert lstm.horizon > steps
    whole = lstm.horizon == 59
    assert shown(out) == {
        "sigma_max": (number(0.9), ""),
        "radius": (number(0.9), ""),
        "longest": (f"≥ {lstm.horizon}" if whole else str(lstm.horizon),
                    SAY["en"].option("cells", "lstm")),
        "shortest": (str(steps), SAY["en"].option("cells", "linear")),
    }  # fmt: skip
    assert SAY["en"]("note.shrinks", sigma=number(0.9)) in out.notes


def test_what_never_shrinks_reaches_the_first_step():
    """The identity: one network, so one horizon, and the sequence ends before the gradient."""
    out = run("reach", "zh", norms.gradient_reach, REACH[:3], init="identity", gain=1.0,
              cells=("linear",))  # fmt: skip
    assert [value for value, _ in shown(out).values()] == [number(1.0), number(1.0), "≥ 99"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_non_normal_preset(lang):
    """[[0.5, 10], [0, 0.5]]: (s1 + s2)^2 = 101 and (s1 - s2)^2 = 100; the gain does not apply."""
    out = run("reach", lang, norms.gradient_reach, REACH, ("between",), init="non_normal")
    sigma = (np.sqrt(101) + 10) / 2
    found = shown(out)
    assert found["sigma_max"][0] == number(sigma)
    assert abs(read(found["sigma_max"][0]) - 10) < 0.05
    assert found["radius"][0] == number(0.5)
    assert bptt.spectrum("non_normal", 32, 0.9, 1).radius == 0.5  # exactly: W is triangular
    assert SAY[lang]("note.between", sigma=number(sigma), radius=number(0.5)) in out.notes
    assert lesson.benches["reach"].run({"init": "non_normal", "gain": 2.0}).readouts == (
        lesson.benches["reach"].run({"init": "non_normal"}).readouts
    )


def test_a_state_that_leaves_float64_and_gradients_that_leave_float32():
    out = run("reach", "en", norms.gradient_reach, REACH, ("overflow", "grows"),
              cells=("linear", "rnn"), steps=500, gain=2.0)  # fmt: skip
    say, left = SAY["en"], 0
    for cell in ("linear", "rnn"):
        found = bptt.reach(Experiment(cell, 500, 32, "gaussian", 2.0, 1.0, 1.0))
        name = say.option("cells", cell)
        if found.overflow is not None:
            assert cell == "linear"  # tanh is bounded
            step = found.overflow
            assert say("note.overflow", cell=name, step=step, last=step - 1) in out.notes
        if found.left_float32 is not None:
            left += 1
            size = float(found.norms.hidden[found.left_float32 - 1])
            assert size > bptt.FLOAT32[0] or size < bptt.FLOAT32[1]
            key = "note.left_above" if size > 0 else "note.left_below"
            wanted = say(key, cell=name, step=found.left_float32, value=from_log10(size))
            assert wanted in out.notes
    overflowed = say("note.overflow", cell="@", step=0, last=0).partition("@")[2][:20]
    assert sum(overflowed in sentence for sentence in out.notes) == 1
    assert left >= 1


def test_a_pair_of_steps_in_either_order():
    """0.8 times the identity: every singular value of a linear network is 0.8 to the distance."""
    out = run(
        "pairs", "zh", pairs.pair_map, PAIRS, reach__init="identity", reach__gain=0.8,
        cell="linear", earlier=90, later=30,
    )  # fmt: skip
    power = number(0.8**60)
    assert shown(out) == dict(zip(PAIRS, [("30 → 90", ""), *3 * [(power, "")]], strict=True))


def test_the_smallest_singular_value_has_the_digits_that_float64_resolves():
    """By default it is fourteen digits below the largest: of 9.12 only the 9 is not rounding."""
    out = run("pairs", "en", pairs.pair_map, PAIRS)
    found = bptt.pair_spectrum(Experiment("rnn", 100, 32, "gaussian", 0.9), 40, 80).log10
    seen = found[np.isfinite(found)]
    assert 13 < seen[0] - seen[-1] < 15
    assert shown(out)["smallest"] == (from_log10(float(seen[-1]), 1), "")
    assert shown(out)["largest"] == (from_log10(float(seen[0])), "")
    sigma = bptt.spectrum("gaussian", 32, 0.9, 1).sigma_max
    assert shown(out)["bound"] == (number(sigma**40), "")


# ------------------------------------------------------------------------ the paths of equation 44
def printed_sum(small: Experiment, t: int) -> np.ndarray:
    """Equation 44 letter by letter, for a linear network: the error of step T + t - tau."""
    net = bptt.unroll(small)
    w = net.weights.hidden_hidden
    later = range(t, net.steps + 1)
    return sum(
        np.linalg.matrix_power(w.T, tau - t) @ net.errors[net.steps + t - tau - 1] for tau in later
    )


@pytest.mark.parametrize(("lang", "steps", "t"), [("en", 6, 1), ("zh", 9, 4), ("en", 5, 5)])
def test_the_paths_add_up_to_autograd_and_the_printed_index_does_not(lang, steps, t):
    values = {"steps": steps, "t": t}
    key = "printed_last" if t == steps else "printed"
    out = run("paths", lang, paths.path_bars, PATHS, (key,), printed=True, **values)
    small = Experiment("linear", steps, 4, gain=0.8, loss="mean", seed=1)
    truth = state_gradients(small)[t - 1]
    size = np.linalg.norm(truth)
    gap = np.linalg.norm(printed_sum(small, t) - truth) / size
    found, say = shown(out), SAY[lang]
    assert found["total"] == (number(size), say("metric.total.beside"))  # the sum of the shares
    assert found["autograd"] == (number(size), "PyTorch")
    assert found["printed_mismatch"][0] == f"{100 * gap:.1f} %"
    # A sum of at most 9 vectors of length 4, each product rounded: some 100 times 1e-16 at most.
    assert 0 <= read(found["mismatch"][0]) < 1e-14
    assert (gap < 1e-14) == (t == steps)
    assert say(f"note.{key}", t=t, last=steps) in out.notes
    without = run("paths", lang, paths.path_bars, PATHS, **values)
    assert len(without.figure.plotly().data) < len(out.figure.plotly().data)
    assert not without.notes


def test_the_paths_of_a_tanh_network():
    found = shown(run("paths", "zh", paths.path_bars, PATHS, cell="rnn", gain=1.5, steps=30))
    truth = state_gradients(Experiment("rnn", 30, 4, gain=1.5, loss="mean", seed=1))[0]
    assert found["total"][0] == found["autograd"][0] == number(np.linalg.norm(truth))


# ----------------------------------------------------------------------------- step back, by hand
def ending(sentences: list[str]) -> np.ndarray | None:
    """The vector at the end of the equation under the figure."""
    for sentence in sentences:
        if sentence.startswith("$$"):
            rows = re.findall(r"\\begin{pmatrix}([^{}]*(?:{[^{}]*}[^{}]*)*)\\end", sentence)[-1]
            rows = re.sub(r"\\cdot 10\^{(-?\d+)}", r"e\1", rows)
            return np.array([float(row) for row in rows.split(r"\\")])
    return None


@pytest.mark.parametrize(("lang", "cell"), [("en", "linear"), ("zh", "rnn")])
def test_stepping_back_through_time(lang, cell):
    small = Experiment(cell, 4, 2, gain=0.8, loss="mean", seed=1)
    total = bptt.recursion(small).total
    np.testing.assert_allclose(total, state_gradients(small), rtol=1e-10)
    back, pictures = lesson.benches["back"].run, set()
    for taken in (1, 2, 3, 4):
        out = back({"cell": cell, "taken": taken}, lang)
        # three significant digits: half a unit of the third is at most 0.5 %
        np.testing.assert_allclose(ending(out.notes), total[4 - taken], rtol=5.001e-3)
        pictures.add(str(out.figure.to_json()))
        drawn(lesson.benches["back"], Scene("back", figure=paths.unrolled_graph), out, lang)
    assert len(pictures) == 4
    begun = run("back", lang, paths.unrolled_graph, (), ("not_begun",), cell=cell, taken=0)
    assert begun.notes == [SAY[lang]("note.not_begun", last=4)]


# ------------------------------------------------------------------------- truncation and clipping
@pytest.mark.parametrize(
    ("lang", "kind", "cell", "k"),
    [("en", "window", "rnn", 10), ("zh", "segments", "gru", 25), ("en", "segments", "lstm", 10)],
)
def test_what_a_truncation_loses(lang, kind, cell, k):
    out = run("cut", lang, truncation.kept_and_lost, TERMS, kind=kind, cell=cell, window=k,
              reach__steps=80)  # fmt: skip
    curve = bptt.truncation(Experiment(cell, 80, 32, "gaussian", 0.9, 1.0, 1.0, loss="mean"), kind)
    place = int(np.argmin(np.abs(curve.windows - k)))
    window = int(curve.windows[place])
    step = np.arange(80)  # every step has an error: count the pairs that it keeps
    kept = np.minimum(step + 1, window) if kind == "window" else step % window + 1
    assert shown(out) == {
        "window": (f"k = {window}", ""),
        "kept": (f"{100 * kept.sum() / (80 * 81 / 2):.1f} %", ""),
        "angle": (f"{number(curve.angle[place])}°", ""),
        "length": (number(curve.length[place]), ""),
    }
    assert not out.notes  # nothing was made smaller


def test_a_window_as_long_as_the_sequence_loses_nothing():
    found = shown(run("cut", "zh", truncation.kept_and_lost, TERMS, window=100))
    assert (found["window"][0], found["kept"][0]) == ("k = 100", "100.0 %")
    assert found["length"][0] == number(1.0)
    # arccos(1 - 1e-15) is 3e-6 degrees: what rounding of the cosine leaves
    assert read(found["angle"][0].removesuffix("°")) < 1e-5


@pytest.mark.parametrize(("steps", "width"), [(220, 32), (20, 128)])
def test_a_large_network_is_cut_to_a_modest_one_and_the_page_says_so(steps, width):
    large = {"reach__steps": steps, "reach__width": width}
    out = run("cut", "en", truncation.kept_and_lost, TERMS, ("modest",), window=200, **large)
    least = {"steps": min(steps, 200), "width": min(width, 64)}
    assert SAY["en"]("note.modest", **least) in out.notes
    assert shown(out)["window"][0] == f"k = {least['steps']}"
    curve = bptt.truncation(Experiment("rnn", **least, gain=0.9, update_bias=1.0, loss="mean"))
    place = int(np.argmin(np.abs(curve.windows - 5)))
    shorter = run("cut", "zh", truncation.kept_and_lost, TERMS, window=5, **large)
    assert shown(shorter)["angle"][0] == f"{number(curve.angle[place])}°"


@pytest.mark.parametrize(("lang", "stop", "seed"), [("en", 0.1, 1), ("zh", 0.3, 5)])
def test_a_randomized_truncation(lang, stop, seed):
    asked = Experiment("rnn", 100, 32, "gaussian", 0.9, 1.0, 1.0, loss="mean")
    found = bptt.randomized(asked, stop, 1024, seed)
    draw = partial(truncation.mean_of_draws, found)
    out = run("cut", lang, lambda style: draw(style=style), RANDOM, view="random",
              stop=stop, seed=seed)  # fmt: skip
    assert shown(out) == {
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


@pytest.mark.parametrize(("lang", "case"), zip(("en", "zh", "en"), CLIPPED, strict=True))
def test_clipping(lang, case):
    cell, radius, threshold, rate, leave = CLIPPED[case]
    out = run("cut", lang, clipping.with_and_without_clipping, CLIPPING, view="clipping",
              activation=cell, radius=radius, threshold=threshold, rate=rate)  # fmt: skip
    activation = {"rnn": "tanh", "linear": "linear"}[cell]
    free, clipped = (bptt.descend(activation, radius, t, rate, 1) for t in (None, threshold))
    assert (free.left_float32 is not None, clipped.left_float32 is not None) == leave
    assert shown(out) == {
        "loss_free": (number(free.loss[-1]), ""),
        "loss_clipped": (number(clipped.loss[-1]), ""),
        "largest_norm": (number(clipped.norm.max()), ""),
        "clipped": (f"{(clipped.norm > threshold).sum()} / {len(clipped.loss)}", ""),
    }
    for key, one in (("free_left", free), ("clipped_left", clipped)):
        update = len(one.loss) + 1  # the one after the last that float32 holds
        words = SAY[lang](f"note.{key}", update=update, threshold=number(threshold))
        assert str(update) in words
        assert (words in out.notes) == (one.left_float32 is not None)


# ------------------------------------------------------------------------------------------- gates
LIMITS = {(0.0, 0.0): "identity", (0.0, 1.0): "identity", (1.0, 0.0): "zero", (1.0, 1.0): "plain"}


@pytest.mark.parametrize(("lang", "gates"), zip(LANGUAGES * 2, LIMITS, strict=True))
def test_the_limits_of_the_gates_are_exact(lang, gates):
    update, reset = gates
    key = LIMITS[gates]
    w = bptt.recurrent_matrix("gaussian", 32, 0.9, 1)
    radius = number(np.abs(np.linalg.eigvals(w)).max())
    power = number(np.linalg.norm(np.linalg.matrix_power(w, 70), 2))
    gated = {"identity": ("1.00", "1.00"), "zero": ("0", "0"), "plain": (radius, power)}[key]
    found = bptt.simplified_gru(update, reset, "gaussian", 32, 0.9, 1, 70)
    draw = partial(simplified_gru.gated_jacobian, found, update, reset)
    out = run("gates", lang, lambda style: draw(style=style), GATES, (key,), update=update,
              reset=reset, reach__steps=70)  # fmt: skip
    assert shown(out) == {
        "gru_radius": (gated[0], ""),
        "rnn_radius": (radius, ""),
        "gru_power": (gated[1], "k = 70"),
        "rnn_power": (power, "k = 70"),
    }
    assert out.notes == [SAY[lang](f"note.{key}")]
    limit = {"identity": np.eye(32), "zero": np.zeros((32, 32)), "plain": w}[key]
    np.testing.assert_array_equal(found.jacobian, limit)


def test_gates_in_between():
    """The eigenvalues of I - u(I - rW) are 1 - u + u r lambda."""
    out = run("gates", "en", simplified_gru.gated_jacobian, GATES, update=0.3, reset=0.5,
              reach__seed=3)  # fmt: skip
    values = np.linalg.eigvals(bptt.recurrent_matrix("gaussian", 32, 0.9, 3))
    assert shown(out)["gru_radius"][0] == number(np.abs(0.7 + 0.15 * values).max())
    log10 = bptt.simplified_gru(0.3, 0.5, "gaussian", 32, 0.9, 3, 100).log10_norm[-1]
    assert shown(out)["gru_power"][0] == from_log10(log10)
    assert not out.notes


def test_gates_of_a_large_network_are_computed_on_a_smaller_one_and_say_so():
    out = run("gates", "zh", simplified_gru.gated_jacobian, GATES, ("modest_gates",),
              reach__steps=500, reach__width=256)  # fmt: skip
    assert SAY["zh"]("note.modest_gates", steps=200, width=64) in out.notes
    matrix = bptt.simplified_gru(0.1, 1.0, "gaussian", 64, 0.9, 1, 200)
    assert shown(out)["gru_power"] == (from_log10(float(matrix.log10_norm[-1])), "k = 200")


# ------------------------------------------------------------------------------ short sentences
@each([
    Scene(bench, {f"{stem}signal": "sentence", f"{stem}sentence": text}, refuses="short_sentence")
    for text in ("flights", "", "   ", "two words")
    for bench, stem in (("reach", ""), ("pairs", "reach."), ("cut", "reach."))
])  # fmt: skip
def test_a_sentence_too_short_is_refused_where_it_is_read(scene, language):
    check(lesson, scene, language)


@pytest.mark.parametrize("text", ["the cat sat", "我爱你"])
def test_the_shortest_sentence_that_can_be_read(text):
    out = lesson.benches["reach"].run({"signal": "sentence", "sentence": text}, style=Style())
    words = bptt.reach(
        Experiment("rnn", 100, 32, "gaussian", 0.9, 1.0, 1.0, "sentence", text)
    ).labels
    assert tuple(out.figure.plotly().layout.xaxis.ticktext) == words
    assert len(words) == 2
