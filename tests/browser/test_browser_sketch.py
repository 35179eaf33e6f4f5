"""Predictions that are drawn: with mouse, finger or keys, alone and by a class in a room."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from seqviz import lessons
from seqviz.core.i18n import Text
from seqviz.lessons.framework.drawn_prediction import FINE
from seqviz.plotting.style import STYLE

PHONE = {"viewport": {"width": 420, "height": 860}, "has_touch": True}
SCROLLED = "document.querySelector('[data-testid=stMain]').scrollTop"
PLACES = {"vanishing_gradients": "tanh", "ar_fitting": "waves", "bert_accuracy": "rate"}


def sketch_of(lesson, slug: str):
    """The drawing of a lesson, in sight."""
    code = getattr(lessons, slug).lesson.record.code
    result = lesson.page.locator(f".st-key-{code}-sketch-{PLACES[slug]}-drawing .seqviz-sketch")
    result.scroll_into_view_if_needed()
    result.locator(".main-svg").first.wait_for()
    result.locator(".pad").wait_for()
    lesson.rest()  # what is pressed while a page still comes waits for all of it
    return result


def missed(slug: str, marks: list[int]) -> float:
    """By how much a sketch misses what Python computes."""
    lesson = getattr(lessons, slug).lesson
    posed = lesson.sketches[PLACES[slug]].posed(lesson, STYLE)
    if posed.rows.size:
        return float(np.nanmax(posed.y) - posed.y[marks[1], marks[0]])
    low, high = posed.ends
    return float(np.nanmean(np.abs(low + (high - low) * np.array(marks) / FINE - posed.y)))


def marks_of(sketch) -> list[int]:
    return [int(mark) for mark in sketch.get_attribute("data-marks").split(",")]


def compute(sketch, slug: str) -> None:
    """Press Compute: the own error is that of Python."""
    marks = marks_of(sketch)
    sketch.locator("button.primary").click()
    expect(sketch.locator(".result p")).to_have_count(1)
    assert float(sketch.get_attribute("data-error")) == pytest.approx(missed(slug, marks))


def at(sketch, x: float, y: float) -> tuple[float, float]:
    box = sketch.locator(".pad").bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def traces(sketch) -> int:
    return sketch.locator(".seqviz-chart").evaluate("(host) => host.data.length")


# Where the sketch begins and ends, in units of the axes that are drawn now.
ENDS = """(host) => {
  const {xaxis: x, yaxis: y} = host.querySelector(".seqviz-chart")._fullLayout;
  const found = host.querySelector(".own").getAttribute("d").match(/-?[\\d.]+/g).map(Number);
  return [found.slice(0, 2), found.slice(-2)].flatMap(([left, top]) =>
    [x.p2d(left - x._offset), y.p2l(top - y._offset)]);
}"""


def test_sketch_can_be_skipped_as_any_prediction(visit):
    lesson = visit("ar_fitting", {"lang": "en"})
    sketch = sketch_of(lesson, "ar_fitting")
    before = traces(sketch)
    sketch.get_by_role("button", name=Text("en")("frame.skip")).click()
    expect(lesson.page.locator(".st-key-ar-sketch-waves-done")).to_be_visible()
    assert traces(sketch) >= before
    expect(sketch.locator(".result p")).to_have_count(0)  # nothing was drawn
    expect(sketch.get_by_role("button", name=Text("en")("frame.skip"))).to_have_count(0)


def test_sketch_curve_by_mouse_keeps_its_axes(visit):
    lesson = visit("vanishing_gradients", {"lang": "en"})
    sketch = sketch_of(lesson, "vanishing_gradients")
    expect(sketch.locator("button.primary")).to_be_disabled()
    assert traces(sketch) == 1  # the linear network alone
    mouse = lesson.page.mouse
    mouse.move(*at(sketch, 0.02, 0.1))
    mouse.down()
    mouse.move(*at(sketch, 0.5, 0.6))  # a quick hand passes places
    mouse.move(*at(sketch, 0.97, 0.4))
    mouse.up()
    marks = marks_of(sketch)
    assert len(marks) == 25
    assert marks[0] > 850
    assert min(marks) == pytest.approx(400, abs=40)
    rendered = sketch.evaluate(ENDS)
    lesson.page.set_viewport_size({"width": 700, "height": 800})
    expect(sketch.locator(".main-svg").first).not_to_have_attribute("width", "1006")
    lesson.rest()
    assert sketch.evaluate(ENDS) == pytest.approx(rendered, abs=0.3)
    compute(sketch, "vanishing_gradients")
    assert traces(sketch) == 2
    assert sketch.evaluate(ENDS) == pytest.approx(rendered, abs=0.3)
    lesson.page.emulate_media(color_scheme="dark")
    sketch = sketch_of_computed(lesson, "vanishing_gradients")
    assert marks_of(sketch) == marks
    sketch.get_by_role("button", name="Set the figure to this").click()
    expect(lesson.page).to_have_url(re.compile(r"vg\.reach\.gain=1\.2"))
    sketch.get_by_role("button", name="Draw again").click()
    expect(sketch.locator(".pad")).to_be_visible()
    assert traces(sketch) == 1
    sketch.get_by_role("button", name="Clear").click()
    expect(sketch.locator(".own")).to_have_count(0)


def sketch_of_computed(lesson, slug: str):
    code = getattr(lessons, slug).lesson.record.code
    return lesson.page.locator(f".st-key-{code}-sketch-{PLACES[slug]}-drawing .seqviz-sketch")


@pytest.mark.nightly
def test_sketch_draws_bars_by_touch_without_scrolling(visit):
    lesson = visit("ar_fitting", {"lang": "zh"}, **PHONE)
    sketch = sketch_of(lesson, "ar_fitting")
    finger = lesson.page.context.new_cdp_session(lesson.page)

    def touch(kind: str, *positions) -> None:
        points = [{"x": x, "y": y} for x, y in positions]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    before = lesson.page.evaluate(SCROLLED)
    touch("touchStart", at(sketch, 0.02, 0.2))
    for step in range(1, 9):
        touch("touchMove", at(sketch, 0.02 + 0.1 * step, 0.2 + 0.04 * step))
    touch("touchEnd")
    finger.detach()
    assert lesson.page.evaluate(SCROLLED) == before
    marks = marks_of(sketch)
    assert len(marks) == 20
    assert marks[0] > marks[8] > marks[15]
    assert marks[-1] == FINE / 2  # a bar that was not touched has no height
    compute(sketch, "ar_fitting")
    expect(sketch.locator(".result")).to_contain_text("平均相差")


@pytest.mark.nightly
def test_sketch_selects_cell_by_keyboard(visit):
    lesson = visit("bert_accuracy", {"lang": "en", "ba.part": "search"})
    sketch = sketch_of(lesson, "bert_accuracy")
    keys = lesson.page.keyboard
    pad = sketch.locator(".pad")
    pad.focus()
    expect(sketch.locator(".xtick, .ytick")).to_have_count(9)  # the axes, and nothing on them
    assert traces(sketch) == 0
    expect(pad).to_have_attribute("aria-valuetext", "nothing drawn")
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowDown", "ArrowDown"):
        keys.press(key)
    assert marks_of(sketch) == [12, 0]
    expect(pad).to_have_attribute("aria-valuetext", "Learning rate (log₁₀): −2.00; Batch size: 16")
    keys.press("ArrowUp")
    keys.press("Tab")
    expect(sketch.get_by_role("button", name="Compute")).to_be_focused()
    marks = marks_of(sketch)
    keys.press("Enter")
    expect(sketch.locator(".result p")).to_have_count(1)
    error = float(sketch.get_attribute("data-error"))
    assert error == pytest.approx(missed("bert_accuracy", marks))
    expect(sketch.locator(".result")).to_contain_text(f"{error:.3g} percentage points")


def test_sketch_draws_curve_by_keyboard_and_300_sketches_as_one_path(visit):
    """A few places are enough: between them it is straight, and level beyond."""
    lesson = visit("vanishing_gradients", {"lang": "en"})
    sketch = sketch_of(lesson, "vanishing_gradients")
    keys = lesson.page.keyboard
    sketch.locator(".pad").focus()
    for key in ("PageUp", "ArrowUp", "End", "PageDown", "Shift+ArrowDown"):
        keys.press(key)
    marks = marks_of(sketch)
    assert (marks[0], marks[-1]) == (610, 460)
    assert marks == pytest.approx(np.linspace(610, 460, 25), abs=1)
    expect(sketch.locator(".pad")).to_have_attribute("aria-valuetext", re.compile("time t.*100"))
    sketch.get_by_role("button", name="Clear").click()
    expect(sketch.locator(".own")).to_have_count(0)
    sketch.evaluate("""(host) => {
        const some = (count, make) => Array.from({length: count}, make);
        const sketches = some(300, () => some(25, () => Math.round(1000 * Math.random())));
        const [low, median, high, below, above] = sketches;
        host.sketch.classSketches = {count: 300, sketches, low, median, high, below, above};
        host.sketch.refresh();
    }""")
    assert sketch.locator("svg[aria-hidden] > *").count() == 4
    took = sketch.evaluate("""(host) => {
        const start = performance.now();
        for (let time = 0; time < 10; time += 1) host.sketch.render();
        return (performance.now() - start) / 10;
    }""")
    print(f"300 sketches drawn in {took:.1f} ms")


# ---- in a room

# One more has sent a sketch, as far as this page hears.
ANOTHER = """() => {
    const { room } = document.querySelector(".seqviz-room").chip, { state } = room;
    room.onState({ ...state, sketch: { ...state.sketch, drawn: state.sketch.drawn + 1 } });
}"""


@pytest.fixture
def teacher(visit):
    lesson = visit("vanishing_gradients", {"lang": "en"})
    lesson.page.locator(".st-key-share button").first.click()
    lesson.page.locator(".seqviz-room-join").get_by_role("button", name="Open a room").click()
    expect(lesson.page).to_have_url(re.compile("room="))
    lesson.page.keyboard.press("Escape")
    lesson.rest()
    return lesson


def test_sketch_of_class_is_revealed_with_computed_line(visit, teacher):
    slug = "vanishing_gradients"
    code = re.search(r"room=(\w+)", teacher.page.url)[1]
    student = visit("", {"room": code, "lang": "zh"}, **PHONE)
    student.titled(Text("zh")(f"{slug}.title"))
    messages: list[str] = []

    def heard(request) -> None:
        if request.url.endswith("/messages"):
            messages.append(request.post_data or "")

    student.page.on("request", heard)
    put = sketch_of_computed(teacher, slug)
    put.scroll_into_view_if_needed()
    own = sketch_of(student, slug)
    expect(own).to_contain_text("等老师开始")
    put.get_by_role("button", name="Let the class draw").click()
    send = own.get_by_role("button", name="发送", exact=True)
    expect(send).to_be_disabled()
    own.locator(".pad").focus()
    for key in ("PageUp", "End", "PageDown"):
        student.page.keyboard.press(key)
    send.click()
    expect(own).to_contain_text("已发送，不带名字")
    expect(put).to_contain_text("Sent: 1 of 1")
    student.page.keyboard.press("Tab")
    own.locator(".pad").focus()
    student.page.keyboard.press("PageDown")
    expect(own).to_contain_text("发送之后有改动")
    send.click()
    expect(own).to_contain_text("已发送，不带名字")
    marks = marks_of(own)
    put.get_by_role("button", name="Close").hover()
    teacher.page.mouse.down()
    teacher.page.evaluate(ANOTHER)
    teacher.page.mouse.up()
    expect(own).to_contain_text("已结束")
    expect(own.locator(".pad")).to_be_hidden()
    # nothing is shown before it is revealed
    assert put.locator(".class-sketches, .median").count() == 0
    assert (traces(put), traces(own)) == (1, 1)
    put.get_by_role("button", name="Reveal").click()
    expect(put).to_contain_text("Sketches: 1")
    expect(put.locator(".class-sketches")).to_be_attached()
    expect(own.locator(".median")).to_be_attached()
    assert own.locator(".class-sketches").count() == 0
    for item in (put, own):
        expect(item.locator(".result")).to_contain_text("2.72 × 10⁹")
        assert traces(item) == 2
    assert f"{10 ** missed(slug, marks):.2e}" == "2.72e+09"
    assert float(own.get_attribute("data-error")) == pytest.approx(missed(slug, marks))
    assert put.get_attribute("data-error") is None
    sketched = [json.loads(entry) for entry in messages if '"sketch"' in entry]
    assert [set(entry) for entry in sketched] == [{"kind", "number", "marks"}] * 2
    put.get_by_role("button", name="Let the class draw again").click()
    expect(own.locator(".pad")).to_be_visible()
    expect(put.locator(".class-sketches")).to_have_count(0)
    assert traces(own) == 1
