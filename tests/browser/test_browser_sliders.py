"""Sliders under a hand: the picture moves with it, the page hears of the value when it rests."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from testing.chromium import css_class, slider_input
from testing.server import serve
from tests.browser.lesson_page import PICTURES, LessonPage, Visitors, visitors

BENCH, KEY = "ar.process", "ar.process.phi"
COPY = ".seqviz-overlay"
AHEAD, MOVING = "x-seqviz-prefetch", "x-seqviz-dragging"


@pytest.fixture(scope="module")
def opened(browser, server) -> Iterator[tuple[Visitors, LessonPage]]:
    """A lesson for all tests of this file; nobody else has its page."""
    with visitors(browser, server) as created, created.watched() as visit:
        yield created, visit("ar_fitting", {"lang": "en"}, viewport={"width": 1280, "height": 900})


@pytest.fixture
def beginning(opened) -> LessonPage:
    """The lesson with its defaults. What its console says is not watched."""
    _, lesson = opened
    page = lesson.page
    page.bring_to_front()  # another test's page was before it
    page.mouse.move(0, 0)
    page.unroute_all()
    lesson.heard(BENCH)
    if lesson.settings:
        lesson.go("/ar_fitting?lang=en")
    expect(page).to_have_url(re.compile(r"/ar_fitting\?lang=en$"))
    expect(page.locator(slider_input(KEY))).to_have_value("0.8")
    # The second figure of the lesson: a mouse needs it in sight.
    page.locator(css_class("bench-process")).evaluate("(bench) => bench.scrollIntoView()")
    lesson.geometry(BENCH)
    return lesson


@pytest.fixture
def lesson(opened, beginning) -> Iterator[LessonPage]:
    with opened[0].watched():
        yield beginning


@pytest.fixture(scope="module")
def scripts(browser, server) -> Iterator[Page]:
    """A page without an app, which can import the app's scripts."""
    page = browser.new_page()
    page.goto(f"{server.url}/app/static/bench/live.js")
    page.evaluate("document.body.className = 'stApp'")
    yield page
    page.close()


def exact_field(lesson: LessonPage) -> Locator:
    """The field beside the slider; another bench has a φ, too."""
    return lesson.page.locator(f"{css_class(KEY + '.slider')} input.exact")


def read(lesson: LessonPage) -> list[str]:
    """The read-outs that can be seen."""
    values = lesson.page.locator(f"{css_class(BENCH + '.readouts')} [data-testid=stMetricValue]")
    return values.locator("visible=true").all_inner_texts()


def test_slider_drag_updates_figure_and_commits_at_rest(lesson, visit):
    page = lesson.page
    before, sent = lesson.geometry(BENCH), lesson.sent
    numbers = read(lesson)
    lesson.drag(KEY, 0.8, 0.2)
    moving = lesson.figure(BENCH).evaluate("(host) => host.querySelector('.js-plotly-plot').id")
    assert moving == lesson.figure(BENCH).evaluate(
        "(host) => host.querySelector('.js-plotly-plot').id"
    )
    value = page.locator(slider_input(KEY)).input_value()
    assert lesson.changed(BENCH, before)
    assert read(lesson) != numbers
    page.mouse.up()
    expect(page).to_have_url(re.compile(rf"{re.escape(KEY)}={re.escape(value)}"))
    last, observed = lesson.geometry(BENCH), read(lesson)
    assert lesson.sent > sent
    again = visit("ar_fitting", {"lang": "en", KEY: value})
    assert again.geometry(BENCH) == last
    assert read(again) == observed
    assert page.locator(COPY).count() > 0  # the page has drawn nothing anew
    lesson.by_key("ar.process.code").get_by_role("button").click()
    page.get_by_role("dialog").locator("code").first.wait_for()
    expect(page.get_by_role("dialog")).to_contain_text(f"simulate(({value},)")
    page.keyboard.press("Escape")
    expect(page.locator(COPY)).to_have_count(0)  # its own words stand there again
    assert lesson.geometry(BENCH) == last
    assert read(lesson) == observed


@pytest.mark.nightly
def test_slider_return_to_committed_value_restores_figure(lesson):
    lesson.slider(KEY).press("ArrowRight")
    committed, numbers = lesson.geometry(BENCH), read(lesson)
    badge = lesson.page.locator(f"{css_class(BENCH + '.footer')} .stMarkdownBadge >> visible=true")
    expect(badge).to_have_count(1)
    lesson.page.evaluate("""([selector, places]) => {
        const range = document.querySelector(selector);
        for (const place of [...places, range.value]) {
            range.value = place;
            range.dispatchEvent(new Event("input"));
        }
    }""", [slider_input(KEY), [-0.9, 0.1]])  # fmt: skip
    lesson.page.wait_for_function(f"() => !seqvizLiveBench('{BENCH}').busy")
    assert lesson.geometry(BENCH) == committed
    assert read(lesson) == numbers


def test_slider_drag_is_not_reverted_by_stale_page_run(lesson, visit):
    """Something else is set, and the page draws it with the value from which the hand has gone."""
    page, slider = lesson.page, lesson.slider(KEY)
    switch = lesson.by_key("ar.process.shuffle").locator("input")
    arrivals = switch.evaluate("""async (input, [selector, bench]) => {
        const place = window.seqvizLiveBench(bench), range = document.querySelector(selector);
        let came = false;
        place.onStale = (source) => {
            came = true;
            delete place.onStale;
            place.onStale(source);
        };
        const move = (value) => {
            range.value = value;
            range.dispatchEvent(new Event("input"));
            return new Promise((resolve) => setTimeout(resolve, 50));
        };
        input.click();
        for (let moves = 0; !came && moves < 100; moves++) await move(moves % 2 ? 0.3 : 0.4);
        await move(0.5);
        return came;
    }""", [slider_input(KEY), BENCH])  # fmt: skip
    assert arrivals
    expect(page).to_have_url(re.compile(rf"{re.escape(KEY)}=0\.5"))
    page.wait_for_timeout(2500)  # after two seconds comes what the hand was in the way of
    lesson.rest()
    expect(slider).to_have_value("0.5")
    again = visit("ar_fitting", {"lang": "en", KEY: "0.5", "ar.process.shuffle": "true"})
    assert again.geometry(BENCH) == lesson.geometry(BENCH)
    assert read(again) == read(lesson)


def test_readout_help_opens_after_slider_move(lesson):
    before = lesson.geometry(BENCH)
    lesson.slider(KEY).press("ArrowRight")
    lesson.changed(BENCH, before)
    first = lesson.by_key(f"{BENCH}.readouts").get_by_role("button").first
    first.hover()
    expect(lesson.page.get_by_role("tooltip")).to_be_visible()


def test_slider_keeps_one_request_in_flight_and_skips_stale_values(lesson):
    page = lesson.page
    open_now, maximum, query = set(), [0], []

    def begun(request):
        if "/live/" in request.url and AHEAD not in request.headers:
            query.append(request.url)
            open_now.add(request)
            maximum[0] = max(maximum[0], len(open_now))

    page.on("request", begun)
    page.on("requestfinished", lambda request: open_now.discard(request))
    moves = page.evaluate("""async (selector) => {
        const range = document.querySelector(selector);
        for (let k = 0; k < 200; k++) {
            range.value = -1 + k / 100;
            range.dispatchEvent(new Event("input"));
            if (k % 10 === 0) await new Promise(requestAnimationFrame);
        }
        return 200;
    }""", slider_input(KEY))  # fmt: skip
    lesson.heard(BENCH)
    expect(page).to_have_url(re.compile(rf"{re.escape(KEY)}=0\.99"))
    assert maximum[0] == 1
    assert 2 <= len(query) < moves / 4
    assert f"{KEY}=0.99" in query[-1]


@pytest.mark.nightly
def test_slider_final_value_is_not_blocked_by_pending_requests(lesson):
    """A busy class: what hands on the move ask for is not answered."""
    page, held, request = lesson.page, [], []
    before = lesson.geometry(BENCH)

    def answered(route):
        if MOVING in route.request.headers:
            held.append(route)
        elif AHEAD not in route.request.headers:
            request.append(route.request.url)
            route.continue_()

    page.route("**/live/**", answered)
    box = page.locator(slider_input(KEY)).bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, middle)
    page.mouse.up()
    page.wait_for_function(
        """([bench, key, range]) => Number(seqvizLiveBench(bench).frames.at(-1)?.values[key])
            === document.querySelector(range).valueAsNumber""",
        arg=[BENCH, KEY, slider_input(KEY)],
    )
    assert lesson.geometry(BENCH) != before
    assert held
    assert len(request) == 1
    for route in held:
        route.fulfill(status=204)


def test_slider_prefetches_next_step(visit):
    lesson = visit("ar_fitting")
    page, request = lesson.page, []
    lesson.geometry(BENCH)
    lesson.slider(KEY).press("ArrowLeft")
    page.wait_for_function(f"() => seqvizLiveBench('{BENCH}').prefetched.size === 2")
    before, observed = lesson.geometry(BENCH), page.evaluate(PICTURES, BENCH)
    page.on("request", lambda item: request.append(item) if "/live/" in item.url else None)
    lesson.slider(KEY).press("ArrowLeft")
    assert page.evaluate(PICTURES, BENCH) == observed + 1
    last = lesson.changed(BENCH, before)
    assert [item.url for item in request if AHEAD not in item.headers] == []
    again = visit("ar_fitting", {"lang": "en", KEY: "0.78"})
    assert again.geometry(BENCH) == last


@pytest.mark.nightly
def test_slider_prefetch_is_not_reused_for_other_text(visit):
    """A student's own text is in no address, and is told apart all the same."""
    words, step = "ga.watch.characters", "ga.watch.step"
    lesson = visit("gates", {"lang": "en", words: "one two"})
    pictures = []
    for text in ("one two", "six ten"):
        field = lesson.by_key(words).locator("input, textarea")
        field.fill(text)
        field.press("Control+Enter")
        lesson.rest()
        lesson.slider(step).press("Home")
        lesson.page.wait_for_function("() => seqvizLiveBench('ga.watch').prefetched.size > 0")
        lesson.slider(step).press("ArrowRight")
        pictures.append(lesson.geometry("ga.watch"))
    other = visit("gates", {"lang": "en", words: "six ten", step: "2"})
    assert other.geometry("ga.watch") == pictures[1] != pictures[0]


@pytest.mark.nightly
def test_slider_with_few_values_prefetches_all(visit):
    lesson = visit("attention", {"at.features.query": "2"})
    page, request = lesson.page, []
    bench, key = "at.features", "at.features.query"
    lesson.geometry(bench)
    lesson.slider(key).press("ArrowRight")
    positions = page.locator(slider_input(key)).evaluate("(e) => 1 + (e.max - e.min) / e.step")
    page.wait_for_function(f"() => seqvizLiveBench('{bench}').prefetched.size === {positions - 1}")
    page.on("request", lambda item: request.append(item) if "/live/" in item.url else None)
    last_seen = page.evaluate(PICTURES, bench)
    for number, button in enumerate(["Home", "End", "ArrowLeft", "PageDown"], start=1):
        lesson.slider(key).press(button)
        assert page.evaluate(PICTURES, bench) == last_seen + number
    assert [item.url for item in request if AHEAD not in item.headers] == []


def test_slider_keys_set_expected_values(lesson):
    slider = lesson.page.locator(slider_input(KEY))
    written = exact_field(lesson)
    moves = {
        "ArrowRight": 0.81, "ArrowDown": 0.79, "PageUp": 0.9, "PageDown": 0.7, "Home": -1.2,
        "End": 1.2, "Shift+ArrowRight": 0.801, "Shift+ArrowLeft": 0.799,
    }  # fmt: skip
    for keys, value in moves.items():
        slider.dblclick()  # its default
        expect(slider).to_have_value("0.8")
        slider.press(keys)
        assert float(slider.input_value()) == value, keys
        assert float(written.input_value()) == value, keys


# What is typed, and what is meant: a comma, the minus of the read-outs, full-width, spaces.
MEANT = {
    "0.123": "0.123", "0,3": "0.3", "-0,3": "-0.3", "1,1": "1.1", "−0.3": "-0.3", "–0,25": "-0.25",
    "０．３": "0.3", "－0.3": "-0.3", "＋０，４": "0.4", ".5": "0.5", "-,5": "-0.5", "1e-1": "0.1",
    "+0.2": "0.2", "  0.7\u00a0": "0.7", "− 0.6": "-0.6", "0。9": "0.9", "0,305": "0.305",
}  # fmt: skip
OUTSIDE = ("1.5", "-5", "−1,3", "2e3", "1e999")
UNREAD = ("1/3", "0.3 0.5", "φ", "1,000,000", "nan", "0x1", "--1", "1.2.3", "٣")


def test_exact_value_field_normalizes_input(lesson):
    page = lesson.page
    box, note = exact_field(lesson), noted(lesson)
    for typed, meant in MEANT.items():
        box.fill(typed)
        box.press("Enter")
        expect(box).to_have_value(meant)
        expect(page.locator(slider_input(KEY))).to_have_value(meant)
        expect(box).to_have_attribute("aria-valuenow", meant)
        expect(note).to_be_empty()
    expect(page).to_have_url(re.compile(rf"{re.escape(KEY)}=0\.305"))


def test_exact_value_field_rejects_invalid_text(lesson):
    page = lesson.page
    box, note = exact_field(lesson), noted(lesson)
    box.fill("0.123")
    box.press("Enter")
    message = {
        **dict.fromkeys(OUTSIDE, "is out of range: from −1.2 to 1.2. The value has not been"),
        **dict.fromkeys(UNREAD, "cannot be read as a number"),
        "1,000": "can mean 1000 or 1. Write one of these.",
        "１，０００": "can mean 1000 or 1. Write one of these.",
    }  # fmt: skip
    for typed, sentence in message.items():
        box.fill(typed)
        box.press("Enter")
        expect(note).to_have_text(re.compile(rf"^“{re.escape(typed)}” {re.escape(sentence)}"))
        expect(box).to_have_value(typed)  # to be corrected
        expect(box).to_have_attribute("aria-invalid", "true")
        described = box.get_attribute("aria-describedby")
        assert described == note.get_attribute("id")
        expect(page.locator(slider_input(KEY))).to_have_value("0.123")
    box.press("Tab")
    expect(note).not_to_be_empty()  # also when the field is left
    box.press("Escape")
    for correct in (
        lambda: box.press("Escape"),
        lambda: page.locator(slider_input(KEY)).press("End"),
    ):
        box.fill("9")
        box.press("Enter")
        expect(note).not_to_be_empty()
        correct()
        expect(note).to_be_empty()
        expect(box).not_to_have_attribute("aria-invalid", "true")
        expect(box).to_have_value(page.locator(slider_input(KEY)).input_value())
    box.fill("")
    box.press("Enter")
    expect(box).to_have_value("1.2")
    expect(page).to_have_url(re.compile(rf"{re.escape(KEY)}=1\.2"))


@pytest.mark.nightly
def test_exact_value_field_reports_rounding(lesson):
    page = lesson.page
    box, note = exact_field(lesson), noted(lesson)
    box.fill("0.305")  # ten parts of a step of 0.01
    box.press("Enter")
    expect(box).to_have_value("0.305")
    expect(note).to_be_empty()
    box.fill("0,3054")
    box.press("Enter")
    expect(box).to_have_value("0.305")
    expect(note).to_have_text("The nearest possible value is set: 0.305. One step here is 0.001.")
    expect(box).not_to_have_attribute("aria-invalid", "true")
    lesson.slider("ar.forecast.horizon")
    horizon = page.locator(f"{css_class('ar.forecast.horizon.slider')} .exact")
    horizon.fill("5,5")
    horizon.press("Enter")
    expect(noted(lesson, "ar.forecast.horizon")).to_have_text("“5,5” is not a whole number.")
    horizon.press("Escape")


def test_exact_value_field_steps_by_keyboard(lesson):
    page = lesson.page
    box = exact_field(lesson)
    moves = {"ArrowUp": "0.81", "ArrowDown": "0.79", "Shift+ArrowUp": "0.801", "PageUp": "0.9",
             "PageDown": "0.7"}  # fmt: skip
    for keys, value in moves.items():
        page.locator(slider_input(KEY)).dblclick()
        box.press(keys)
        expect(box).to_have_value(value)
        expect(page.locator(slider_input(KEY))).to_have_value(value)
    box.fill("0,4")
    box.press("ArrowUp")
    expect(box).to_have_value("0.41")
    for name, value in (
        ("role", "spinbutton"),
        ("aria-valuemin", "-1.2"),
        ("aria-valuemax", "1.2"),
    ):
        expect(box).to_have_attribute(name, value)


def test_seed_field_normalizes_input_and_rejects_invalid_text(lesson):
    page, key = lesson.page, "ar.process.seed"
    box = lesson.by_key(f"{key}.slider").get_by_role("spinbutton", name="Random seed")
    note = noted(lesson, key)
    for typed in ("４２", "+42", "4.2e1", "42.0"):
        box.fill("1")
        box.press("Enter")
        box.fill(typed)
        box.press("Enter")
        expect(box).to_have_value("42")
    expect(page).to_have_url(re.compile(rf"{re.escape(key)}=42(&|$)"))
    message = {"1,5": "is not a whole number.", "-3": "is out of range: from 0 to 9999.",
            "1,000": "can mean 1000 or 1.", "1.000": "can mean 1000 or 1.",
            "x": "cannot be read as a number"}  # fmt: skip
    for typed, sentence in message.items():
        box.fill(typed)
        box.press("Enter")
        expect(note).to_have_text(re.compile(rf"^“{re.escape(typed)}” {re.escape(sentence)}"))
    box.press("Escape")
    expect(box).to_have_value("42")
    box.press("ArrowUp")
    expect(page).to_have_url(re.compile(rf"{re.escape(key)}=43(&|$)"))
    page.locator(f"{css_class(key + '.slider')} .box button").last.click()
    expect(page).to_have_url(re.compile(rf"{re.escape(key)}=44(&|$)"))


def noted(lesson: LessonPage, key: str = KEY):
    """What is said below a field for a number."""
    return lesson.page.locator(f"{css_class(key + '.slider')} .note")


def test_slider_announces_value_to_screen_reader(lesson):
    page = lesson.page
    slider = page.get_by_role("slider", name="φ", exact=True)
    slider.dblclick()
    expect(slider).to_have_attribute("aria-valuetext", "0.8")
    length = lesson.slider("ar.process.n")
    expect(length).to_have_accessible_name("Length n")
    length.press("End")
    expect(length).to_have_attribute("aria-valuetext", "5,000 values")
    length.dblclick()
    expect(length).to_have_attribute("aria-valuetext", "500 values")
    horizon = lesson.slider("ar.forecast.horizon")
    horizon.press("Home")
    expect(horizon).to_have_attribute("aria-valuetext", "1 step")
    expect(page).to_have_url(re.compile(r"ar\.forecast\.horizon=1$"))  # or the next test meets it
    assert page.get_by_role("spinbutton", name="φ: exact value", exact=True).count() == 1


def test_slider_works_when_live_route_fails(beginning):
    lesson, failures = beginning, []
    page = lesson.page
    page.on("pageerror", lambda error: failures.append(error))
    faults = {
        "gone": lambda route: route.abort(),
        "500": lambda route: route.fulfill(status=500),
        "nonsense": lambda route: route.fulfill(status=200, body="no figure"),
        "late": lambda route: None,  # never
    }
    for index, answer in enumerate(faults.values()):
        before = lesson.geometry(BENCH)
        page.unroute_all()
        page.route("**/live/**", answer)
        page.locator(slider_input(KEY)).press("PageDown")
        value = f"{0.7 - index / 10:.1f}"
        expect(page).to_have_url(re.compile(rf"{re.escape(f'{KEY}={value}')}(&|$)"))
        assert lesson.changed(BENCH, before)
    page.unroute_all()
    assert failures == []


@pytest.mark.nightly  # by day the route alone fails
def test_slider_recovers_when_server_dies_during_drag(browser, tmp_path):
    with serve(environment={"HF_HUB_OFFLINE": "1"}) as server:
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        failures = []
        page.on("pageerror", lambda error: failures.append(error))
        page.goto(f"{server.url}/ar_fitting?lang=en")
        lesson = LessonPage(page)
        lesson.geometry(BENCH)
        lesson.drag(KEY, 0.8, 0.6, 3)
        server.kill()
        for share in (0.5, 0.4, 0.3):
            page.mouse.move(*lesson.at(KEY, share))
        page.mouse.up()
        value = page.locator(slider_input(KEY)).input_value()
        server.start()
        retained = re.compile(rf"{re.escape(KEY)}={re.escape(value)}")
        expect(page).to_have_url(retained, timeout=60_000)
        assert failures == []
        page.context.close()


def test_slider_touch_does_not_scroll_page(visit):
    phone = {"viewport": {"width": 420, "height": 800}, "has_touch": True, "is_mobile": True}
    lesson = visit("ar_fitting", **phone)
    page = lesson.page
    lesson.geometry(BENCH)
    slider = page.locator(slider_input(KEY))
    slider.evaluate("(e) => e.scrollIntoView({block: 'end'})")
    assert slider.bounding_box()["height"] >= 44
    before, top = slider.input_value(), slider.bounding_box()["y"]
    (x, y), line = lesson.at(KEY, 0.8), page.context.new_cdp_session(page)
    line.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 9):
        point = {"x": x - 15 * step, "y": y + 12 * step}  # a hand is not a ruler
        line.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    line.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert slider.input_value() != before
    assert slider.bounding_box()["y"] == top


@pytest.mark.nightly
def test_client_picture_on_phone_stays_in_view_clear_of_controls(visit):
    """The one that has its controls inside; what is below them comes after them."""
    lesson = visit("positions", viewport={"width": 420, "height": 900}, has_touch=True)
    page = lesson.page
    bench = page.locator(".st-key-bench-waves")
    bench.scroll_into_view_if_needed()
    last = page.locator(".seqviz-sinusoid input[name=dimension]")
    last.wait_for()
    lesson.rest()
    footer = page.locator(css_class("po.waves.footer"))
    for y in range(-300, 900, 300):
        bench.evaluate("""(bench, y) => {
            bench.scrollIntoView();
            bench.closest("[data-testid=stMain]").scrollBy(0, y);
        }""", y)  # fmt: skip
        above = last.bounding_box()
        assert footer.bounding_box()["y"] >= above["y"] + above["height"]
    last.scroll_into_view_if_needed()
    picture = page.locator(".seqviz-sinusoid .picture").bounding_box()
    assert 60 < picture["y"] + picture["height"] <= 60 + 0.45 * 900 + 1
    assert last.evaluate("""(input) => {
        const {x, y, width, height} = input.getBoundingClientRect();
        return document.elementFromPoint(x + width / 2, y + height / 2) === input;
    }""")  # fmt: skip


def test_lesson_reopens_with_last_settings(visit):
    lesson = visit("ar_fitting", {"lang": "en"})
    page = lesson.page
    lesson.geometry(BENCH)
    page.locator(slider_input(KEY)).press("PageDown")
    expect(page).to_have_url(re.compile(rf"{re.escape(KEY)}=0\.7"))
    page.get_by_role("link", name="Home").click()
    expect(page).to_have_url(re.compile(r"/(\?[^/]*)?$"))
    page.get_by_role("link", name="AR fitting").first.click()
    lesson.titled("AR fitting")
    lesson.geometry(BENCH)
    expect(page.locator(slider_input(KEY))).to_have_value("0.7")
    assert f"{KEY}=0.7" in page.url


@pytest.mark.parametrize(("events", "held", "draws"), [
    (["down 0"], True, 0),
    (["down 0", "up", "click"], False, 1),
    (["down 0", "up", "wait"], False, 1),  # lifted elsewhere: no click comes
    (["down 0", "up", "down 0", "wait"], True, 0),  # a second press begins before the first is over
    (["down 2", "wait"], False, 0),  # a menu opens, and nobody says when it is let go
])  # fmt: skip
def test_track_press_defers_rebuild_of_pressed_button(scripts, events, held, draws):
    """In a room, where much is made anew while a finger is down (`trackPress`)."""
    scripts.clock.install()
    scripts.evaluate("""async () => {
        const { trackPress } = await import("/app/static/classroom/room_client.js");
        const host = document.body.appendChild(document.createElement("div"));
        const over = new AbortController();
        let draws = 0;
        const pressed = trackPress(host, () => draws++, over.signal);
        window.told = { host, over, read: () => [pressed(), draws] };
    }""")
    for event in events:
        kind, _, button = event.partition(" ")
        if kind == "wait":
            scripts.clock.run_for(1000)
        else:
            scripts.evaluate(
                """([kind, button]) => told.host.dispatchEvent(
                new PointerEvent({ down: "pointerdown", up: "pointerup" }[kind] ?? kind,
                    { bubbles: true, button }))""",
                [kind, int(button or 0)],
            )
    assert scripts.evaluate("told.read()") == [held, draws]
    scripts.evaluate("told.over.abort()")


@pytest.mark.parametrize(("held", "commits"), [(True, 0), (False, 1)])
def test_held_slider_does_not_commit_while_pictures_keep_the_page_busy(scripts, held, commits):
    """A commit runs the page: on a slow phone, each picture of a drag used to cause one."""
    made = scripts.evaluate(
        """async (held) => {
            const { Slider } = await import("/app/static/components/slider.js");
            const host = document.body.appendChild(document.createElement("div"));
            const commits = [], words = { exact: "", field: {} };
            const ignore = () => {}, onCommit = (text) => commits.push(text);
            const on = { onInput: ignore, onRelease: ignore, onCommit };
            const slider = new Slider(host, on);
            const range = { low: 0, high: 9, step: 1, start: 0, value: 0 };
            slider.set({ label: "x", unit: "", ...range, words });
            const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
            slider.isDragging = held;
            slider.move(3);
            const start = performance.now();
            while (performance.now() < start + 400); // a picture
            await after(60);
            const early = commits.length;
            slider.move(4);
            await after(400);
            host.remove();
            return [early, commits.slice(early)];
        }""",
        held,
    )
    assert made == [commits, ["4"]]


@pytest.mark.parametrize("older", [False, True])
def test_slider_reports_value_restored_before_page_run(scripts, older):
    """The page was told 0.7, still shows 0.8, and would go to 0.7 after the hand has gone back.

    older: it draws what it was told before that, 0.8, while the hand is there again.
    """
    message = scripts.evaluate("""async (older) => {
        const { default: start } = await import("/app/static/components/slider_component.js");
        const parent = document.createElement("div"), said = [];
        parent.innerHTML = '<div class="seqviz-slider"></div>';
        const options = { label: "x", help: null, low: 0, high: 1, step: 0.1, start: "0.8",
            value: "0.8", whole: false, unit: "", words: { exact: "exact" } };
        const data = { bench: "t.b", key: "t.b.x", options };
        const heard = (count) => new Promise((resolve) => {
            const look = () => said.length >= count ? resolve() : requestAnimationFrame(look);
            look();
        });
        const draw = () => start({ data, parentElement: parent,
            setTriggerValue: (_, text) => said.push(text) });
        const stop = draw();
        const { slider } = parent.firstChild.control;
        slider.move(0.7, true);
        await heard(1);
        slider.move(0.8, true);
        if (older) draw();
        await heard(2);
        stop();
        return said;
    }""", older)  # fmt: skip
    assert message == ["0.7", "0.8"]


# A bench of its own under a hand, on a line that the test holds. `painted`: what was drawn, by `x`.
ALONE = r"""async (hand) => {
    const { liveBench } = await import("/app/static/bench/live.js");
    const place = liveBench(`t.${Math.random()}`), painted = [], asked = [];
    const answer = (query) => `{"arrays":[],"layout_signature":"s"}\n${query}`;
    const said = (text) => text.split("\n")[1];
    window.fetch = (address) => new Promise((resolve) => asked.push((status = 200) => resolve(
        new Response(status === 200 ? answer(address.split("?")[1]) : null, {status}))));
    const view = { restore: () => painted.push("own"), isMounted: () => true,
        setWaiting: () => null, adopt: () => null, paint: (text) => painted.push(said(text)) };
    const source = (query) => ({ address: "/x", token: "", query, values: { x: "5" } });
    const turn = () => new Promise((resolve) => setTimeout(resolve));
    const reply = async (number, status) => {
        await turn();
        asked[number](status);
        await turn();
        await turn();
    };
    place.onRendered(source({}), view);
    const rest = async () => { // the page is told, and says that it knows
        const to = (what) => (text) => painted.push(`${what} ${text}`);
        place.controls.set("x",
            { slider: { options: {} }, onAcknowledged: to("heard"), onCommit: to("draw") });
        place.layoutSignature = "s";
        place.onCommit = () => painted.push("told");
        await place.commit("x", () => painted.push("draw"));
    };
    await hand({ place, answer, reply, source, turn, rest });
    return painted;
}"""


@pytest.mark.parametrize(("hand", "painted"), [
    ("""place.prefetched.set("x=6", answer("x=6")); place.move("x", "6"); await turn();
        place.move("x", "7"); await turn(); place.move("x", "6"); await reply(0);""",
     ["x=6", "x=7", "x=6"]),
    ("""place.move("x", "7"); place.move("x", "5"); await reply(0, 204); await reply(1);""",
     ["x=5"]),
    ("""place.move("x", "7"); place.reset("x"); await reply(0);""", ["own", "x=7", "own"]),
    ("""place.move("x", "7"); place.markReported("x"); place.clearPending("x");
        await reply(0);""", ["x=7"]),
    ("""place.move("x", "7"); await turn(); place.onStale(source({ view: "b" })); await reply(0);
        await reply(1);""", ["view=b&x=7"]),
    ("""place.move("x", "7"); place.onStale(source({ x: "6" })); await reply(0);""", ["x=7"]),
    ("""place.move("x", "7"); await reply(0); await rest();
        place.onAcknowledged({ layout_signature: "s", number: 1 });""", ["x=7", "told", "heard 7"]),
    ("""place.move("x", "7"); await reply(0); place.whenIdle(() => null); await rest();""",
     ["x=7", "draw"]),
    ("""place.move("x", "7"); await reply(0); await rest(); place.whenIdle(() => null);
        place.onAcknowledged({ layout_signature: "s", number: 1 });""", ["x=7", "told", "draw 7"]),
], ids=["an answer that is there already is not painted before an older one",
        "an answer that is refused is no answer to what the hand wants next",
        "a hand that has come home finds the page's own figure",
        "the page's own figure is not shown while it is an older one",
        "what else is set on the page meanwhile counts for the hand",
        "what the page has drawn of the hand's own values changes nothing",
        "a page that is told where the hand rests draws nothing",
        "a page whose drawing waits draws once more",
        "a page whose drawing came before it knew draws once more"])  # fmt: skip
def test_live_bench_orders_answers_and_page_figures(scripts, hand, painted):
    body = f"async ({{ place, answer, reply, source, turn, rest }}) => {{ {hand} }}"
    assert scripts.evaluate(f"() => ({ALONE})({body})") == painted


# Requests do not give up after five seconds, in which a busy machine may not have drawn a view.
PATIENT = """() => {
    const wait = window.setTimeout;
    window.setTimeout = (call, ms, ...rest) => wait(call, ms === 5000 ? 120_000 : ms, ...rest);
}"""


def test_live_bench_ignores_answer_older_than_page_figure(lesson):
    """The slider is left, another view is opened, and only then the route answers."""
    page, held = lesson.page, []
    page.evaluate(PATIENT)
    page.route("**/live/**", lambda route: held.append(route))
    page.locator(slider_input(KEY)).press("PageDown")
    expect(page).to_have_url(re.compile(rf"{re.escape(KEY)}=0\.7"))
    before = lesson.geometry(BENCH)
    page.get_by_role("radio", name="Roots").click()
    roots = lesson.changed(BENCH, before)
    with page.expect_response("**/live/**") as answered:
        held[0].continue_()
    assert answered.value.status == 200
    assert lesson.geometry(BENCH) == roots
    expect(page.locator(COPY)).to_have_count(0)


def test_slider_return_to_page_value_removes_readout_copy(lesson):
    """No run follows: nothing else would take the copy away."""
    page = lesson.page
    before = lesson.geometry(BENCH)
    sent = lesson.sent
    page.evaluate("""(selector) => {
        const range = document.querySelector(selector);
        for (const value of [0.5, 0.8]) {
            range.value = value;
            range.dispatchEvent(new Event("input"));
        }
    }""", slider_input(KEY))  # fmt: skip
    lesson.heard(BENCH)
    expect(page.locator(COPY)).to_have_count(0)
    assert lesson.geometry(BENCH) == before
    assert lesson.sent == sent


def test_slider_script_is_retried_after_lost_request(server, browser):
    context = browser.new_context()
    page = context.new_page()
    lost = []

    def lose(route):
        """The preload, and the import, which may be one; the second try is a second later."""
        if lost and time.monotonic() - lost[-1] > 0.9:
            route.continue_()
            return
        lost.append(time.monotonic())
        route.abort()

    page.route("**/slider_component.js*", lose)
    page.goto(f"{server.url}/ar_fitting")
    expect(page.locator(slider_input(KEY))).to_be_visible()
    assert lost
    context.close()


def test_slider_of_vega_chart_updates_it_without_server(visit):
    """It lives in the browser; on a page of its own, where nothing above it was moved before."""
    lesson = visit("ar_fitting", {"lang": "en", "ar.by_hand.view": "runs"})
    bench = "ar.by_hand"
    before = lesson.geometry(bench)
    slider = lesson.figure(bench).locator("input[type=range]")
    value, sent = slider.input_value(), lesson.sent
    slider.focus()
    for _ in range(20):
        lesson.page.keyboard.press("ArrowRight")
    assert float(slider.input_value()) > float(value)
    assert lesson.changed(bench, before) != before
    assert lesson.sent == sent > 0  # the page has told the server of itself: the counter works


# Two figures of one trace, told to a chart of its own as the page tells it.
CHART = """async ([closed, figures]) => {
    const { default: start } = await import("/app/static/bench/chart.js");
    const parent = document.createElement("div");
    parent.innerHTML = '<div><div class="t-figure" style="width: 400px; height: 300px">'
        + '<div class="seqviz-chart"></div></div></div>';
    document.body.append(parent);
    const host = parent.querySelector(".seqviz-chart");
    const tell = (title) => start({ parentElement: parent, setTriggerValue: () => null,
        data: new TextEncoder().encode(`{"alt":"a","missing":"no library"}\\n`
            + JSON.stringify({ data: [{ type: "scatter", y: [1, 2] }],
                               layout: { height: 300, title: { text: title } } })) });
    const until = (found) => new Promise((resolve, reject) => {
        const end = performance.now() + 10_000;
        const look = () => found() ? resolve() : performance.now() > end
            ? reject(new Error(host.textContent)) : requestAnimationFrame(look);
        look();
    });
    const written = (title) => () => host.querySelector(".gtitle")?.textContent === title;
    tell(figures[0]);
    await until(closed ? written(figures[0]) : () => host.textContent === "no library");
    parent.style.display = closed ? "none" : "";
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    tell(figures[1]);
    parent.style.display = "";
    await until(written(figures[1]));
    parent.remove();
}"""


def test_chart_shows_last_update_after_library_retry(server, browser):
    page = browser.new_page()
    page.goto(f"{server.url}/app/static/bench/chart.js")
    requests: list[str] = []

    def abort_first(route) -> None:
        requests.append(route.request.url)
        route.abort() if len(requests) == 1 else route.continue_()

    # Not `times=1`: Playwright may end the interception before it aborts, and the library loads.
    page.route("**/plotly.min.js", abort_first)
    page.evaluate(CHART, [False, ["before", "after"]])
    assert len(requests) == 2
    page.close()


@pytest.mark.nightly
def test_chart_in_closed_tab_shows_last_update(scripts):
    scripts.evaluate(CHART, [True, ["before", "after"]])


# A chart in a frame of 16 pixels, as before the columns have their widths, which then get wider.
NARROW = """async () => {
    const { default: start } = await import("/app/static/bench/chart.js");
    const parent = document.createElement("div");
    parent.innerHTML = '<div><div class="t-figure" style="width: 16px; height: 300px">'
        + '<div class="seqviz-chart"></div></div></div>';
    document.body.append(parent);
    const host = parent.querySelector(".seqviz-chart");
    const axis = { title: { text: "x" }, automargin: true };
    start({ parentElement: parent, setTriggerValue: () => null,
        data: new TextEncoder().encode(`{"alt":"a","missing":"no library"}\\n`
            + JSON.stringify({ data: [{ type: "bar", x: [5, 6], y: [1, 2], orientation: "h" }],
                               layout: { height: 300, xaxis: axis, yaxis: axis } })) });
    for (let frame = 0; frame < 30; frame++) await new Promise(requestAnimationFrame);
    const early = host.querySelector(".main-svg") !== null;
    parent.querySelector(".t-figure").style.width = "400px";
    while (!host.querySelector(".main-svg")) await new Promise(requestAnimationFrame);
    const { width } = host.querySelector(".main-svg").getBoundingClientRect();
    parent.remove();
    return [early, width];
}"""


def test_chart_waits_for_room_before_painting(scripts):
    """Without room for a label Plotly puts a title at -Infinity, which the console tells."""
    messages: list[str] = []
    scripts.on("console", lambda item: messages.append(item.text) if item.type == "error" else None)
    assert scripts.evaluate(NARROW) == [False, 400]
    assert messages == []


def test_notes_and_equation_follow_a_slider_beside_a_caption(visit):
    """One of the notes is subdued, which the page writes as another element."""
    lesson = visit("language_models", {"lang": "en"})
    notes = lesson.page.locator("[class*='lm-product-notes-']").first
    equation = lesson.page.locator(".st-key-lm-product-equation .symbol:visible")
    lesson.slider("lm.product.n").press("ArrowLeft")
    expect(notes).to_contain_text("All 6 orders cost 11.5")
    expect(notes).to_contain_text("Counted (10)")
    expect(equation.last).to_contain_text("n = 1")


def test_page_is_looked_through_only_when_the_slider_is_let_go(visit):
    """Labels for screen readers take as long as a frame of the figure on a phone."""
    lesson = visit("ar_fitting", {"lang": "en"})
    lesson.geometry("ar.process")
    page = lesson.page
    lesson.slider("ar.process.phi").scroll_into_view_if_needed()
    page.mouse.move(*lesson.at("ar.process.phi", 0.5))
    page.mouse.down()
    page.evaluate(
        """() => {
            const style = "width: 50px; overflow-x: auto; white-space: nowrap";
            const box = Object.assign(document.createElement("div"), {id: "wide", style});
            Object.assign(box, {className: "seqviz-scrolls", textContent: "wide ".repeat(40)});
            document.querySelector(".stApp").append(box);
        }"""
    )
    page.wait_for_timeout(1500)  # several times the interval of the look
    assert page.locator("#wide").get_attribute("tabindex") is None
    page.mouse.up()
    expect(page.locator("#wide")).to_have_attribute("tabindex", "0")
