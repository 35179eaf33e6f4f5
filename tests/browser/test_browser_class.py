"""A whole lesson: one teacher, five students.

Two are on phones, one of them in Chinese; one has a keyboard only, one comes late, one loses the
network in the middle. With SEQVIZ_PICTURES=<folder> all six screens are kept at each step.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from seqviz.content import catalog
from seqviz.core.i18n import Text
from testing.chromium import slider_input
from tests.shared_fixtures import PATIENCE

CHIP, BALLOT, RUN = ".seqviz-room", ".seqviz-poll", ".st-key-bench-fit .seqviz-class-run"
PHI = "ar.process.phi"
ROAD = {
    "Teacher": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 420, "height": 860}, "has_touch": True},
    "Chinese phone": {"viewport": {"width": 420, "height": 860}, "has_touch": True,
                      "color_scheme": "dark"},
    "keyboard": {"viewport": {"width": 1100, "height": 760}},
    "lost": {"viewport": {"width": 1100, "height": 760}},
    "late": {"viewport": {"width": 900, "height": 760}, "color_scheme": "dark"},
}  # fmt: skip


class Class:
    """Six browsers. Their consoles are not watched: one that loses the network says so there."""

    def __init__(self, browser, url: str) -> None:
        self.browser, self.url = browser, url
        self.pages: dict[str, Page] = {}

    def open(self, caller: str, path: str) -> Page:
        page = self.browser.new_context(**ROAD[caller]).new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{self.url}/{path}")
        self.pages[caller] = page
        return page

    def students(self) -> dict[str, Page]:
        return {caller: page for caller, page in self.pages.items() if caller != "Teacher"}

    def seen(self, step: str) -> None:
        """Keep what all see now."""
        if folder := os.environ.get("SEQVIZ_PICTURES"):
            for caller, page in self.pages.items():
                page.screenshot(path=Path(folder, f"{step} {caller}.png"))

    def close(self) -> None:
        for page in self.pages.values():
            page.context.close()


@pytest.fixture
def school(browser, server) -> Iterator[Class]:
    created = Class(browser, server.url)
    yield created
    created.close()


def choose(page: Page, option: int, keys: bool = False) -> None:
    """Vote; with keys alone: Tab until the answer has the focus, then Enter."""
    answer = page.locator(f"{BALLOT} .option").nth(option)
    expect(answer).to_be_enabled()
    if not keys:
        answer.click()
    else:
        page.keyboard.press("Tab")
        for _ in range(200):
            if answer.evaluate("one => one === document.activeElement"):
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    expect(answer).to_have_attribute("aria-pressed", "true")


@pytest.mark.nightly
def test_classroom_runs_whole_lesson_with_teacher_and_five_students(school):
    teacher = school.open("Teacher", "ar_fitting?lang=en")
    slider = teacher.locator(slider_input(PHI))
    slider.wait_for()
    teacher.locator(".st-key-share button").first.click()
    teacher.locator(".seqviz-room-join").get_by_role("button", name="Open a room").click()
    chip = teacher.locator(CHIP)
    chip.locator(".code").wait_for()
    room = re.search(r"room=(\w+)", teacher.url)[1]
    teacher.keyboard.press("Escape")

    # By its code on the page that they have; by the link; from home, in Chinese.
    phone = school.open("phone", "gates?lang=en")
    phone.locator(".st-key-share button").first.click()
    phone.locator(".seqviz-room-join input").fill(room.lower())
    phone.locator(".seqviz-room-join").get_by_role("button", name="Join").click()
    school.open("Chinese phone", f"?room={room}&lang=zh")
    school.open("keyboard", f"ar_fitting?room={room}&lang=en")
    lost = school.open("lost", f"ar_fitting?room={room}&lang=en")
    for page in school.students().values():
        expect(page.locator(slider_input(PHI))).to_be_attached()
        expect(page.locator(f"{CHIP} .name")).to_be_visible()
    expect(chip).to_contain_text("4 here")
    names = [page.locator(f"{CHIP} .name").text_content() for page in school.students().values()]
    assert len(set(names)) == 4

    slider.press("PageDown")
    for page in school.students().values():
        expect(page.locator(slider_input(PHI))).to_have_value("0.7")
    school.seen("1 follow")

    # Vote, talk, vote again; one is without a network between the two.
    put = teacher.locator(BALLOT).first
    put.get_by_role("button", name="Put it to the vote").click()
    for number, (caller, page) in enumerate(school.students().items()):
        choose(page, number % 2, keys=caller == "keyboard")
    expect(put).to_contain_text("4 of 4")
    school.seen("2 vote")
    lost.context.set_offline(True)
    expect(lost.locator(f"{CHIP} .lost")).to_be_visible()
    put.get_by_role("button", name="Close").click()
    put.get_by_role("button", name="Vote again").click()
    for caller, page in school.students().items():
        if caller != "lost":
            choose(page, 1, keys=caller == "keyboard")
    slider.press("PageDown")
    late = school.open("late", f"?room={room}&lang=en")
    expect(late.locator(slider_input(PHI))).to_have_value("0.6")
    choose(late, 2)
    school.seen("3 without network")
    lost.context.set_offline(False)
    expect(lost.locator(f"{CHIP} .lost")).to_have_count(0)
    assert lost.locator(f"{CHIP} .name").text_content() == names[3]
    expect(lost.locator(slider_input(PHI))).to_have_value("0.6")
    choose(lost, 0)
    expect(put).to_contain_text("5 of 5")
    for page in school.pages.values():
        assert page.locator(f"{BALLOT} .bar").count() == 0
    put.get_by_role("button", name="Close").click()
    put.get_by_role("button", name="Reveal").click()
    for page in school.pages.values():
        expect(page.locator(f"{BALLOT} .bar")).not_to_have_count(0)
    school.seen("4 revealed")

    # One distribution of the class.
    teacher.locator(".st-key-bench-fit").scroll_into_view_if_needed()
    teacher.locator(RUN).get_by_role("button", name="Run as class").click()
    expect(teacher.locator(RUN)).to_contain_text("30 seeds, 5 of the class and 25 further ones.")
    owns = [page.locator(f"{RUN} .own") for page in school.students().values()]
    for own in owns:
        expect(own).to_have_text(re.compile(r"\d\.\d"))
    assert len({own.inner_text() for own in owns}) == 5
    teacher.locator(RUN).scroll_into_view_if_needed()
    school.seen("5 run")

    # On to another lesson: who is apart stays, reads where the others are, and comes back.
    phone.locator(slider_input(PHI)).press("PageUp")
    expect(chip).to_contain_text("1 on their own")
    teacher.locator(".st-key-go-next button").click()
    title = f"{catalog.LESSONS[1].slug}.title"
    for caller, page in school.students().items():
        if caller != "phone":
            words = Text("zh" if caller == "Chinese phone" else "en")
            expect(page.locator("h1").first).to_contain_text(words(title))
    expect(phone.locator(CHIP)).to_contain_text(Text("en")(title))
    school.seen("6 apart")
    phone.locator(CHIP).get_by_role("button", name="Go there").click()
    expect(phone.locator("h1").first).to_contain_text(Text("en")(title))
    expect(chip).not_to_contain_text("on their own")

    chip.get_by_role("button", name="Pause").click()
    for page in school.students().values():
        expect(page.locator(f"{CHIP} .calm")).to_be_visible()
    chip.get_by_role("button", name="Go on").click()
    with teacher.expect_download() as file:
        chip.get_by_role("button", name="Save as a notebook").click()
    retained = file.value.path().read_text("utf-8")
    assert json.loads(retained)["nbformat"] == 4
    assert not any(name in retained for name in names)
    teacher.on("dialog", lambda dialog: dialog.accept())
    chip.get_by_role("button", name="End").click()
    for page in school.students().values():
        expect(page.locator(CHIP)).to_contain_text(
            re.compile(f"{Text('en')('room.ended')}|{Text('zh')('room.ended')}")
        )
    school.seen("7 end")
