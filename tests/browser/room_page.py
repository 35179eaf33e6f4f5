"""A class in a room, for all tests of a file: a teacher and a student in browsers of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.sync_api import Browser, expect

from seqviz.core.i18n import Text
from testing.server import Server
from tests.browser.lesson_page import LessonPage, Visitors, visitors

SHOWN = ".seqviz-room"
FIGURE, PHI = "ar.process", "ar.process.phi"
# Nothing that students have sent is left, as it is where a test has failed.
CLEARED = """async () => {
    const { room } = document.querySelector(".seqviz-room").chip;
    if (room.state?.sent?.length) await room.send({ kind: "order", sent: [] });
    for (;;) {
        const first = room.state?.pending?.first;
        if (!first) return;
        await room.send({ kind: "discard", number: first.number });
        while (room.state.pending.first?.number === first.number)
            await new Promise((resolve) => setTimeout(resolve, 50));
    }
}"""
TOP = "document.querySelector('[data-testid=stMain]').scrollTo(0, 0)"


@dataclass
class Room:
    """A teacher and a student in a room; `visit` opens further ones of its visitors."""

    visitors: Visitors
    visit: Callable[..., LessonPage]
    teacher: LessonPage
    student: LessonPage

    @property
    def code(self) -> str:
        return re.search(r"room=(\w+)", self.teacher.page.url)[1]

    def at(self, slug: str, bench: str) -> None:
        """Both stand at the beginning of a lesson with its defaults, and nothing is held."""
        teacher, student = self.teacher.page, self.student.page
        teacher.set_viewport_size({"width": 1280, "height": 800})
        for name in ("Go on", "All figures"):  # held where a test has failed
            for button in teacher.locator(SHOWN).get_by_role("button", name=name).all():
                button.click()
        teacher.evaluate(CLEARED)
        for _ in student.locator("[data-seqviz-sheet]").all():  # of a question that was revealed
            student.keyboard.press("Escape")
        self.teacher.heard(FIGURE)
        self.student.heard(FIGURE)
        if self.teacher.settings or urlsplit(teacher.url).path != f"/{slug}":
            self.teacher.go(f"/{slug}?lang=en&room={self.code}")
        self.teacher.titled(Text("en")(f"{slug}.title"))
        for item in (teacher, student):
            item.evaluate(TOP)
        for button in student.locator(SHOWN).get_by_role("button", name="去那里").all():
            button.click()
        self.student.titled(Text("zh")(f"{slug}.title"))
        expect(student.locator(SHOWN)).to_contain_text("你看到的就是老师展示的")
        student.wait_for_function("() => !/[?&][a-z]{2}[.]/.test(location.search)")
        for item in (self.teacher, self.student):
            item.geometry(bench)


def joined(visit, code: str) -> LessonPage:
    """One who has come by the link, on a phone and in Chinese."""
    phone = {"viewport": {"width": 420, "height": 860}, "has_touch": True}
    return visit("", {"room": code, "lang": "zh"}, **phone)


@contextmanager
def a_room(browser: Browser, server: Server) -> Iterator[Room]:
    """Opened on the first lesson.

    Its browsers are nobody else's: a test in between would have their pages and what they keep.
    """
    with visitors(browser, server) as created, created.watched() as visit:
        teacher = visit("ar_fitting", {"lang": "en"})
        teacher.geometry(FIGURE)
        teacher.page.locator(".st-key-share button").first.click()
        teacher.page.locator(".seqviz-room-join").get_by_role("button", name="Open a room").click()
        teacher.page.locator(f"{SHOWN} .code").wait_for()
        expect(teacher.page).to_have_url(re.compile("room="))
        teacher.page.keyboard.press("Escape")
        opened = Room(created, visit, teacher, teacher)
        opened.student = joined(visit, opened.code)
        yield opened
