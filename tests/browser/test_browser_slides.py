"""A lesson from the lectern: one bench fills the window, nothing overlaps, type is large."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.i18n import Text
from testing.chromium import css_class
from tests.browser.lesson_page import LessonPage
from tests.browser.room_page import joined
from tests.browser.test_browser_layout import THEMES, each_lesson, sized
from tests.tiers import rotate

WINDOWS = [(1024, 768), (1280, 800), (1366, 768), (1920, 1080), (2560, 1440), (3840, 2160)]
MIN_TYPE_SHARE = 24 / 1080  # of the height of a wide window
MIN_TYPE_PX = 13  # in a window of 4:3, whose width is what limits it
MIN_FIGURE_SHARE = 0.4  # of the window's height
MAX_CONTROLS = 3
QUESTION = ':is([class*="-question"], [class*="-lift"]):visible'
MESSAGE = ".seqviz-presenter .message"
INK = ".seqviz-ink path"
# Whether all of the ink lies on a figure, which it covers in part.
INSIDE = """(figure) => {
    const ink = document.querySelector(".seqviz-ink path").getBoundingClientRect();
    const { left, right, top, bottom } = document.querySelector(figure).getBoundingClientRect();
    return left <= ink.left && ink.left < ink.right && ink.right <= right
        && top <= ink.top && ink.top < ink.bottom && ink.bottom <= bottom;
}"""

# What lies outside the window or on something else in a bench, and the smallest type as painted.
# The numbers in the cells of a heat map fit their cells, and formulas have smaller indices.
LOOKED = """async (bench) => {
    const wrong = [], range = document.createRange();
    const rect = (item) => item.getBoundingClientRect();
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const name = ({ className, textContent }) =>
        [String(className).match(/st-key-\\\\S+/) ?? "", textContent.trim().slice(0, 30)].join(" ");
    const outside = ({ left, top, right, bottom }) =>
        Math.round(Math.max(-left, -top, right - innerWidth, bottom - innerHeight));
    bench.scrollIntoView({ block: "start" });
    const chart = bench.querySelector('[class*="-figure"] .seqviz-chart');
    const figure = chart?.closest('[class*="-figure"]');
    const scale = chart ? rect(chart).width / chart.offsetWidth : 1; // whole pixels of the drawing
    const isPainted = () => {
        const svg = figure?.querySelector("svg.main-svg");
        return !svg || Math.abs(rect(svg).height - rect(figure).height) <= 1.5 * scale;
    };
    for (let n = 0; n < 3 || (!isPainted() && n < 600); n += 1) await frame();
    if (!isPainted()) wrong.push("the chart does not fill its frame");
    const { top, height } = rect(bench);
    const isFitted = Math.abs(top) <= 1 && Math.abs(height - innerHeight) <= 1;
    if (!isFitted) wrong.push(`${height} px at ${top}`);
    const inputs = `.seqviz-slider, .stButtonGroup, .stSelectbox, .stCheckbox, .stTextInput,
        .stTextArea`;
    const kinds = `h2 > span:first-child, [class*="-steps-row"], [class*="-figure"],
        [class*="-notes-"], [class*="-readouts"], .stButton, iframe, ${inputs}`;
    const isVisible = (item) => item.checkVisibility() && rect(item).height > 0;
    const parts = [...bench.querySelectorAll(kinds)].filter(isVisible);
    parts.forEach((part, index) => {
        const box = rect(part);
        if (outside(box) > 1) wrong.push(`${name(part)}: outside by ${outside(box)} px`);
        for (const other of parts.slice(index + 1)) {
            if (part.contains(other) || other.contains(part)) continue;
            const next = rect(other);
            const across = Math.min(box.right, next.right) - Math.max(box.left, next.left);
            const down = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top);
            if (across > 1 && down > 1) wrong.push(`${name(part)} on ${name(other)}: ${down} px`);
        }
    });
    const texts = document.createTreeWalker(bench, NodeFilter.SHOW_TEXT);
    const ignored = `.visually-hidden, .katex, .help, .hm, sub, sup, script, style,
        [data-testid*="Icon"], tspan[style*="font-size"]`;
    let smallest = [Infinity, ""];
    while (texts.nextNode()) {
        const text = texts.currentNode, parent = text.parentElement;
        if (!text.data.trim() || !parent.checkVisibility() || parent.closest(ignored)) continue;
        range.selectNodeContents(text);
        const box = rect(range);
        if (box.width < 2 || box.height < 2) continue;
        if (outside(box) > 1) wrong.push(`${text.data.slice(0, 30)}: cut by ${outside(box)} px`);
        const drawing = parent.closest("svg.marks"); // by Vega, which CSS has enlarged as well
        const own = drawing && rect(drawing).width / drawing.getAttribute("width");
        const enlarged = own ?? (chart?.contains(parent) ? scale : 1);
        const size = parseFloat(getComputedStyle(parent).fontSize) * enlarged;
        if (size < smallest[0]) smallest = [size, text.data.trim().slice(0, 30)];
    }
    // Ink of the chart: no word on another or cut at its frame, no legend on a panel.
    const ink = [];
    const inks = (selector) => [...(figure?.querySelectorAll(selector) ?? [])]
        .filter((one) => isVisible(one) && rect(one).width > 1);
    const onto = (a, b) => [Math.min(a.right, b.right) - Math.max(a.left, b.left),
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
    const slanted = /rotate\\((?!0[,)]|-?90[,)])/;
    const isWord = (one) =>
        one.textContent.trim() && !slanted.test(one.getAttribute("transform") ?? "");
    const words = inks("svg.main-svg text").filter(isWord);
    words.forEach((word, index) => {
        const box = rect(word), frame = rect(figure), text = word.textContent.slice(0, 20);
        const cut = Math.max(frame.left - box.left, box.right - frame.right,
            frame.top - box.top, box.bottom - frame.bottom);
        if (cut > 3 * scale) ink.push(`${text}: cut by ${Math.round(cut)} px`);
        for (const other of words.slice(index + 1)) {
            const [across, down] = onto(box, rect(other));
            const height = Math.min(box.height, rect(other).height); // with room above letters
            if (across > 2 * scale && down > 0.35 * height)
                ink.push(`${text} on ${other.textContent.slice(0, 20)}`);
        }
    });
    for (const legend of inks("g.legend"))
        for (const panel of inks(".draglayer .nsewdrag"))
            if (Math.min(...onto(rect(legend), rect(panel))) > 4 * scale)
                ink.push("legend on a panel");
    const framed = ".seqviz-sinusoid"; // its controls are part of the drawing
    const controls = parts.filter((part) => part.matches(inputs) && !part.closest(framed));
    return { wrong, ink, smallest, nControls: controls.length,
             figureShare: chart ? rect(figure).height / innerHeight : null };
}"""


def present(visit, slug: str, lang: str = "en", **options) -> LessonPage:
    """Open a lesson in presenter mode, with all of its benches, the focus nowhere."""
    window = {"viewport": {"width": 1920, "height": 1080}, **options}
    lesson = visit(slug, {"lang": lang, "present": "true"}, **window)
    lesson.whole()
    lesson.rest()
    return lesson


def press(lesson: LessonPage, *keys: str) -> None:
    for key in keys:
        lesson.page.keyboard.press(key)
        lesson.page.wait_for_timeout(100)
        lesson.rest()


@pytest.fixture(scope="module")
def page(request, visitors) -> Iterator[LessonPage]:
    """A lesson in presenter mode, with every question answered by the keys of a clicker."""
    slug, lang = request.param
    with visitors.watched() as visit:
        lesson = present(visit, slug, lang, color_scheme=THEMES[lang])
        for name in core(slug):
            bench = lesson.page.locator(css_class(f"bench-{name}"))
            bench.evaluate("(bench) => bench.scrollIntoView()")
            while bench.locator(QUESTION).count():
                press(lesson, "PageDown")
        lesson.whole()
        yield lesson


def core(slug: str) -> tuple[str, ...]:
    declared = getattr(lessons, slug).lesson
    return tuple(declared.core or declared.benches)


@each_lesson()
def test_bench_fills_the_window_and_nothing_overlaps(page, request):
    """At every size of the list; a push takes turns."""
    slug, _ = request.node.callspec.params["page"]
    wrong, shares = [], []
    for width, height in rotate(WINDOWS, 2, request):
        sized(page, width, height)
        is_wide = width / height > 1.6
        min_type = MIN_TYPE_SHARE * height * 0.995 if is_wide else MIN_TYPE_PX
        for name in core(slug):
            look = page.page.locator(css_class(f"bench-{name}")).evaluate(LOOKED)
            where = f"{name} at {width} x {height}"
            wrong += [f"{where}: {item}" for item in look["wrong"]]
            size, text = look["smallest"]
            if size < min_type:
                wrong.append(f"{where}: {size:.1f} px, {text}")
            if look["nControls"] > MAX_CONTROLS:
                wrong.append(f"{where}: {look['nControls']} controls")
            if look["figureShare"] is not None:
                shares.append((look["figureShare"], where))
    assert not wrong, wrong
    assert min(shares)[0] > MIN_FIGURE_SHARE, min(shares)


@pytest.mark.nightly
@each_lesson()
def test_words_in_charts_never_overlap_or_end_at_the_frame(page, request):
    """The ink of each figure, at every window size."""
    slug, _ = request.node.callspec.params["page"]
    wrong = []
    for width, height in WINDOWS:
        sized(page, width, height)
        for name in core(slug):
            look = page.page.locator(css_class(f"bench-{name}")).evaluate(LOOKED)
            wrong += [f"{name} at {width} x {height}: {item}" for item in look["ink"]]
    assert not wrong, "; ".join(wrong)


def test_clicker_teaches_lesson_and_never_leaves_it_silently(visit):
    """Title, steps, question, answer, figure, and at the end a message before the next lesson."""
    lesson = present(visit, "gates")
    page = lesson.page
    chips = "(bench) => bench.querySelector('.seqviz-steps')?.steps?.current ?? 0"

    def bench(name: str):
        return page.locator(css_class(f"bench-{name}"))

    def stands(name: str, step: int) -> None:
        box = bench(name).bounding_box()
        assert abs(box["y"]) < 2
        assert abs(box["height"] - 1080) < 2
        assert bench(name).evaluate(chips) == step

    assert bench("one").bounding_box()["y"] > 500  # the title page
    press(lesson, "PageDown")
    for step in range(4):
        stands("one", step)
        press(lesson, "PageDown")
    stands("watch", 0)
    press(lesson, "PageUp")
    stands("one", 3)
    press(lesson, "PageDown", "PageDown", "PageDown", "PageDown")
    stands("meaning", 0)
    question = bench("meaning").locator('[class*="-question"]')
    expect(question).to_be_visible()
    expect(bench("meaning").locator(".stSelectbox")).to_be_hidden()
    press(lesson, "PageDown")
    expect(question.locator('[class*="-done"]')).to_be_visible()
    press(lesson, "PageDown")
    expect(question).to_be_hidden()
    expect(bench("meaning").locator(".stSelectbox")).to_be_visible()
    stands("meaning", 0)
    message = page.locator(MESSAGE)
    for _ in range(40):  # benches behind cards are slides as well
        for _ in range(3):
            page.keyboard.down("PageDown")  # held: it repeats, and is one press
        page.keyboard.up("PageDown")
        lesson.page.wait_for_timeout(100)
        lesson.rest()
        if message.inner_text():
            break
    following = catalog.neighbours("gates")[1]
    title = Text("en")(f"{following.slug}.title")
    expect(message).to_have_text(Text("en")("present.next", title=title))
    last = page.locator(css_class("neighbours")).bounding_box()
    assert abs(last["y"]) < 120  # a slide of its own
    assert last["height"] > 900
    lesson.titled(Text("en")("gates.title"))
    press(lesson, "PageUp", "PageDown")  # not the second press at the end
    lesson.titled(Text("en")("gates.title"))
    press(lesson, "PageDown")
    lesson.titled(title)


@pytest.mark.nightly
def test_sign_appears_while_a_figure_is_computed(visit):
    page = present(visit, "gates").page
    sign = """() => { const { content, opacity } = getComputedStyle(document.body, "::after");
        return content !== "none" && opacity === "1"; }"""
    assert not page.evaluate(sign)
    wait = "(on) => document.querySelector('.seqviz-chart').classList.toggle('waiting', on)"
    page.evaluate(wait, True)
    assert not page.evaluate(sign)  # a quick answer shows none
    page.wait_for_function(sign)
    page.evaluate(wait, False)
    assert not page.evaluate(sign)


def test_keys_blank_point_draw_and_show_notes(visit):
    lesson = present(visit, "gates")
    page = lesson.page
    press(lesson, "PageDown")
    prose, bench = page.locator(css_class("more-one")), page.locator(css_class("bench-one"))
    expect(prose).to_be_hidden()
    press(lesson, "a")
    expect(prose).to_be_visible()
    expect(lesson.by_key("ga.one.footer")).to_be_visible()
    press(lesson, "a")
    expect(prose).to_be_hidden()
    assert abs(bench.bounding_box()["y"]) < 2
    slide, notes = bench.bounding_box(), page.locator(".seqviz-presenter .notes")
    press(lesson, "n")
    expect(notes).to_be_in_viewport(ratio=0.99)
    assert prose.locator("p").last.text_content() in notes.text_content()
    assert bench.bounding_box() == slide
    press(lesson, "n")
    expect(notes).to_be_hidden()
    blank = page.locator(".seqviz-presenter .blank")
    press(lesson, "b")
    assert blank.bounding_box() == {"x": 0, "y": 0, "width": 1920, "height": 1080}
    press(lesson, "PageDown")  # ends it, and does not go on
    expect(blank).to_be_hidden()
    assert abs(bench.bounding_box()["y"]) < 2
    for _ in range(2):
        page.keyboard.down("b")  # held: it repeats, and is one press
    page.keyboard.up("b")
    page.locator(".st-key-lang button").last.evaluate("(button) => button.click()")
    lesson.titled(Text("zh")("gates.title"))  # the page is another, under a screen that is black
    lesson.whole()
    lesson.rest()
    expect(blank).to_be_visible()
    press(lesson, "l")  # as any key
    expect(blank).to_be_hidden()
    expect(page.locator(".seqviz-presenter .pointer")).to_be_hidden()
    page.evaluate("document.querySelector('.stMain').scrollBy(0, -300)")  # by a wheel
    bench.locator("h2").click()
    assert abs(bench.bounding_box()["y"]) < 2
    press(lesson, "l")
    page.mouse.move(700, 400)
    box = page.locator(".seqviz-presenter .pointer").bounding_box()
    assert abs(box["x"] + box["width"] / 2 - 700) < 2
    assert abs(box["y"] + box["height"] / 2 - 400) < 2
    press(lesson, "l", "d")
    ink = page.locator(INK)
    stroke(page, css_class("ga.one.figure"), (0.3, 0.3), (0.6, 0.5))
    stroke(page, css_class("ga.one.figure"), (0.5, 0.6), (0.6, 0.6))
    drawing = ink.get_attribute("d")
    assert drawing.count("M") == 2
    press(lesson, "Backspace")
    assert ink.get_attribute("d").count("M") == 1
    box = ink.bounding_box()
    figure = lesson.by_key("ga.one.figure").bounding_box()
    assert abs(box["x"] - figure["x"] - 0.3 * figure["width"]) < 12
    assert abs(box["height"] - 0.2 * figure["height"]) < 12
    press(lesson, "e")
    expect(ink).to_have_count(0)
    stroke(page, css_class("ga.one.figure"), (0.5, 0.6), (0.6, 0.6))
    press(lesson, "d", "ArrowRight")  # another figure
    expect(ink).to_have_count(0)
    press(lesson, "d")
    stroke(page, css_class("ga.one.figure"), (0.5, 0.6), (0.6, 0.6))
    press(lesson, "PageDown")
    expect(ink).to_have_count(0)
    expect(page.locator(".seqviz-presenter .pen")).to_be_hidden()


def stroke(page, figure: str, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a line with the pen; the points are shares of the figure."""
    box = page.locator(figure).bounding_box()

    def at(point: tuple[float, float]) -> tuple[float, float]:
        return box["x"] + point[0] * box["width"], box["y"] + point[1] * box["height"]

    page.mouse.move(*at(start))
    page.mouse.down()
    page.mouse.move(*at(end), steps=6)
    page.mouse.up()


@pytest.mark.nightly
def test_chart_answers_the_pointer_where_it_is_enlarged(visit):
    """Plotly finds the value under the pointer in a chart that CSS has scaled."""
    lesson = present(visit, "ar_fitting")
    bench = lesson.page.locator(css_class("bench-process"))
    while bench.bounding_box()["y"] > 100:  # past the line by hand, its question and its steps
        press(lesson, "PageDown")
    point = bench.evaluate(
        """(bench) => {
            const chart = bench.querySelector(".seqviz-chart");
            const { xaxis, yaxis } = chart._fullLayout;
            const box = chart.getBoundingClientRect(), scale = box.width / chart.offsetWidth;
            const trace = chart._fullData[0], at = Math.floor(trace.x.length / 2);
            window.hovered = null;
            chart.on("plotly_hover", ({ points }) => (window.hovered = points[0].x));
            return [box.left + scale * (xaxis._offset + xaxis.c2p(trace.x[at])),
                    box.top + scale * (yaxis._offset + yaxis.c2p(trace.y[at])), trace.x[at], scale];
        }"""
    )
    assert point[3] > 1.4
    lesson.page.mouse.move(point[0] - 30, point[1])
    lesson.page.mouse.move(point[0], point[1], steps=5)
    lesson.page.wait_for_function("(x) => window.hovered === x", arg=point[2])


@pytest.mark.nightly
def test_clicker_opens_closes_and_reveals_a_vote(room):
    """Code and count stand in the corner, off the figure; the bar opens under the pointer."""
    teacher, student = room.teacher, room.student
    teacher.page.set_viewport_size({"width": 1920, "height": 1080})
    teacher.go(f"/ar_fitting?lang=en&room={room.code}&present=true")
    teacher.titled(Text("en")("ar_fitting.title"))
    teacher.whole()
    press(teacher, "PageDown")
    bench = teacher.page.locator(css_class("bench-by_hand"))
    bar = teacher.page.locator(".seqviz-room")
    assert "".join(bar.inner_text().split()).replace("-", "").startswith(room.code)
    box, figure = bar.bounding_box(), bench.locator('[class*="-figure"]').bounding_box()
    assert box["y"] + box["height"] < figure["y"]
    assert box["x"] + box["width"] > 1900
    expect(bar.get_by_role("button", name="End", exact=True)).to_be_hidden()
    bar.locator(".code").hover()
    expect(bar.get_by_role("button", name="End", exact=True)).to_be_visible()
    teacher.page.mouse.move(600, 900)
    poll = student.page.locator(".seqviz-poll").first
    press(teacher, "PageDown")
    poll.locator(".option:enabled").first.click()
    press(teacher, "PageDown")
    expect(poll.locator(".option").first).to_be_disabled()
    expect(poll.locator(".bar")).to_have_count(0)
    press(teacher, "PageDown")
    expect(poll.locator(".bar").first).to_be_attached()
    expect(bench.locator('[class*="-done"]')).to_be_visible()
    press(teacher, "PageDown")
    expect(bench.locator('[class*="-question"]')).to_be_hidden()
    expect(student.page.locator(".seqviz-poll .share").first).to_contain_text("100.0%")


@pytest.mark.nightly
def test_class_sees_what_the_teacher_draws(room):
    """On its own figures, also one who comes later; it is gone when the teacher goes on."""
    teacher = room.teacher
    teacher.page.set_viewport_size({"width": 1920, "height": 1080})
    teacher.go(f"/ar_fitting?lang=en&room={room.code}&present=true")
    teacher.titled(Text("en")("ar_fitting.title"))
    teacher.whole()
    process = css_class("ar.process.figure")
    teacher.page.locator(css_class("bench-process")).evaluate("(one) => one.scrollIntoView()")
    teacher.rest()
    press(teacher, "d")
    stroke(teacher.page, process, (0.3, 0.15), (0.5, 0.3))  # within one of its panels
    late = joined(room.visit, room.code)
    for student in (room.student, late):
        student.titled(Text("zh")("ar_fitting.title"))
        ink = student.page.locator(INK)
        expect(ink).to_have_count(1)
        student.page.wait_for_function(
            INSIDE, arg=process
        )  # both move while the page scrolls to it
    press(teacher, "PageDown")
    expect(teacher.page.locator(INK)).to_have_count(0)
    expect(room.student.page.locator(INK)).to_have_count(0)


@pytest.mark.nightly
def test_answer_without_a_vote_says_that_nobody_has_answered(room):
    teacher = room.teacher
    teacher.go(f"/vanishing_gradients?lang=en&room={room.code}")
    teacher.titled(Text("en")("vanishing_gradients.title"))
    poll = teacher.page.locator(".seqviz-poll").first
    poll.get_by_role("button", name="Show the answer without a vote").click()
    expect(poll).to_contain_text(Text("en")("room.nobody"))
    expect(poll.locator("li.right")).to_have_count(1)
    assert "0 of 0" not in poll.inner_text()
