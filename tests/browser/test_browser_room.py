"""A class in a room: a teacher and students in browsers of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from seqviz.classroom import codes, rooms
from seqviz.content import catalog
from seqviz.core.i18n import Text
from testing.chromium import css_class, slider_input
from tests.browser.lesson_page import CHARTS, LessonPage
from tests.browser.room_page import FIGURE, PHI, SHOWN, TOP, joined
from tests.browser.test_browser_slides import MIN_FIGURE_SHARE
from tests.tiers import first_only

ASKED = "ar.predict.twice"
POLL = ".st-key-ar-predict-twice-question .seqviz-poll"


@pytest.fixture
def gates(room) -> Iterator[None]:
    """All are at the gates."""
    with room.visitors.watched():
        room.at("gates", "ga.one")
        yield


@pytest.fixture
def author(room, gates) -> Iterator[LessonPage]:
    """A second student."""
    lesson = joined(room.visit, room.code)
    lesson.titled(Text("zh")("gates.title"))
    lesson.geometry("ga.one")
    yield lesson
    lesson.page.close()


def test_student_page_follows_teacher(teacher, student):
    """A slider moves in all; so does what is chosen, and the place in the lesson."""
    chip = student.page.locator(SHOWN)
    expect(chip).to_contain_text("你看到的就是老师展示的")
    teacher.slider(PHI).press("PageDown")
    expect(student.slider(PHI)).to_have_value("0.7")
    expect(student.page).to_have_url(re.compile(rf"{re.escape(PHI)}=0\.7"))
    teacher.page.get_by_role("radio", name="Roots").click()
    expect(student.page).to_have_url(re.compile("ar.process.view=roots"))
    expect(student.page.get_by_role("radio", name=Text("zh")("ar_fitting.option.view.roots"))) \
        .to_be_checked()  # fmt: skip
    expect(student.slider(PHI)).to_have_value("0.7")
    teacher.rest()
    teacher.page.locator(".st-key-go-next button").click()
    student.titled(Text("zh")(f"{catalog.LESSONS[1].slug}.title"))


# Whether a bench begins where a link to it leads.
AT_TOP = """(name) => {
    const one = document.querySelector(name);
    const margin = parseFloat(getComputedStyle(one).scrollMarginTop);
    return Math.abs(one.getBoundingClientRect().top - margin) <= 3;
}"""


# The next thing that this page says to the server is lost, as a change of page is when a script
# that is still running takes it for its own rerun.
DEAF = """() => {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function () {
        WebSocket.prototype.send = send;
    };
}"""


# The next thing that this page says to the server comes a second later.
SLOW = """() => {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (said) {
        WebSocket.prototype.send = send;
        setTimeout(() => send.call(this, said), 1000);
    };
}"""


@pytest.mark.nightly
def test_teacher_page_sends_no_stale_values_on_navigation(teacher, student):
    """The address is ahead of the figures."""
    after, payload = catalog.LESSONS[1], []
    teacher.slider(PHI).press("PageDown")
    expect(student.slider(PHI)).to_have_value("0.7")
    teacher.rest()
    teacher.page.evaluate(SLOW)
    teacher.page.on(
        "request",
        lambda item: payload.append(item.post_data_json) if "/messages" in item.url else None,
    )
    teacher.page.locator(".st-key-go-next button").click()
    student.titled(Text("zh")(f"{after.slug}.title"))
    there = [item for item in payload if item.get("lesson") == after.slug]
    assert there
    # The next lesson opens with its defaults, of a language that the address names.
    names = {name for item in there for name in item["values"]}
    assert [name for name in names if not name.endswith(".defaults")] == []


@pytest.mark.nightly
def test_student_page_recovers_lost_navigation(teacher, student):
    student.page.evaluate(DEAF)
    teacher.rest()
    teacher.page.locator(".st-key-go-next button").click()
    student.titled(Text("zh")(f"{catalog.LESSONS[1].slug}.title"))
    expect(student.page.locator(SHOWN)).to_contain_text("你看到的就是老师展示的")


@pytest.mark.nightly
def test_student_page_follows_teacher_home_without_error(teacher, student):
    teacher.rest()
    teacher.page.locator(".st-key-go-previous button").click()
    teacher.page.wait_for_url(lambda url: "ar_fitting" not in url)
    student.page.wait_for_url(lambda url: "ar_fitting" not in url)
    expect(student.page.locator(SHOWN)).to_contain_text("你看到的就是老师展示的")
    expect(teacher.page.locator(SHOWN)).not_to_contain_text("could not")


def test_student_page_detaches_on_control_change_and_rejoins(teacher, student):
    chip = student.page.locator(SHOWN)
    student.slider(PHI).press("PageUp")
    expect(chip).to_contain_text("老师在")
    teacher.slider(PHI).press("PageDown")
    expect(teacher.page.locator(SHOWN)).to_contain_text("1 on their own")
    expect(student.slider(PHI)).to_have_value("0.9")
    chip.get_by_role("button", name="去那里").click()
    expect(student.slider(PHI)).to_have_value("0.7")


def test_pause_and_spotlight_disable_student_benches(teacher, student):
    bench = student.page.locator(".st-key-bench-by_hand")
    other = student.page.locator(".st-key-bench-fit")
    buttons = teacher.page.locator(SHOWN)
    buttons.get_by_role("button", name="Pause").click()
    expect(student.page.locator(SHOWN)).to_contain_text("老师按了暂停")
    expect(bench).to_have_attribute("inert", "")
    buttons.get_by_role("button", name="Go on").click()
    expect(bench).not_to_have_attribute("inert", "")
    buttons.get_by_role("button", name="Only this figure").click()
    expect(other).to_have_attribute("inert", "")
    expect(bench).not_to_have_attribute("inert", "")
    assert teacher.page.locator("[class*='st-key-bench-'][inert]").count() == 0
    buttons.get_by_role("button", name="All figures").click()
    expect(other).not_to_have_attribute("inert", "")
    teacher.page.locator(".st-key-bench-fit").evaluate("one => one.scrollIntoView()")
    teacher.page.wait_for_timeout(500)  # what the buttons say is the same as before
    buttons.get_by_role("button", name="Only this figure").click()
    expect(bench).to_have_attribute("inert", "")
    expect(other).not_to_have_attribute("inert", "")
    buttons.get_by_role("button", name="All figures").click()
    expect(bench).not_to_have_attribute("inert", "")


@pytest.mark.nightly
def test_room_bar_keeps_press_through_rerender(teacher, student):
    """The chip is made anew with all that it says: in a class, several times a second."""
    page = teacher.page
    bench = student.page.locator(".st-key-bench-process")
    page.locator(SHOWN).get_by_role("button", name="Pause").hover()
    page.mouse.down()
    page.evaluate("""() => {
        const { room } = document.querySelector(".seqviz-room").chip;
        room.onState({ ...room.state, present: room.state.present + 1 });
    }""")
    page.mouse.up()
    expect(bench).to_have_attribute("inert", "")
    expect(page.locator(SHOWN)).to_contain_text("1 here")
    page.locator(SHOWN).get_by_role("button", name="Go on").click()
    expect(bench).not_to_have_attribute("inert", "")


@pytest.mark.nightly
def test_figure_range_disables_benches_outside_it(teacher, student):
    buttons = teacher.page.locator(SHOWN)
    buttons.get_by_role("button", name="From this figure to").click()
    fit = teacher.page.locator(".st-key-bench-fit h2").text_content()
    buttons.get_by_role("button", name=fit, exact=True).click()
    for name, closed in {"process": 0, "by_hand": 0, "fit": 0, "networks": 1, "real": 1}.items():
        expect(student.page.locator(f".st-key-bench-{name}[inert]")).to_have_count(closed)
    expect(student.page.locator(SHOWN)).not_to_contain_text("班里现在不看这个图")
    student.page.locator(".st-key-bench-real").evaluate("one => one.scrollIntoView()")
    expect(student.page.locator(SHOWN)).to_contain_text("班里现在不看这个图")
    buttons.get_by_role("button", name="All figures").click()
    expect(student.page.locator("[class*='st-key-bench-'][inert]")).to_have_count(0)
    expect(student.page.locator(SHOWN)).not_to_contain_text("班里现在不看这个图")


@pytest.mark.nightly
def test_student_page_opens_card_with_teacher(teacher, student, room):
    room.at("bert_accuracy", "ba.knife")
    for item in (teacher, student):  # the model is loaded: nothing above grows any more
        item.figure("ba.guess").locator(CHARTS).first.wait_for(timeout=90_000)
        item.whole()
        item.rest()
    student.page.locator(".st-key-card-count summary").first.dispatch_event("click")
    expect(student.page.locator(".st-key-card-count details")).not_to_have_attribute("open", "")
    for _ in range(2):  # what comes near above may move it once
        teacher.page.locator(".st-key-bench-count").evaluate("one => one.scrollIntoView()")
        teacher.rest()
    opened = student.page.locator(".st-key-card-count details")
    expect(opened).to_have_attribute("open", "")
    student.page.wait_for_function(AT_TOP, arg=".st-key-bench-count")


def test_student_page_stays_at_bench_while_page_above_grows(teacher, student):
    """What arrives above the bench of the teacher does not push it out of sight."""
    teacher.page.locator(".st-key-bench-fit").evaluate("one => one.scrollIntoView()")
    student.page.wait_for_function(AT_TOP, arg=".st-key-bench-fit")
    student.page.locator(".st-key-bench-process").evaluate("one => one.style.paddingTop = '300px'")
    student.page.wait_for_function(AT_TOP, arg=".st-key-bench-fit")
    student.page.mouse.move(200, 400)
    student.page.mouse.wheel(0, 150)  # but a student who scrolls has left it
    student.page.wait_for_timeout(600)
    assert not student.page.evaluate(AT_TOP, ".st-key-bench-fit")


def test_vote_runs_two_rounds_and_reveals_counts(teacher, student):
    votes = [page.page.locator(POLL) for page in (teacher, student)]
    put, answer = votes
    for vote in votes:
        vote.scroll_into_view_if_needed()
    expect(answer.locator(".option").first).to_be_disabled()
    put.get_by_role("button", name="Put it to the vote").click()
    expect(put).to_contain_text("0 of 1")
    answer.locator(".option").nth(1).hover()
    student.page.mouse.down()
    student.page.evaluate("""() => {
        const { room } = document.querySelector(".seqviz-room").chip;
        room.onState({ ...room.state, present: 7, ballot: { ...room.state.ballot, voted: 1 } });
    }""")  # others vote meanwhile
    student.page.mouse.up()
    expect(answer).to_contain_text("这是你的一票")
    expect(put).to_contain_text("1 of 1")
    assert "%" not in put.inner_text()  # nothing is shown before it is revealed
    put.get_by_role("button", name="Close").click()
    expect(answer).to_contain_text("说服")
    expect(put).to_contain_text("Convince your neighbor")  # on the wall, too
    put.get_by_role("button", name="Vote again").click()
    answer.locator(".option").nth(2).click()
    expect(put).to_contain_text("Vote 2: 1 of 1")
    put.get_by_role("button", name="Close").click()
    put.get_by_role("button", name="Reveal").click()
    for vote in votes:
        expect(vote.locator("td").first).to_be_attached()
        assert vote.locator(".bar").count() == 2 * vote.locator(".option").count()
        right = int(Text("en")("ar_fitting.predict.twice.answer"))
        expect(vote.locator("li.right")).to_have_count(1)
        expect(vote.locator("li").nth(right)).to_have_class("right")
    expect(student.page.locator(".st-key-ar-predict-twice-done")).to_be_visible()
    student.page.evaluate("""() => {
        const { room } = document.querySelector(".seqviz-room").chip;
        const { ballot, revealed } = room.state;
        window.before = room.state;
        const next = { ...ballot, key: "another", number: ballot.number + 1, state: "open" };
        room.onState({ ...room.state, ballot: next, revealed: [...revealed, ballot.key] });
    }""")  # the next question is open: the result stays
    expect(answer.locator("td").first).to_be_attached()
    expect(answer).not_to_contain_text(Text("zh")("room.waiting"))
    student.page.evaluate(
        "() => document.querySelector('.seqviz-room').chip.room.onState(window.before)"
    )


@pytest.fixture
def slides(room, teacher) -> Iterator[Locator]:
    """The question on the projector of a hall."""
    address = f"/ar_fitting?lang=en&room={room.code}"
    teacher.page.set_viewport_size({"width": 1920, "height": 1080})
    teacher.rest()
    teacher.go(f"{address}&present=true")
    teacher.page.get_by_test_id("stHeader").wait_for(state="hidden")
    teacher.rest()
    teacher.page.locator(css_class("bench-by_hand")).evaluate("(one) => one.scrollIntoView()")
    teacher.page.locator(POLL).evaluate(
        "(poll) => poll.closest('[class*=\"-question\"]').setAttribute('data-seqviz-answered', '')"
    )  # one that was put before is shown again
    yield teacher.page.locator(POLL)
    teacher.go(address)
    teacher.page.get_by_test_id("stHeader").wait_for()


def test_figure_keeps_its_height_beside_result_of_a_vote(teacher, student, slides):
    """Two rounds are a line each; with fewer than six votes they have no interval."""
    answer = student.page.locator(POLL)
    slides.evaluate(
        "(poll) => poll.poll.room.send({ kind: 'ask', key: poll.poll.data.key, options: 3 })"
    )
    for option, button in enumerate(("Vote again", "Reveal")):
        answer.locator(".option:enabled").nth(option).click()
        expect(slides).to_contain_text("1 of 1")
        slides.get_by_role("button", name="Close").click()
        slides.get_by_role("button", name=button).click()
    expect(slides.locator("td").first).to_be_visible()
    expect(slides.locator(".share")).to_have_count(6)
    expect(slides.locator(".bar b")).to_have_count(0)
    expect(slides.get_by_role("button", name="New vote")).to_be_hidden()
    teacher.rest()
    figure = teacher.page.locator(css_class("ar.by_hand.figure")).bounding_box()
    assert figure["height"] > MIN_FIGURE_SHARE * 1080
    assert figure["y"] + figure["height"] <= 1080
    teacher.page.evaluate("""() => {
        const { room } = document.querySelector(".seqviz-room").chip;
        const ballot = { ...room.state.ballot, counts: [[3, 2, 0], [0, 6, 0]] };
        room.onState({ ...room.state, ballot });
    }""")  # one of the rounds has enough of them
    expect(slides.locator(".bar b")).to_have_count(3)


SHEET = "[role=dialog][data-seqviz-sheet]"
HAS_FOCUS = "(sheet) => sheet.contains(document.activeElement)"


def begins(item):
    """A question of the lesson, where the teacher puts it."""
    result = item.page.locator(POLL)
    result.scroll_into_view_if_needed()
    return result


REVEAL = "(said) => document.querySelector('.seqviz-room').chip.room.send(said)"


def ends(room, payload: dict) -> None:
    """What was put is revealed, and out of the way of others who use the room."""
    room.teacher.page.evaluate(REVEAL, payload)
    expect(room.student.page.locator(SHOWN)).not_to_contain_text(re.compile("投票|画图"))
    room.student.page.keyboard.press("Escape")
    expect(room.student.page.locator(SHEET)).to_have_count(0)


@pytest.fixture
def put(room, teacher) -> Iterator[Locator]:
    """The question on the teacher's page."""
    yield begins(teacher)
    ends(room, {"kind": "reveal"})


@pytest.fixture
def drawing(room, teacher) -> Iterator[Locator]:
    """The first of those that are drawn."""
    result = teacher.page.locator(".seqviz-sketch").first
    result.scroll_into_view_if_needed()
    yield result
    ends(room, {"kind": "sketch", "action": "reveal"})


def ask(put: Locator) -> None:
    put.get_by_role("button", name=re.compile("Put it to the vote|New vote")).click()


@pytest.mark.nightly
def test_vote_sheet_opens_over_following_page(student, put):
    """With a keyboard alone; closed, opened again from the bar, and once more at the next vote."""
    page, bar = student.page, student.page.locator(SHOWN)
    sheet = page.locator(SHEET)
    page.evaluate(TOP)
    expect(sheet).to_have_count(0)
    ask(put)
    expect(sheet.locator(".option").last).to_be_in_viewport()
    expect(sheet).to_have_accessible_name("全班的问题")
    assert sheet.evaluate(HAS_FOCUS)
    expect(bar).to_contain_text("投票正在进行")
    figure = page.locator(css_class("ar.by_hand.figure"))  # of the bench, above the sheet
    assert 0 < figure.bounding_box()["y"] < 100
    for _ in range(3):  # past what closes it and the first answer
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    chosen = sheet.locator(".option").nth(1)
    expect(chosen).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    bar.get_by_role("button", name="去投票").click()
    expect(chosen).to_have_attribute("aria-pressed", "true")
    put.get_by_role("button", name="Close").click()
    expect(sheet).to_contain_text("说服")
    expect(bar).to_contain_text("说服")
    sheet.get_by_role("button", name="收起题目").click()
    expect(sheet).to_have_count(0)
    put.get_by_role("button", name="Vote again").click()
    expect(sheet).to_contain_text("第 2 轮")
    assert sheet.locator("[aria-pressed=true]").count() == 0
    sheet.locator(".option").first.click()
    put.get_by_role("button", name="Close").click()
    put.get_by_role("button", name="Reveal").click()
    expect(sheet.locator("td").first).to_be_visible()
    expect(bar).to_contain_text("你看到的就是老师展示的")
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    expect(page.locator(".st-key-ar-predict-twice-done")).to_be_attached()


@pytest.mark.nightly
def test_vote_sheet_closes_when_teacher_moves_on(teacher, student, put):
    ask(put)
    put.get_by_role("button", name="Close").click()
    put.get_by_role("button", name="Reveal").click()
    sheet = student.page.locator(SHEET)
    expect(sheet).to_contain_text(Text("zh")("room.nobody"))
    teacher.slider(PHI).press("PageDown")
    expect(sheet).to_have_count(0)
    expect(student.slider(PHI)).to_have_value("0.7")


@pytest.mark.nightly
def test_vote_sheet_restores_own_vote_after_reload(student, put):
    ask(put)
    sheet = student.page.locator(SHEET)
    sheet.locator(".option").nth(2).click()
    expect(sheet).to_contain_text("这是你的一票")
    student.page.reload()
    student.page.locator(f"{SHOWN} .name").wait_for()  # it is in the room again
    expect(sheet.locator(".option").nth(2)).to_have_attribute("aria-pressed", "true")
    expect(sheet).to_contain_text("这是你的一票")
    sheet.get_by_role("button", name="收起题目").click()
    put.get_by_role("button", name="Close").click()
    put.get_by_role("button", name="Reveal").click()
    expect(student.page.locator(".st-key-ar-predict-twice-done")).to_be_attached()
    student.page.reload()
    student.page.locator(f"{SHOWN} .name").wait_for()  # it is in the room again
    expect(student.page.locator(SHOWN)).to_contain_text("你看到的就是老师展示的")
    student.rest()
    expect(sheet).to_have_count(0)  # it has been there


@pytest.mark.nightly
def test_vote_sheet_opens_for_late_student(room, teacher, put):
    ask(put)
    late = joined(room.visit, room.code)
    expect(late.page.locator(SHEET).locator(".option").last).to_be_in_viewport()
    late.page.close()


@pytest.mark.nightly
def test_vote_sheet_stays_closed_for_detached_student(student, put):
    """And comes to the question from another lesson."""
    page, bar = student.page, student.page.locator(SHOWN)
    student.slider(PHI).press("PageUp")
    expect(bar).to_contain_text("老师在")
    ask(put)
    expect(bar).to_contain_text("投票正在进行")
    expect(page.locator(SHEET)).to_have_count(0)
    bar.get_by_role("button", name="去投票").click()
    expect(page.locator(SHEET).locator(".option").first).to_be_visible()
    expect(student.slider(PHI)).to_have_value("0.9")  # it is still its own
    page.keyboard.press("Escape")
    page.locator(".st-key-go-next button").click()
    student.titled(Text("zh")(f"{catalog.LESSONS[1].slug}.title"))
    bar.get_by_role("button", name="去投票").click()
    student.titled(Text("zh")("ar_fitting.title"))
    expect(page.locator(SHEET).locator(".option").first).to_be_visible()


@pytest.mark.nightly
def test_sketch_sheet_opens_over_following_page(student, drawing):
    student.page.evaluate(TOP)
    drawing.get_by_role("button", name=re.compile("Let the class draw")).click()
    sheet, bar = student.page.locator(SHEET), student.page.locator(SHOWN)
    expect(sheet.locator(".pad")).to_be_in_viewport(ratio=0.95)
    expect(bar).to_contain_text("现在可以画图作答")
    box = sheet.locator(".pad").bounding_box()
    student.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 4)
    sheet.get_by_role("button", name="发送").click()
    expect(sheet).to_contain_text("已发送")
    marks = sheet.locator(".seqviz-sketch").get_attribute("data-marks")
    student.page.reload()
    student.page.locator(f"{SHOWN} .name").wait_for()  # it is in the room again
    expect(sheet).to_contain_text("已发送")
    assert sheet.locator(".seqviz-sketch").get_attribute("data-marks") == marks
    drawing.get_by_role("button", name="Close").click()
    expect(bar).to_contain_text("画图已结束")
    drawing.get_by_role("button", name="Reveal").click()
    expect(sheet.locator(".result p").first).to_be_visible()


@pytest.mark.parametrize("lang", first_only(["zh", "en"]))
def test_room_bar_fits_one_line_on_phone(room, teacher, put, lang):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    item = room.visit("", {"room": room.code, "lang": lang}, **phone)
    item.titled(Text(lang)("ar_fitting.title"))
    bar, words = item.page.locator(SHOWN), Text(lang).table("room")

    def is_one_line(*visible_text: str) -> None:
        for text in visible_text:
            expect(bar.get_by_text(text, exact=True)).to_be_in_viewport(ratio=0.9)
        assert bar.bounding_box()["height"] < 62

    is_one_line(words["following_short"], words["send_short"])
    ask(put)
    is_one_line(words["vote_open"], words["to_vote"])
    item.page.keyboard.press("Escape")
    is_one_line(words["vote_open"], words["to_vote"])
    item.page.close()


@pytest.mark.nightly
def test_vote_options_on_projector_are_plain_text(teacher, put):
    """They are read there: what looks like a control that is switched off says so of its text."""
    options = put.locator(".option")
    assert options.count() == 3
    for item in options.all():
        assert item.evaluate("(one) => one.tagName") == "DIV"
        style = item.evaluate(
            "(one) => { const { opacity, borderTopColor } = getComputedStyle(one);"
            "return [opacity, borderTopColor]; }"
        )
        assert style == ["1", "rgba(0, 0, 0, 0)"]
    ask(put)


def test_teacher_page_on_second_device_leads_class_when_used(room, teacher, student):
    """It is a teacher's by its address, from which the token is gone at once."""
    retained = teacher.page.evaluate("() => JSON.parse(localStorage.getItem('seqviz.room'))")
    token = retained[room.code]["token"]
    assert token not in teacher.page.url
    second = room.visit(f"gates?room={room.code}&lang=en#teacher={token}").page
    second.locator(SHOWN).get_by_role("button", name="Pause").click()
    assert "#" not in second.url
    expect(student.page.locator(SHOWN)).to_contain_text("老师按了暂停")
    assert "ar_fitting" in student.page.url
    second.locator(SHOWN).get_by_role("button", name="Go on").click()
    second.locator("h1").first.click()
    student.titled(Text("zh")("gates.title"))
    teacher.page.locator("h1").first.click()  # back at the first one, where nothing has changed
    student.titled(Text("zh")("ar_fitting.title"))
    second.close()
    teacher.slider(PHI).press("PageDown")
    expect(student.slider(PHI)).to_have_value("0.7")


def test_teacher_phone_shows_notes_of_the_screen_until_it_leads(room, teacher, student):
    retained = teacher.page.evaluate("() => JSON.parse(localStorage.getItem('seqviz.room'))")
    address = f"gates?room={room.code}&lang=en#teacher={retained[room.code]['token']}"
    screen = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    phone = room.visit(address, **screen)  # in a browser that is no student's
    phone.page.locator(SHOWN).get_by_role("button", name="Notes of my screen").click()
    phone.titled(Text("en")("ar_fitting.title"))
    teacher.slider(PHI).press("PageDown")
    expect(phone.slider(PHI)).to_have_value("0.7")
    phone.page.locator("h1").first.click()  # reading on moves nobody
    phone.slider(PHI).press("PageUp")
    expect(phone.slider(PHI)).to_have_value("0.8")
    student.page.wait_for_timeout(2000)
    expect(student.slider(PHI)).to_have_value("0.7")
    phone.page.locator(SHOWN).get_by_role("button", name="Lead from here").click()
    expect(student.slider(PHI)).to_have_value("0.8")
    expect(teacher.slider(PHI)).to_have_value("0.7")


def test_room_bar_reports_unknown_room_and_lesson_still_works(browser, server):
    """In a page that is not watched: a browser logs by itself that something was not found."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.url}/ar_fitting?room={codes.new(rooms.LETTERS)}&lang=en")
    expect(page.locator(SHOWN)).to_contain_text("No room with this code")
    slider = page.locator(slider_input(PHI))
    expect(slider).to_be_visible()  # a page that still comes is hidden, and nothing has the focus
    slider.press("PageDown")
    expect(page).to_have_url(re.compile(rf"{re.escape(PHI)}=0\.7"))
    page.locator(SHOWN).get_by_role("button", name="Leave").click()
    expect(page).not_to_have_url(re.compile("room="))
    expect(page.locator(SHOWN)).to_have_count(0)
    context.close()


def test_student_page_sends_its_state_and_teacher_opens_it(teacher, student):
    student.slider(PHI).press("PageUp")
    expect(student.page).to_have_url(re.compile(rf"{re.escape(PHI)}=0\.9"))
    student.page.locator(SHOWN).get_by_role("button", name="发给老师").click()
    expect(student.page.locator(SHOWN)).to_contain_text("已发送")
    chip = teacher.page.locator(SHOWN)
    chip.get_by_role("button", name="1 sent").click()
    chip.get_by_role("button", name="Show", exact=True).click()
    expect(teacher.slider(PHI)).to_have_value("0.9")
    with teacher.page.expect_download() as file:
        chip.get_by_role("button", name="Save as a table").click()
    retained = file.value.path().read_text("utf-8-sig")
    assert re.search(rf'"link","http[^"]*{re.escape(PHI)}=0\.9[^"]*"', retained)
    assert "room=" not in retained
    with teacher.page.expect_download() as file:
        chip.get_by_role("button", name="Save as a notebook").click()
    assert "ar_fitting.process(phi=0.9)" in file.value.path().read_text("utf-8")
    chip.get_by_role("button", name="Remove").click()
    expect(chip).not_to_contain_text("sent")


HOSTILE = "=1+1 <img src=x onerror=document.title='hurt'>\u202e **so** $x$ [a](javascript:1)"
# One more text waits, as far as this page hears.
ONE_MORE = """() => {
    const { room } = document.querySelector(".seqviz-room").chip, { pending } = room.state;
    room.onState({ ...room.state, pending: { ...pending, count: pending.count + 1 } });
}"""
HARMLESS = HOSTILE.replace("\u202e", "")


def test_shared_text_is_hidden_from_projector_until_approved(room, author):
    """Two students: one writes what the teacher had better read first, one reads the board."""
    teacher, other = room.teacher, room.student
    chips = [item.page.locator(SHOWN) for item in (teacher, author, other)]
    visible, send = chips[0], author.page.locator(SHOWN).get_by_role("button", name="提交文字")
    author.page.mouse.wheel(0, 1)  # one who scrolls is no longer held at the teacher's figure
    field = author.by_key("ga.watch.characters").locator("input")
    field.fill("The teacher is <b>")
    send.click()
    expect(chips[1]).to_contain_text("已提交")
    field.fill(HOSTILE)
    expect(send).to_be_visible()
    send.click()
    expect(visible).to_contain_text("2 to read")
    with teacher.page.expect_popup() as popup:
        visible.get_by_role("button", name="2 to read").click()
    window = popup.value
    expect(window.locator("body")).to_contain_text("2 to read. The first is for")
    assert "The teacher is" not in window.content() + teacher.page.content()
    window.get_by_role("button", name="Read").hover()
    window.mouse.down()
    teacher.page.evaluate(ONE_MORE)  # the window says so anew, while the button is held
    window.mouse.up()
    expect(window.locator("blockquote")).to_have_text("The teacher is <b>")
    window.get_by_role("button", name="Throw away").click()
    expect(window.locator("body")).to_contain_text("1 to read")
    window.get_by_role("button", name="Read").click()
    expect(window.locator("blockquote")).to_have_text(HARMLESS)
    assert "onerror" not in teacher.page.content()  # the projector's page has not even got it
    window.get_by_role("button", name="Show to all").click()
    expect(window.locator("body")).to_contain_text("No texts to read")
    chips[2].get_by_role("button", name="文字（1）").click()
    expect(chips[2].locator("bdi")).to_have_text(HARMLESS)
    visible.get_by_role("button", name="Texts (1)").click()
    expect(visible.locator("bdi")).to_have_text(HARMLESS)
    visible.get_by_role("button", name="Use", exact=True).click()
    for entry in (teacher, other):  # who follows has it, too
        taken = entry.by_key("ga.watch.characters").locator("input")
        expect(taken).to_have_value(HARMLESS)
        assert entry.page.title() != "hurt"
        assert entry.page.locator("img[src=x]").count() == 0
    with teacher.page.expect_download() as file:
        visible.get_by_role("button", name="Save as a table").click()
    retained = file.value.path().read_text("utf-8-sig")
    assert retained.count('"text"') == 1
    assert "\"'=1+1 <img" in retained
    assert "The teacher is" not in retained
    visible.get_by_role("button", name="Remove").click()
    expect(chips[2]).not_to_contain_text("onerror")
    expect(chips[2]).not_to_contain_text("文字（1）")
    field.fill("A third")
    send.click()
    teacher.page.set_viewport_size({"width": 420, "height": 800})  # no class sees a phone
    visible.get_by_role("button", name="1 to read").click()
    expect(visible).not_to_contain_text("A third")
    visible.get_by_role("button", name="Read", exact=True).click()
    expect(visible.locator("blockquote")).to_have_text("A third")
    visible.get_by_role("button", name="Throw away").click()
    expect(visible).not_to_contain_text("to read")


@pytest.mark.nightly
def test_sent_state_shows_its_text_only_on_request(room, gates):
    teacher, author = room.teacher, room.student
    author.page.mouse.wheel(0, 1)  # one who scrolls is no longer held at the teacher's figure
    field = author.by_key("ga.watch.characters").locator("input")
    field.fill("Idiots")
    field.press("Enter")
    expect(author.page).to_have_url(re.compile("Idiots"))
    author.page.locator(SHOWN).get_by_role("button", name="发给老师").click()
    chip = teacher.page.locator(SHOWN)
    chip.get_by_role("button", name="1 sent").click()
    expect(chip).to_contain_text("with a text")
    chip.get_by_role("button", name="Show", exact=True).click()
    chip.get_by_role("button", name="Without the text").click()
    expect(teacher.page.locator(".st-key-bench-watch")).to_be_in_viewport()
    assert "Idiots" not in teacher.page.url
    chip.get_by_role("button", name="Show with its text").click()
    expect(teacher.page).to_have_url(re.compile("Idiots"))


@pytest.mark.nightly
def test_seat_dots_show_where_students_are(teacher, student):
    """A dot for each student, at a figure and at a goal; nobody's name."""
    chip = teacher.page.locator(SHOWN)
    name = student.page.locator(f"{SHOWN} .name").inner_text()
    chip.get_by_role("button", name="1 here").click()
    heading = teacher.page.locator(".st-key-bench-by_hand h2").text_content()
    dots = chip.locator(".seat-dots")
    expect(dots).to_contain_text(f"AR fitting · {heading}1")
    expect(dots.locator("i")).to_have_text("●")
    student.page.locator(".st-key-bench-real").evaluate("one => one.scrollIntoView()")
    other = teacher.page.locator(".st-key-bench-real h2").text_content()
    expect(dots).to_contain_text(f"AR fitting · {other}1")
    expect(dots).not_to_contain_text(heading)
    assert name not in chip.inner_text()
    chip.get_by_role("button", name="1 here").click()
    expect(dots).to_have_count(0)


@pytest.mark.nightly
def test_student_page_detaches_on_lesson_change(teacher, student):
    student.rest()
    student.page.locator(".st-key-go-next button").click()
    student.titled(Text("zh")(f"{catalog.LESSONS[1].slug}.title"))
    expect(student.page.get_by_role("radio", name="中文")).to_be_checked()
    chip = student.page.locator(SHOWN)
    expect(chip).to_contain_text("老师在")
    teacher.slider(PHI).press("PageDown")
    expect(teacher.page.locator(SHOWN)).to_contain_text("1 on their own")
    student.titled(Text("zh")(f"{catalog.LESSONS[1].slug}.title"))
    chip.get_by_role("button", name="去那里").click()
    student.titled(Text("zh")(f"{catalog.LESSONS[0].slug}.title"))
    expect(student.slider(PHI)).to_have_value("0.7")


@pytest.mark.timing  # a page that is not there after seconds is asked for again
@pytest.mark.nightly
def test_room_link_navigates_exactly_once(room, teacher, browser, server):
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("window.went = 0; addEventListener('popstate', () => (window.went += 1))")
    page.goto(f"{server.url}/?room={room.code}&lang=zh&present=true")
    LessonPage(page).titled(Text("zh")("ar_fitting.title"))
    LessonPage(page).rest()
    expect(page.get_by_role("radio", name="中文")).to_be_checked()
    expect(page.locator(".st-key-present input")).to_be_checked()
    assert page.evaluate("window.went") == 1
    context.close()


# ---- pictures of a teacher's hand: who follows it is sent them, and asks for none

# Of a bench under a hand: what was painted last, and how often something was.
PICTURES = """() => {
    const found = window.seqvizLiveBench("ar.process").frames;
    return [found.length, found.at(-1)?.values["ar.process.phi"]];
}"""

# A student says at most every three seconds where it is, and how the figure looks there.
TOLD = """() => {
    const { json } = document.querySelector(".seqviz-room").chip.presence;
    const { bench, view } = JSON.parse(json || "{}");
    return bench === "ar_fitting/process" && Boolean(view);
}"""


def has_told_its_looks(teacher, student) -> None:
    for item in (teacher, student):  # it is the second figure of the lesson
        item.page.locator(".st-key-bench-process").evaluate("one => one.scrollIntoView()")
    student.page.wait_for_function(TOLD)
    student.rest()


def test_student_figure_follows_drag_without_requests(teacher, student):
    """In two languages at once: each is sent its own."""
    requests: list[str] = []
    student.page.on(
        "request", lambda item: requests.append(item.url) if "/live/" in item.url else None
    )
    has_told_its_looks(teacher, student)
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
    assert requests == []
    teacher.page.mouse.up()
    expect(student.page).to_have_url(
        re.compile(rf"{re.escape(PHI)}={value}")
    )  # the page hears of it
    expect(student.page.locator(SHOWN)).to_contain_text("你看到的就是老师展示的")
    assert requests == []


@pytest.mark.nightly
def test_student_figure_with_own_setting_requests_own_picture(teacher, student):
    """A setting of the own that the teacher's page has not: what is sent is not painted."""
    has_told_its_looks(teacher, student)
    student.page.evaluate("""() => {
        const place = window.seqvizLiveBench("ar.process"), { currentQuery } = place;
        place.currentQuery = () => ({ ...currentQuery.call(place), "ar.process.seed": "5" });
    }""")
    with student.page.expect_request(lambda item: "/live/" in item.url) as result:
        teacher.slider(PHI).press("PageDown")
    assert "ar.process.seed=5" in result.value.url
    expect(student.slider(PHI)).to_have_value("0.7")
    student.page.evaluate("delete window.seqvizLiveBench('ar.process').currentQuery")


@pytest.mark.nightly
def test_student_sends_bookmarked_setting_to_teacher(teacher, student):
    zh, bookmarks = Text("zh"), student.page.locator(".seqviz-bookmarks")
    sent = "() => document.querySelector('.seqviz-room').chip.room.state.sent?.length ?? 0"
    before = teacher.page.evaluate(sent)
    student.page.bring_to_front()
    student.geometry("ar.process")
    student.by_key("ar.process.bookmark").get_by_role("button").press("Enter")
    expect(bookmarks.get_by_role("status")).to_have_text(zh("bookmarks.added"))
    bookmarks.locator("summary").press("Enter")
    bookmarks.locator("li input").fill("<b>为什么？</b>")
    bookmarks.locator("li input").press("Enter")
    bookmarks.get_by_role("button", name=zh("bookmarks.send")).press("Enter")
    expect(bookmarks.get_by_role("status")).to_have_text(zh("bookmarks.sent_note"))
    teacher.page.wait_for_function(f"(count) => ({sent})() === count", arg=before + 1)
    chip = teacher.page.locator(SHOWN)
    chip.get_by_role("button", name=re.compile(r"\d sent")).click()
    expect(chip).not_to_contain_text("为什么")  # the class would read it on the projector
    chip.get_by_role("button", name=Text("en")("room.show_note")).click()
    expect(chip.locator("q")).to_have_text("<b>为什么？</b>")
    chip.get_by_role("button", name=re.compile(r"\d sent")).click()
    bookmarks.get_by_role("button", name=zh("bookmarks.remove")).press("Enter")
    expect(bookmarks.locator("details")).to_be_hidden()


@pytest.mark.nightly
def test_room_bar_reports_end_and_lesson_still_works(teacher, student):
    """The last one: there is no room behind it."""
    teacher.page.on("dialog", lambda dialog: dialog.accept())
    teacher.page.locator(SHOWN).get_by_role("button", name="End").click()
    expect(student.page.locator(SHOWN)).to_contain_text("房间已结束")
    student.slider(PHI).press("PageDown")
    expect(student.page).to_have_url(re.compile(rf"{re.escape(PHI)}=0\.7"))
