"""The kit for page tests as tables: what it accepts, and that it refuses a wrong table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from seqviz.compute import vanishing_gradients as bptt
from seqviz.figures.vanishing_gradients.norms import gradient_reach
from seqviz.figures.vanishing_gradients.paths import unrolled_graph
from seqviz.figures.vanishing_gradients.simplified_gru import gated_jacobian
from seqviz.lessons.vanishing_gradients.lesson import lesson
from tests.pages.scenes import Scene, check, each


def jacobian(style):
    simplified_gru = bptt.simplified_gru(0.5, 0.25, "gaussian", 8, 0.9, 1, 20)
    return gated_jacobian(simplified_gru, 0.5, 0.25, style=style)


REACH = Scene(
    "reach", {"gain": 0.9}, gradient_reach,
    readouts=("sigma_max", "radius", "longest", "shortest"),
)  # fmt: skip
GATES = Scene(
    "gates",
    {"update": 0.5, "reset": 0.25, "reach.init": "gaussian", "reach.width": 8, "reach.gain": 0.9,
     "reach.steps": 20},
    jacobian,
    readouts=("gru_radius", "rnn_radius", "gru_power", "rnn_power"),
)  # fmt: skip
UNTAKEN = Scene("back", {"taken": 0}, unrolled_graph, notes=("not_begun",))


@each((REACH, GATES, UNTAKEN, Scene("race", {"seed": 5}, waits="train")))
def test_check_accepts_valid_scenes(scene, language):
    check(lesson, scene, language)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(REACH, figure=gated_jacobian),  # another figure
        replace(REACH, readouts=REACH.readouts[:-1]),
        replace(REACH, readouts=dict.fromkeys(REACH.readouts, "1")),
        replace(REACH, notes=("grows",)),
        replace(GATES, values={**GATES.values, "update": 0.52}),  # drawn from other settings
        replace(UNTAKEN, values={"taken": 1}),
        replace(UNTAKEN, notes=("unknown",)),
        Scene("race", {"seed": 5}),
        Scene("cut", {"stop": 0.2}),  # a setting that does not apply
    ],
    ids=str,
)
def test_check_rejects_wrong_scene(wrong):
    with pytest.raises(AssertionError):
        check(lesson, wrong)
