"""A class whose server is killed in the middle of a vote; links and codes that prove nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from seqviz.classroom import codes, rooms
from seqviz.classroom.storage import CLOSED_FILE
from seqviz.core.i18n import Text
from testing.server import Server, serve
from tests.browser.room_page import SHOWN

pytestmark = pytest.mark.timeout(600)
BACK_MS = 60_000  # on a machine that is busy; the goal is ten seconds from the first health answer
ROOM = "document.querySelector('.seqviz-room')?.chip?.room"
STATE = f"{ROOM}?.state"
KEPT = "JSON.parse(localStorage.getItem('seqviz.room'))"


@pytest.fixture(scope="module")
def own_server(tmp_path_factory) -> Iterator[Server]:
    cache = tmp_path_factory.mktemp("cache")
    with serve(environment={"SEQVIZ_CACHE": str(cache), "HF_HUB_OFFLINE": "1"}) as server:
        yield server


class School:
    """A teacher and students, each in a browser of its own whose log is not watched: a server that
    is killed is in it."""

    def __init__(self, browser: Browser, server: Server) -> None:
        self._browser, self._server = browser, server
        self.contexts: list[BrowserContext] = []
        self.teacher = self.open("ar_fitting?lang=en")
        self.teacher.locator(".st-key-share button").first.click(timeout=BACK_MS)
        entry = self.teacher.locator(".seqviz-room-join")
        entry.get_by_role("button", name="Open a room").click(timeout=BACK_MS)
        self.teacher.locator(f"{SHOWN} .code").wait_for(timeout=BACK_MS)
        self.teacher.wait_for_url(re.compile("room="), timeout=BACK_MS)
        self.teacher.keyboard.press("Escape")
        self.code = re.search(r"room=(\w+)", self.teacher.url)[1]

    def open(self, path: str, **options) -> Page:
        context = self._browser.new_context(**options)
        self.contexts.append(context)
        page = context.new_page()
        page.goto(f"{self._server.url}/{path}")
        return page

    def student(self, lang: str) -> Page:
        page = self.open(f"ar_fitting?room={self.code}&lang={lang}")
        page.locator(f"{SHOWN} .name").wait_for(timeout=BACK_MS)
        return page


@contextmanager
def school_of(browser: Browser, server: Server) -> Iterator[School]:
    school = School(browser, server)
    try:
        yield school
    finally:
        for context in school.contexts:
            context.close()


@pytest.fixture
def school(browser, own_server) -> Iterator[School]:
    with school_of(browser, own_server) as school:
        yield school


def state(page: Page, name: str):
    return page.evaluate(f"() => {STATE}.{name}")


def until(page: Page, condition: str) -> None:
    page.wait_for_function(f"() => {{ const state = {STATE}; return state && {condition}; }}",
                           timeout=BACK_MS)  # fmt: skip


def test_room_restores_teacher_and_votes_after_server_kill(school, own_server):
    """Killed while a vote is open and the door is closed; one has voted before, one has not."""
    teacher, first, second = school.teacher, school.student("zh"), school.student("en")
    put = teacher.locator(".seqviz-poll").first
    put.scroll_into_view_if_needed()
    put.get_by_role("button", name="Put it to the vote").click()
    first.locator(".seqviz-poll .option").nth(1).click()
    expect(put).to_contain_text("1 of 2")
    teacher.locator(SHOWN).get_by_role("button", name="Close the room to newcomers").click()
    until(first, "!state.door")
    before = {name: state(teacher, name) for name in ("ballot", "door", "place", "allowed")}
    names = [page.locator(f"{SHOWN} .name").inner_text() for page in (first, second)]
    own_server.kill()
    own_server.start()
    healthy = time.monotonic()
    for page in (teacher, first, second):
        until(
            page, "!state.lost && state.restored && state.ballot?.voted === 1 && state.place.values"
        )
    print(f"all back {time.monotonic() - healthy:.1f} s after the first health answer")
    assert {name: state(teacher, name) for name in before} == before
    assert [page.locator(f"{SHOWN} .name").inner_text() for page in (first, second)] == names
    assert first.locator(".seqviz-poll .option").nth(1).get_attribute("aria-pressed") == "true"
    second.locator(".seqviz-poll .option").nth(0).click()
    expect(put).to_contain_text("2 of 2")
    put.get_by_role("button", name="Close", exact=True).click()
    put.get_by_role("button", name="Reveal").click()
    until(first, "state.ballot.counts")
    assert state(first, "ballot.counts")[0][:2] == [1, 1]
    # The same question put anew is another one: nobody has voted in it.
    put.get_by_role("button", name="New vote").click()
    until(first, "state.ballot.state === 'open'")
    expect(first.locator(".seqviz-poll .option[aria-pressed=true]")).to_have_count(0)
    first.reload()
    until(first, "!state.lost")
    expect(first.locator(".seqviz-poll .option[aria-pressed=true]")).to_have_count(0)


@pytest.mark.nightly
@pytest.mark.timing
@pytest.mark.parametrize("silence_s", [0, 60])
def test_room_restores_20_students_within_ten_seconds(school, own_server, silence_s):
    """Each has voted, and the door is closed; counted from the first answer of the new process."""
    teacher = school.teacher
    students = [school.student("en") for _ in range(20)]
    teacher.evaluate(f"{ROOM}.send({{kind: 'ask', key: 'ar.predict.order', options: 3}})")
    for index, page in enumerate(students):
        until(page, "state.ballot?.state === 'open'")
        number = state(page, "ballot.number")
        page.evaluate(f"{ROOM}.vote({number}, 1, {index % 3})")
    teacher.locator(SHOWN).get_by_role("button", name="Close the room to newcomers").click()
    until(students[-1], "!state.door")
    until(teacher, "state.ballot.voted === 20")
    before = {name: state(teacher, name) for name in ("ballot", "door", "place", "allowed")}
    names = [page.locator(f"{SHOWN} .name").inner_text() for page in students]
    own_server.kill()
    time.sleep(silence_s)
    own_server.start()
    healthy = time.monotonic()
    for page in (teacher, *students):
        until(page, "!state.lost && state.restored && state.ballot?.voted === 20")
    took = time.monotonic() - healthy
    print(f"20 of 20 back {took:.1f} s after the first health answer")
    assert {name: state(teacher, name) for name in before} == before
    assert [page.locator(f"{SHOWN} .name").inner_text() for page in students] == names
    teacher.evaluate(f"{ROOM}.send({{kind: 'reveal'}})")
    until(teacher, "state.ballot.counts")
    assert state(teacher, "ballot.counts") == [[7, 7, 6]]
    assert took < 10.0


@pytest.mark.nightly
def test_teacher_link_grants_role_only_with_valid_token(school):
    """Without a language in it, too; a forged one opened by the teacher, and by somebody else."""
    teacher, code = school.teacher, school.code
    token = teacher.evaluate(f"() => {KEPT}")[code]["token"]
    forged = "A" * len(token)
    for secret, is_teacher in ((token, True), (forged, False)):
        other = school.open(f"ar_fitting?room={code}#teacher={secret}")
        until(other, "!state.lost")
        assert other.evaluate(f"() => Boolean({STATE}.dots)") == is_teacher
        assert "#" not in other.url
        other.close()
    own = school.open(f"gates?room={code}&lang=en")
    own.evaluate(f"(token) => localStorage.setItem('seqviz.room', "
                 f"JSON.stringify({{ '{code}': {{ token }} }}))", token)  # fmt: skip
    own.goto(own.url + f"#teacher={forged}")
    own.reload()
    until(own, "!state.lost")
    assert own.evaluate(f"() => Boolean({STATE}.dots)")
    assert own.evaluate(f"() => {KEPT}")[code]["token"] == token


def test_join_form_rejects_mistyped_code_without_request(browser, own_server):
    """A letter is wrong, two are swapped; a Chinese keyboard's wide letters are read."""
    context = browser.new_context()
    page, request = context.new_page(), []
    page.on("request", lambda item: "/seat" in item.url and request.append(item.url))
    page.goto(f"{own_server.url}/ar_fitting?lang=en")
    page.locator(".st-key-share button").first.click(timeout=BACK_MS)
    entry = page.locator(".seqviz-room-join")
    code = codes.new(rooms.LETTERS)
    letter = next(item for item in codes.ALPHABET if item != code[2])
    position = next(k for k, (a, b) in enumerate(pairwise(code)) if a != b)
    swapped = code[:position] + code[position + 1] + code[position] + code[position + 2 :]
    for typed in (code[:2] + letter + code[3:], swapped, ""):
        entry.get_by_role("textbox").fill(typed)
        entry.get_by_role("button", name="Join").click()
        expect(entry.get_by_role("status")).to_contain_text("One letter of this code is wrong")
    assert request == []
    wide = "".join(chr(ord(item) + 0xFEE0) for item in code)
    entry.get_by_role("textbox").fill(wide.lower())
    entry.get_by_role("button", name="Join").click()
    expect(entry.get_by_role("status")).to_contain_text("No room with this code")
    assert len(request) == 1
    context.close()


def test_teacher_page_reports_lost_room_and_opens_new_one(browser, tmp_path):
    """A server that starts with another key, as a Space without the secret does."""
    keys = {name: {"SEQVIZ_ROOM_KEY": name * 43, "SEQVIZ_CACHE": str(tmp_path)} for name in "ab"}
    with serve(environment=keys["a"]) as server, school_of(browser, server) as school:
        code, page, phone = school.code, school.teacher, school.student("zh")
        server.kill()
        server.environment = keys["b"]
        server.start()
        chip = page.locator(SHOWN)
        expect(chip).to_contain_text("this room has ended", timeout=BACK_MS)
        chip.get_by_role("button", name="Open a new room").click()
        expect(page).not_to_have_url(re.compile(f"room={code}"), timeout=BACK_MS)
        new = re.search(r"room=(\w+)", page.url)[1]
        expect(chip.locator(".code")).to_have_text(codes.format_code(new), timeout=BACK_MS)
        assert codes.is_valid(new)
        expect(phone.locator(SHOWN)).to_contain_text(Text("zh")("room.ended"), timeout=BACK_MS)


@pytest.mark.nightly
def test_closed_seat_loses_sent_state_and_stays_closed(school, own_server):
    teacher, student = school.teacher, school.student("zh")
    student.locator(SHOWN).get_by_role("button", name="发给老师").click()
    chip = teacher.locator(SHOWN)
    chip.get_by_role("button", name="1 sent").click()
    chip.get_by_role("button", name="Close this seat").click()
    expect(student.locator(SHOWN)).to_contain_text(Text("zh")("room.sent_out"))
    expect(chip.get_by_role("button", name="1 sent")).to_have_count(0)
    student.reload()
    expect(student.locator(SHOWN)).to_contain_text(Text("zh")("room.sent_out"), timeout=BACK_MS)
    # Where no disk lasts the teacher's page tells the next process whose seat was closed.
    own_server.kill()
    (Path(own_server.environment["SEQVIZ_CACHE"]) / CLOSED_FILE).unlink()
    own_server.start()
    until(teacher, "!state.lost && state.restored && state.devices.length === 1")
    student.reload()
    expect(student.locator(SHOWN)).to_contain_text(Text("zh")("room.sent_out"), timeout=BACK_MS)
