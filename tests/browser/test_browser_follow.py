"""Who follows a teacher's hand is sent its pictures and asks for none."""

from __future__ import annotations

import re

from playwright.sync_api import expect
from room_page import FIGURE, PHI, SHOWN

# Of a bench under a hand: what was painted last, and how often something was.
PICTURES = """() => {
    const found = window.seqvizLive("ar.process").pictures;
    return [found.length, found.at(-1)?.values["ar.process.phi"]];
}"""


def test_a_figure_follows_a_drag_and_nothing_is_asked_for(teacher, student):
    """In two languages at once: each is sent its own."""
    asked: list[str] = []
    student.page.on("request", lambda one: asked.append(one.url) if "/live/" in one.url else None)
    student.page.wait_for_timeout(3500)  # it says how it looks at most every three seconds
    before = student.geometry(FIGURE)
    teacher.drag(PHI, 0.9, 0.3, 10)
    for share in (0.35, 0.4, 0.45, 0.5):
        teacher.page.mouse.move(*teacher.at(PHI, share))
        teacher.page.wait_for_timeout(300)
    value = teacher.slider(PHI).input_value()
    expect(student.slider(PHI)).to_have_value(value)
    student.page.wait_for_function(f"() => ({PICTURES})()[1] === '{value}'")
    assert student.page.evaluate(PICTURES)[0] >= 4
    assert student.geometry(FIGURE) != before
    alt = student.page.locator(".st-key-ar-process-figure [role=img]").get_attribute("aria-label")
    assert alt != teacher.page.locator(".st-key-ar-process-figure [role=img]") \
        .get_attribute("aria-label")  # fmt: skip
    assert asked == []
    teacher.page.mouse.up()
    expect(student.page).to_have_url(
        re.compile(rf"{re.escape(PHI)}={value}")
    )  # the page hears of it
    expect(student.page.locator(SHOWN)).to_contain_text("你看到的就是老师展示的")
    assert asked == []


def test_who_looks_at_it_otherwise_asks_for_the_own_picture(teacher, student):
    """A setting of the own that the teacher's page has not: what is sent is not painted."""
    student.page.wait_for_timeout(3500)
    student.page.evaluate("""() => {
        const place = window.seqvizLive("ar.process"), { asked } = place;
        place.asked = () => ({ ...asked.call(place), "ar.process.seed": "5" });
    }""")
    with student.page.expect_request(lambda one: "/live/" in one.url) as found:
        teacher.slider(PHI).press("PageDown")
    assert "ar.process.seed=5" in found.value.url
    expect(student.slider(PHI)).to_have_value("0.7")
    student.page.evaluate("delete window.seqvizLive('ar.process').asked")
