"""A class runs a bench: the teacher presses once, and each student finds the own seed in it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from seqviz.core.i18n import Text

BENCH, RUN = ".st-key-bench-fit", ".st-key-bench-fit .seqviz-class-run"
MINE = f"{RUN} .legendtext"


@pytest.fixture
def teacher(visit):
    lesson = visit("ar_fitting", {"lang": "en"})
    lesson.geometry("ar.process")
    assert lesson.page.locator(".seqviz-class-run").count() == 0  # outside a room
    return with_a_room(lesson)


def with_a_room(lesson):
    lesson.page.locator(".st-key-share button").first.click()
    lesson.page.locator(".seqviz-room-join").get_by_role("button", name="Open a room").click()
    lesson.page.locator(".seqviz-room .code").wait_for()
    lesson.page.keyboard.press("Escape")
    lesson.rest()
    return lesson


def joined(visit, teacher, **context):
    """A student in a browser of its own: visitors with the same options share what it keeps."""
    code = re.search(r"room=(\w+)", teacher.page.url)[1]
    lesson = visit("", {"room": code, **context.pop("parameters")}, **context)
    lesson.page.locator(BENCH).wait_for()
    return lesson


@pytest.mark.nightly
def test_class_run_shows_each_student_own_seed(visit, teacher):
    phone = {"viewport": {"width": 420, "height": 860}, "has_touch": True, "is_mobile": True}
    first = joined(visit, teacher, parameters={"lang": "zh"}, **phone)
    second = joined(visit, teacher, parameters={"lang": "en"}, color_scheme="dark", has_touch=True)
    expect(first.page.locator(RUN)).to_be_hidden()  # nothing is run yet, and it is not theirs to
    teacher.page.locator(BENCH).scroll_into_view_if_needed()
    button = teacher.page.locator(RUN).get_by_role("button", name="Run as class")
    button.click()
    expect(teacher.page.locator(RUN)).to_contain_text(
        "30 seeds, 2 of the class and 28 further ones."
    )
    expect(teacher.page.locator(MINE).filter(has_text="yours")).to_have_count(0)
    message = Text("zh")("room.run_yours", seed=1, value="0.771")
    expect(first.page.locator(f"{RUN} .own")).to_have_text(message)
    expect(second.page.locator(f"{RUN} .own")).to_have_text("Yours, seed 2: 0.801")
    for student, word in ((first, "你的"), (second, "yours")):
        expect(student.page.locator(MINE).filter(has_text=word)).to_have_count(1)
        assert student.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    late = joined(visit, teacher, parameters={"lang": "en"}, locale="zh-CN")
    expect(late.page.locator(f"{RUN} .own")).to_have_text("Yours, seed 3: 0.802")
    expect(teacher.page.locator(RUN)).to_contain_text("3 of the class and 27 further ones.")
    values = second.page.locator(f"{RUN} details")
    values.locator("summary").click()
    expect(values.locator("tr")).to_have_count(31)


def test_class_run_marks_student_value_in_row_of_each_cell(visit):
    quick = {"vg.race.delay": "5", "vg.race.hidden": "8", "vg.race.updates": "100"}
    lesson = visit("vanishing_gradients", {"lang": "en", **quick})
    teacher = with_a_room(lesson)
    code = re.search(r"room=(\w+)", teacher.page.url)[1]
    race = ".st-key-bench-race .seqviz-class-run"
    teacher.page.locator(".st-key-bench-race").scroll_into_view_if_needed()
    student = visit("", {"room": code, "lang": "zh"}, locale="zh-CN")
    student.page.locator(".st-key-bench-race").wait_for()
    button = teacher.page.locator(race).get_by_role("button", name="Run as class")
    button.click()
    # A quick training may be over before its share is asked for; then the count says it.
    working = re.compile(r"being trained|[12]0 of 30 seeds")
    expect(teacher.page.locator(f"{race} [role=status]")).to_contain_text(working)
    expect(teacher.page.locator(race)).to_contain_text("GRU minus LSTM")
    expect(teacher.page.locator(race)).to_contain_text("50 updates, half of the 100 above")
    expect(student.page.locator(f"{race} .own")).to_contain_text(
        re.compile(r"种子 1）：RNN \S+ · LSTM \S+ · GRU \S+")
    )
    # The sentence stands before the chart does, which is drawn a moment later.
    rings = """(selector) => (document.querySelector(selector)?.data ?? [])
        .find((one) => one.name === '你的')?.y.length === 3"""
    student.page.wait_for_function(rings, arg=f"{race} .seqviz-chart")
