"""What is drawn before it is shown: on the bench's axes, without its answer, at its settings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from seqviz import lessons
from seqviz.classroom.rooms import Rooms
from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text, catalogue
from seqviz.core.units import unbroken
from seqviz.data import precomputed
from seqviz.lessons.ar_fitting.series import coefficients
from seqviz.lessons.framework.controls import parse_params
from seqviz.lessons.framework.drawn_prediction import MARKS, compared
from seqviz.lessons.gpt.generation import DECODER
from seqviz.plotting.style import STYLE, Style

LESSONS = [getattr(lessons, record.slug).lesson for record in catalog.LESSONS]
SKETCHES = [(lesson, name) for lesson in LESSONS for name in lesson.sketches]
IDS = [f"{lesson.slug}.{name}" for lesson, name in SKETCHES]
PAGES = Path(__file__).parents[2] / "pages"


def test_sketches_cover_every_kind():
    assert {lesson.sketches[name].kind for lesson, name in SKETCHES} >= {"curve", "bar", "cell"}


@pytest.mark.parametrize(("lesson", "name"), SKETCHES, ids=IDS)
def test_sketch_has_axes_without_answer(lesson, name):
    sketch = lesson.sketches[name]
    posed = sketch.posed(lesson, STYLE)
    before, after = (json.loads(item.to_json()) for item in (posed.before, posed.after))
    assert before["layout"] == after["layout"]
    assert all("range" in before["layout"][f"{axis}axis"] for axis in "xy")
    answer = after["data"][len(sketch.visible)]
    assert answer not in before["data"]
    assert not {"annotations", "shapes", "meta", "images"} & set(before["layout"])
    visible = len(sketch.visible)
    assert len(after["data"]) == visible + len(sketch.answer)
    assert len(before["data"]) == visible


@pytest.mark.parametrize(("lesson", "name"), SKETCHES, ids=IDS)
def test_sketch_answer_matches_bench(lesson, name):
    sketch = lesson.sketches[name]
    bench = lesson.benches[sketch.bench]
    parse_params(bench.declaration, sketch.values)  # raises for what its controls do not have
    figure = bench(**sketch.values).figure
    posed = sketch.posed(lesson, STYLE)
    for position, trace in zip((*sketch.visible, *sketch.answer), posed.after.traces, strict=False):
        for key in ("x", "y", "z"):
            if key in trace:
                np.testing.assert_array_equal(trace[key], figure.traces[position][key])
    assert posed.after.axis("y")["title"] == figure.axis(sketch.panel[1])["title"]


@pytest.mark.parametrize(("lesson", "name"), SKETCHES, ids=IDS)
def test_room_accepts_sketch_question_and_answer(lesson, name):
    sketch = lesson.sketches[name]
    posed = sketch.posed(lesson, STYLE)
    room = Rooms().open()
    key = f"{lesson.record.code}.sketch.{name}"
    room.apply_teacher_message(
        {
            "kind": "sketch",
            "action": "ask",
            "key": key,
            "type": sketch.kind,
            "most": posed.max_values,
        }
    )
    room.apply_student_message(
        room.join()[0], {"kind": "sketch", "number": 1, "marks": posed.max_values}
    )
    assert len(posed.max_values) <= MARKS
    if not posed.rows.size:
        low, high = posed.ends
        assert posed.y.shape == posed.x.shape == (len(posed.max_values),)
        assert low < np.nanmin(posed.y) <= np.nanmax(posed.y) < high  # all of it can be drawn
    else:
        assert posed.y.shape == (posed.rows.size, posed.x.size)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("lesson", "name"), SKETCHES, ids=IDS)
def test_sketch_has_texts_and_appears_on_page(lesson, name, lang):
    key = f"{lesson.slug}.sketch.{name}"
    assert {f"{key}.{part}" for part in ("question", "own", "reveal")} <= set(catalogue(lang))
    cell = lesson.sketches[name].kind == "cell"
    for part in ("own",) if cell else ("own", "median"):
        sentence = Text(lang)(f"{key}.{part}")
        fields = set(re.findall(r"\{(\w+)\}", sentence))
        assert {"value", "best", "error"} <= fields if cell else fields & {"error", "factor"}
        assert "decade" not in sentence  # a student knows factors, not decades
    page = (PAGES / f"{lesson.slug}.py").read_text("utf-8")
    above_bench = lesson.sketches[name] in lesson.benches[lesson.sketches[name].bench].sketches
    assert (f'lesson.sketch("{name}")' in page) is not above_bench
    lesson.sketches[name].posed(lesson, Style(lang=lang))


def test_sketch_reveals_match_computed_numbers():
    """The numbers that stand in their sentences."""
    item = lessons.vanishing_gradients.lesson
    linear, tanh = (
        trace["name"] for trace in item.sketches["tanh"].posed(item, STYLE).after.traces
    )
    assert unbroken("Linear RNN, × 1.25") in linear
    assert unbroken(", × 0.794") in tanh
    sinusoids = lessons.ar_fitting.lesson
    posed = sinusoids.sketches["waves"].posed(sinusoids, STYLE)
    theory = posed.after.traces[-1]["y"]
    np.testing.assert_allclose(theory[:3], [0.6, 0.04, -0.264], atol=1e-12)
    world = parse_params(
        sinusoids.benches["process"].declaration, sinusoids.sketches["waves"].values
    )
    assert coefficients(world) == pytest.approx((0.9, -0.5))
    rate = lessons.bert_accuracy.lesson
    result = rate.sketches["rate"].posed(rate, STYLE)
    best = 10 ** result.x[np.unravel_index(np.nanargmax(result.y), result.y.shape)[1]]
    assert 5e3 < best / 1e-5 < 5e4
    share = np.nanmax(result.y) / 100
    assert 1.96 * (share * (1 - share) / 800) ** 0.5 == pytest.approx(0.03, abs=0.005)


def test_attention_sketch_entropy_falls_without_scaling():
    """Scores of deviation sqrt(d_k), against draws of our own, entry by entry."""
    attention = lessons.attention.lesson
    posed = attention.sketches["scale"].posed(attention, STYLE)
    random, line = np.random.default_rng(0), posed.after.traces[-1]
    computed = dict(zip(np.asarray(line["x"]).tolist(), line["y"], strict=True))
    for d_k, bits in ((64, 0.58), (1024, 0.14)):
        assert computed[d_k] == pytest.approx(bits, abs=0.005)
        scores = (random.normal(size=(400, 16, d_k)) @ random.normal(size=(400, d_k, 1)))[..., 0]
        assert scores.std() == pytest.approx(np.sqrt(d_k), rel=0.05)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        ours = -(weights * np.log2(np.maximum(weights, 1e-300))).sum(1)
        assert computed[d_k] == pytest.approx(ours.mean(), abs=4 * ours.std() / 20 + 0.02)
    visible = np.asarray(posed.before.traces[0]["y"])
    assert np.ptp(visible[1:]) < 0.25  # hardly moves
    assert np.all(np.diff(posed.y) < 0)


def test_gpt_sketch_matches_shipped_accuracy_without_model(monkeypatch):
    monkeypatch.setattr("seqviz.models.pretrained.load", None)
    gpt = lessons.gpt.lesson
    posed = gpt.sketches["coin"].posed(gpt, STYLE)
    assert posed.y == pytest.approx([80.4, 75.8, 60.2, 59.8], abs=0.05)
    result = precomputed.result("few_shots", model=DECODER)
    assert (result.questions, result.draws) == (60, 8)
    assert 100 * result.accuracy("right", 0).mean == pytest.approx(88.3, abs=0.05)
    assert [*result.amounts][1:] == [1, 2, 4, 8]
    assert pytest.approx(0.12, abs=0.005) == 1.96 * (0.598 * 0.402 / 60) ** 0.5


def test_compared_rejects_figure_without_fixed_ends():
    lesson = lessons.ar_fitting.lesson
    figure = lesson.benches["process"](view="lag_plot").figure
    with pytest.raises(ValueError, match="fixed ends"):
        compared(figure.traces[1], figure, "curve")


def test_sketch_compares_log_axis_in_decades():
    lesson = lessons.vanishing_gradients.lesson
    posed = lesson.sketches["tanh"].posed(lesson, STYLE)
    line = posed.after.traces[-1]
    at = np.searchsorted(line["x"], posed.x)
    np.testing.assert_allclose(posed.y, np.log10(np.asarray(line["y"])[at]))
    assert posed.ends == tuple(posed.after.axis("y")["range"])
