"""The lesson on vanishing gradients: its read-outs and notes are what the library computes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from looking import alerts, bench, figures

from seqviz.compute import bptt
from seqviz.compute.bptt import Experiment
from seqviz.compute.bptt.autograd import state_gradients
from seqviz.text import LANGUAGES, from_log10, number

SLUG = "vanishing_gradients"
PLAIN = str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")


def shown(page, name: str) -> dict[str, tuple[str, str]]:
    """The read-outs of a bench, by key: the value and what stands beside it."""
    stem = f"{SLUG}.metric."
    keys = ("sigma_max", "radius", "longest", "shortest", "pair", "largest", "smallest", "bound",
            "total", "autograd", "mismatch", "printed_mismatch", "expected", "one_draw",
            "all_draws", "fixed", "window", "kept", "angle", "length", "loss_free",
            "loss_clipped", "largest_norm", "clipped", "gru_radius", "rnn_radius", "gru_power",
            "rnn_power")  # fmt: skip
    named = {page.text(f"{stem}{key}.label"): key for key in keys}
    assert len(named) == len(keys)
    return {named[m.label]: (m.value, m.delta) for m in bench(page.app, name).metric}


def said(page, name: str) -> list[str]:
    box = bench(page.app, name)
    return [element.value for kind in ("markdown", "caption") for element in box.get(kind)]


def note(page, key: str, **values: object) -> str:
    return page.text(f"{SLUG}.note.{key}", **values)


def option(page, name: str, value: str) -> str:
    return page.text.first(f"{SLUG}.option.{name}.{value}", f"option.{value}")


def read(value: str) -> float:
    """A number of the screen as a number again."""
    mantissa, _, power = value.translate(PLAIN).replace(",", "").partition(" × 10")
    return float(mantissa) * 10.0 ** int(power or 0)


# ---------------------------------------------------------------- how far back the error reaches
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_reach_of_the_defaults(visit, lang):
    page = visit(SLUG, lang)
    found = {
        cell: bptt.reach(Experiment(cell, 100, 32, "gaussian", 0.9, 1.0, 1.0))
        for cell in ("rnn", "lstm", "gru")
    }
    w = bptt.recurrent_matrix("gaussian", 32, 0.9, 1)
    sigma = np.linalg.svd(w, compute_uv=False)[0]
    radius = np.abs(np.linalg.eigvals(w)).max()
    far, near = (
        pick(found, key=lambda cell: found[cell].horizon)
        for pick in (max, min)
    )  # fmt: skip
    assert len({one.horizon for one in found.values()}) == 3  # who is first is no matter of order
    assert shown(page, "reach") == {
        "sigma_max": (number(sigma), ""),
        "radius": (number(radius), ""),
        "longest": (str(found[far].horizon), option(page, "cells", far)),
        "shortest": (str(found[near].horizon), option(page, "cells", near)),
    }
    assert radius < 1 < sigma
    assert note(page, "between", sigma=number(sigma), radius=number(radius)) in said(page, "reach")


def test_the_reach_of_another_link(visit):
    """A linear network with 0.9 times an orthogonal matrix: its horizon is a closed form."""
    page = visit(
        SLUG, vg__reach__cells="linear+lstm", vg__reach__steps="60", vg__reach__init="orthogonal",
        vg__reach__signal="adding", vg__reach__width="16", vg__reach__seed="7",
        vg__reach__forget_bias="4",
    )  # fmt: skip
    lstm = bptt.reach(Experiment("lstm", 60, 16, "orthogonal", 0.9, 4.0, 1.0, "adding", seed=7))
    steps = int(np.log(0.01) / np.log(0.9))
    assert lstm.horizon > steps
    whole = lstm.horizon == 59
    assert shown(page, "reach") == {
        "sigma_max": (number(0.9), ""),
        "radius": (number(0.9), ""),
        "longest": (f"≥ {lstm.horizon}" if whole else str(lstm.horizon),
                    option(page, "cells", "lstm")),
        "shortest": (str(steps), option(page, "cells", "linear")),
    }  # fmt: skip
    assert note(page, "shrinks", sigma=number(0.9)) in said(page, "reach")


def test_what_never_shrinks_reaches_the_first_step(visit):
    """The identity: one network, so one horizon, and the sequence ends before the gradient."""
    link = {"vg.reach.init": "identity", "vg.reach.gain": "1", "vg.reach.cells": "linear"}
    found = shown(visit(SLUG, **link), "reach")
    assert set(found) == {"sigma_max", "radius", "longest"}
    assert (found["sigma_max"][0], found["radius"][0]) == (number(1.0), number(1.0))
    assert found["longest"][0] == "≥ 99"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_non_normal_preset(visit, lang):
    """[[0.5, 10], [0, 0.5]]: (s1 + s2)^2 = 101 and (s1 - s2)^2 = 100; the gain does not apply."""
    page = visit(SLUG, lang, vg__reach__init="non_normal", vg__reach__gain="2")
    sigma = (np.sqrt(101) + 10) / 2
    found = shown(page, "reach")
    assert found["sigma_max"][0] == number(sigma)
    assert abs(read(found["sigma_max"][0]) - 10) < 0.05
    assert found["radius"][0] == number(0.5)
    assert bptt.spectrum("non_normal", 32, 0.9, 1).radius == 0.5  # exactly: W is triangular
    assert note(page, "between", sigma=number(sigma), radius=number(0.5)) in said(page, "reach")
    assert "vg.reach.gain" not in [slider.key for slider in page.app.slider]


def test_a_state_that_leaves_float64_and_gradients_that_leave_float32(visit):
    page = visit(SLUG, vg__reach__cells="linear+rnn", vg__reach__steps="500", vg__reach__gain="2")
    sentences = said(page, "reach")
    left = 0
    for cell in ("linear", "rnn"):
        found = bptt.reach(Experiment(cell, 500, 32, "gaussian", 2.0, 1.0, 1.0))
        name = option(page, "cells", cell)
        if found.overflow is not None:
            assert cell == "linear"  # tanh is bounded
            step = found.overflow
            assert note(page, "overflow", cell=name, step=step, last=step - 1) in sentences
        if found.left_float32 is not None:
            left += 1
            size = float(found.norms.hidden[found.left_float32 - 1])
            assert size > bptt.FLOAT32[0] or size < bptt.FLOAT32[1]
            key = "left_above" if size > 0 else "left_below"
            wanted = note(page, key, cell=name, step=found.left_float32, value=from_log10(size))
            assert wanted in sentences
    overflowed = note(page, "overflow", cell="@", step=0, last=0).partition("@")[2][:20]
    assert sum(overflowed in sentence for sentence in sentences) == 1
    assert left >= 1


def test_a_pair_of_steps_in_either_order(visit):
    """0.8 times the identity: every singular value of a linear network is 0.8 to the distance."""
    page = visit(
        SLUG, vg__reach__init="identity", vg__reach__gain="0.8", vg__pairs__cell="linear",
        vg__pairs__earlier="90", vg__pairs__later="30",
    )  # fmt: skip
    power = number(0.8**60)
    assert shown(page, "pairs") == {
        "pair": ("30 → 90", ""),
        "largest": (power, ""),
        "smallest": (power, ""),
        "bound": (power, ""),
    }


def test_the_smallest_singular_value_has_the_digits_that_float64_resolves(visit):
    """By default it is fourteen digits below the largest: of 9.12 only the 9 is not rounding."""
    page = visit(SLUG)
    found = bptt.pair_spectrum(Experiment("rnn", 100, 32, "gaussian", 0.9), 40, 80).log10
    seen = found[np.isfinite(found)]
    assert 13 < seen[0] - seen[-1] < 15
    assert shown(page, "pairs")["smallest"] == (from_log10(float(seen[-1]), 1), "")
    assert shown(page, "pairs")["largest"] == (from_log10(float(seen[0])), "")


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
def test_the_paths_add_up_to_autograd_and_the_printed_index_does_not(visit, lang, steps, t):
    page = visit(
        SLUG, lang, vg__paths__steps=str(steps), vg__paths__t=str(t), vg__paths__printed="true"
    )
    small = Experiment("linear", steps, 4, gain=0.8, loss="mean", seed=1)
    truth = state_gradients(small)[t - 1]
    size = np.linalg.norm(truth)
    gap = np.linalg.norm(printed_sum(small, t) - truth) / size
    found = shown(page, "paths")
    assert found["total"][0] == number(size)  # the sum of the shares
    assert found["autograd"][0] == number(size)
    assert found["printed_mismatch"][0] == f"{100 * gap:.1f} %"
    assert f"{100 * bptt.paths(small, t).printed_mismatch:.1f} %" == found["printed_mismatch"][0]
    # A sum of at most 9 vectors of length 4, each product rounded: some 100 times 1e-16 at most.
    assert 0 <= read(found["mismatch"][0]) < 1e-14
    assert (gap < 1e-14) == (t == steps)
    key = "printed_last" if t == steps else "printed"
    assert note(page, key, t=t, last=steps) in said(page, "paths")
    (figure,) = figures(bench(page.app, "paths"))
    page.run(vg__paths__printed=False)
    (without,) = figures(bench(page.app, "paths"))
    assert len(without["data"]) < len(figure["data"])
    assert note(page, key, t=t, last=steps) not in said(page, "paths")


def test_the_paths_of_a_tanh_network(visit):
    page = visit(SLUG, vg__paths__cell="rnn", vg__paths__gain="1.5", vg__paths__steps="30")
    found = shown(page, "paths")
    truth = state_gradients(Experiment("rnn", 30, 4, gain=1.5, loss="mean", seed=1))[0]
    assert found["total"][0] == found["autograd"][0] == number(np.linalg.norm(truth))


# ----------------------------------------------------------------------------- step back, by hand
def ending(page) -> np.ndarray | None:
    """The vector at the end of the equation on the page."""
    for sentence in said(page, "back"):
        if sentence.startswith("$$"):
            rows = re.findall(r"\\begin{pmatrix}([^{}]*(?:{[^{}]*}[^{}]*)*)\\end", sentence)[-1]
            rows = re.sub(r"\\cdot 10\^{(-?\d+)}", r"e\1", rows)
            return np.array([float(row) for row in rows.split(r"\\")])
    return None


@pytest.mark.parametrize(("lang", "cell"), [("en", "linear"), ("zh", "rnn")])
def test_stepping_back_through_time(visit, lang, cell):
    page = visit(SLUG, lang, vg__back__cell=cell)
    small = Experiment(cell, 4, 2, gain=0.8, loss="mean", seed=1)
    total = bptt.recursion(small).total
    np.testing.assert_allclose(total, state_gradients(small), rtol=1e-10)
    pictures = []

    def press(name: str) -> None:
        page.app.get_by_key(f"vg.back.taken.{name}").click().run()
        page.healthy()

    def ends() -> tuple[bool, bool]:
        return tuple(
            page.app.get_by_key(f"vg.back.taken.{name}").disabled for name in ("earlier", "later")
        )

    for taken in (1, 2, 3, 4):
        assert page.value("back", "taken") == taken
        assert ends() == (False, taken == 4)
        # three significant digits: half a unit of the third is at most 0.5 %
        np.testing.assert_allclose(ending(page), total[4 - taken], rtol=5.001e-3)
        pictures += figures(bench(page.app, "back"))
        if taken < 4:
            press("later")
    assert len({str(picture) for picture in pictures}) == 4
    for taken in (3, 2, 1, 0):
        press("earlier")
        assert page.value("back", "taken") == taken
    assert ends() == (True, False)
    assert ending(page) is None
    assert note(page, "not_begun", last=4) in said(page, "back")
    assert not alerts(bench(page.app, "back"))["warning"]


def test_a_shorter_network_takes_the_last_step_with_it(visit):
    page = visit(SLUG, vg__back__steps="6", vg__back__taken="6")
    page.run(vg__back__steps=3)
    assert page.value("back", "taken") == 3
    total = bptt.recursion(Experiment("linear", 3, 2, gain=0.8, loss="mean", seed=1)).total
    np.testing.assert_allclose(ending(page), total[0], rtol=5.001e-3)
