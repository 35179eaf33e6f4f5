"""Home as a newcomer meets it: picture, slider, search, and what the browser remembers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from benchmarks.arrival import home_bench
from seqviz.content import catalog
from seqviz.core.i18n import Text
from tests.tiers import first_only
from tools import pictures

BENCH = ".seqviz-home-bench"
LIVE = f"{BENCH}[data-live] .main-svg"
PHONE = {"viewport": {"width": 390, "height": 844}}
KEY = "seqviz.progress"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def home(visit, lang: str = "en", **options):
    page = visit("", {"lang": lang} if lang else None, **options).page
    page.locator(LIVE).first.wait_for()
    page.locator("#seqviz-shell").wait_for(state="detached")
    return page


@pytest.mark.parametrize(("width", "height"), first_only([(1280, 800), (420, 800)]))
def test_home_shell_shows_picture_before_websocket_opens(browser, server, width, height):
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.route_web_socket("**/_stcore/stream", lambda line: None)
    page.goto(f"{server.url}/?lang=en")
    stills = page.locator("#seqviz-shell .home svg")
    assert [item.is_visible() for item in stills.all()] == [width > 640, width <= 640]
    expect(stills.locator("visible=true")).to_contain_text("φ²")  # of theory
    color = page.locator("#seqviz-shell svg path").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one).fill)"
    )
    assert "rgb(36, 87, 167)" in color  # of the bars, in the light theme
    context.close()


def test_home_bench_follows_slider_and_links_to_same_setting(visit):
    page = home(visit)
    message, entry = page.locator(f"{BENCH} .sentence"), page.locator(f"{BENCH} .lesson-link")
    expect(message).to_contain_text("14")
    expect(entry).to_have_attribute("href", f"{catalog.SHOWN}?lang=en")
    page.locator(f"{BENCH} input[type=range]").press("PageUp")
    expect(message).to_contain_text("29")
    assert page.evaluate(f"seqvizLiveBench({json.dumps(home_bench())}).frames.length") >= 1
    page.wait_for_url(re.compile(r"/\?.*ar\.process\.phi=0\.9\b"))
    page.reload()
    expect(message).to_contain_text("29")
    page.locator("#seqviz-shell").wait_for(state="detached")
    entry.click()
    page.wait_for_url(re.compile(rf"/{catalog.SHOWN}\?.*ar\.process\.phi=0\.9\b"))
    page.locator(".st-key-bench-process .main-svg").first.wait_for()
    page.go_back()
    expect(message).to_contain_text("29")


def test_home_search_opens_bench_by_keyboard(visit):
    page = home(visit, "zh")
    field = page.get_by_role("combobox")
    field.fill("position")  # loads the index, if the idle page has not
    page.get_by_role("option").first.wait_for()
    requests: list[str] = []
    page.on("request", lambda item: requests.append(item.url))
    for typed in ("position", "位置"):
        field.fill(typed)
        expect(page.get_by_role("option").first).to_contain_text(Text("zh")("positions.title"))
    field.fill("zzzz")
    expect(page.locator(".seqviz-home-search [role=status]").first).to_contain_text("zzzz")
    expect(field).to_have_attribute("aria-expanded", "false")
    field.fill("dk")
    field.press("ArrowDown")
    option = page.get_by_role("option").first
    expect(option).to_have_attribute("aria-selected", "true")
    assert field.get_attribute("aria-activedescendant") == option.get_attribute("id")
    assert [
        item for item in requests if "/_stcore/health" not in item
    ] == []  # no request for a key
    field.press("Enter")
    page.wait_for_url("**/attention?lang=zh#bench-scale")
    page.wait_for_function("""() => {
        const bench = document.querySelector(".st-key-bench-scale");
        const {top} = bench?.getBoundingClientRect() ?? {top: -1};
        return top > 50 && top < 90 && bench.querySelector(".main-svg");
    }""")


def test_home_search_opens_lesson_when_enter_comes_before_index(visit):
    """The first search of a server waits seconds for its index."""
    page = home(visit)
    pending: list = []
    page.route("**/search/en", lambda request: pending.append(request))
    page.reload()
    field = page.get_by_role("combobox")
    page.locator("#seqviz-shell").wait_for(state="detached")
    field.fill("attention")
    field.press("Enter")
    expect(page.locator(".seqviz-home-search .search")).to_have_attribute("aria-busy", "true")
    field.fill("AR fitting")  # another word is not what was sent
    page.wait_for_timeout(50)
    assert len(pending) == 1
    pending[0].continue_()
    page.get_by_role("option").first.wait_for()
    page.wait_for_timeout(300)
    assert re.search(r"/\?lang=en", page.url)
    pending.clear()
    page.reload()
    page.locator("#seqviz-shell").wait_for(state="detached")
    field.fill("AR fitting")
    field.press("Enter")
    page.wait_for_timeout(50)
    pending[0].continue_()
    page.wait_for_url(re.compile(r"/ar_fitting\b"))


def test_home_search_shows_where_word_is_and_ways_in_work(visit):
    page = home(visit, **PHONE)
    field = page.get_by_role("combobox")
    field.fill("softmax")
    option = page.get_by_role("option", name=re.compile("^softmax"))
    option.first.wait_for()  # the first search of a server may wait for its index
    expect(option).to_have_count(1)
    expect(option).to_contain_text(Text("en")("attention.title"))
    field.fill("perplexity")
    page.get_by_role("option").first.click()
    page.wait_for_url("**/recurrent?lang=en#bench-writing")
    page.go_back()
    page.get_by_role("button", name=Text("en")("home.teach_open")).click()
    page.get_by_role("button", name=Text("en")("room.open")).wait_for()
    first, planned = page.locator(".seqviz-home-search .doors a").all()
    assert first.get_attribute("href").startswith(f"{catalog.LESSONS[0].slug}?lang=en")
    page.keyboard.press("Escape")
    planned.click()
    page.get_by_role("heading", name="Lesson plan").first.wait_for()
    with page.expect_popup() as opened:
        page.locator('[data-testid="stMarkdown"] a[href*="#bench-"]').first.click()
    opened.value.locator('[class*="st-key-bench-"]').first.wait_for()


def test_home_progress_is_shown_on_cards_never_sent_and_erasable(visit):
    lesson = visit("gates", {"lang": "en"})
    page = lesson.page
    sent: list[str] = []
    page.on("request", lambda item: sent.append(f"{item.url} {item.post_data or ''}"))
    page.on("websocket", lambda line: line.on("framesent", lambda item: sent.append(str(item))))
    page.get_by_role("button", name=Text("en")("frame.skip")).first.click()
    page.wait_for_function(f"() => localStorage.getItem('{KEY}')?.includes('predict-')")
    page.goto(page.url.partition("gates")[0] + "?lang=en")
    card = page.locator('.seqviz-card[data-slug="gates"]')
    expect(card).to_contain_text("visited · predictions 1 of 4 · exercises 0 of 1 · goals 0 of 1")
    assert "visited" not in page.locator('.seqviz-card[data-slug="attention"]').inner_text()
    page.get_by_role("button", name=Text("en")("home.erase")).click()
    expect(card).not_to_contain_text("visited")
    assert page.evaluate(f"localStorage.getItem('{KEY}')") is None
    assert sent
    assert not any("predict-" in item or KEY in item for item in sent)


@pytest.mark.nightly
def test_home_progress_remembers_reached_target(visit):
    page = visit("positions", {"lang": "en", "po.distance.base": "100"}).page
    page.locator(".st-key-bench-distance").scroll_into_view_if_needed()
    expect(page.locator('.seqviz-target[data-reached="true"]')).to_be_visible()
    page.wait_for_function(f"() => localStorage.getItem('{KEY}')?.includes('target-slowest')")
    page.goto(page.url.partition("positions")[0] + "?lang=en")
    card = page.locator('.seqviz-card[data-slug="positions"]')
    expect(card).to_contain_text("goals 1 of 1")


@pytest.mark.parametrize(
    "script",
    first_only([
        f"localStorage.setItem('{KEY}', '{{\"gates\": [1, \"visited\"], \"x\": 3}}')",
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('none') }})",
        f"localStorage.setItem('{KEY}', '{{')",
        f"localStorage.setItem('{KEY}', '[1]')",
    ], retained=2),
)  # fmt: skip
def test_home_works_with_invalid_or_missing_storage(browser, server, script):
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(script)
    page.goto(f"{server.url}/?lang=en")
    page.locator(LIVE).first.wait_for()
    cards = page.locator(".seqviz-card")
    expect(cards).to_have_count(len(catalog.LESSONS))
    expect(page.get_by_role("combobox")).to_be_visible()
    is_known = "gates" in script
    expect(page.locator('.seqviz-card[data-slug="gates"] .done')).to_have_text(
        re.compile("visited" if is_known else "^$")
    )
    context.close()


@pytest.mark.nightly
def test_home_serves_chinese_to_chinese_browser(browser, server):
    context = browser.new_context(locale="zh-CN")
    page = context.new_page()
    page.route_web_socket("**/_stcore/stream", lambda line: None)
    page.goto(server.url)
    assert page.title().startswith(Text("zh")("home.title"))
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    expect(page.locator("#seqviz-shell")).to_contain_text(Text("zh")("home.goal")[:12])
    context.close()


def test_home_pictures_match_current_figures(browser):
    observed = drawn_anew(pictures.pictures(browser))
    assert observed == {*pictures.CARDS.glob("card_*.svg"), *pictures.HOME.glob("*.svg")}


@pytest.mark.parametrize("slug", first_only(["gates", *(item.slug for item in catalog.LESSONS)]))
def test_card_pictures_match_current_figures(browser, slug):
    observed = drawn_anew(pictures.folded(browser, slug))
    assert observed == {*pictures.FOLDED.glob(f"{slug}_*.svg")}
    assert observed


@pytest.mark.nightly
def test_card_of_a_bench_with_a_question_shows_no_picture_of_it(visit):
    """The picture at the defaults would answer the question."""
    page = visit("gates", {"lang": "en"}).page
    images = page.locator('[class*="st-key-card-"] summary img')
    images.first.wait_for()
    names = [
        source.rpartition("/")[2] for source in images.evaluate_all("(a) => a.map((i) => i.src)")
    ]
    assert names == [
        "question.svg",
        "question.svg",
        "gates_conventions_light.svg",
        "gates_size_light.svg",
    ]
    assert min(images.evaluate_all("(all) => all.map((one) => one.naturalWidth)")) == 304
    assert not list(pictures.FOLDED.glob("gates_learn_*"))


def drawn_anew(drawn: Iterator[tuple[Path, str]]) -> set[Path]:
    """Compare pictures with their files: the same elements, every number within a pixel."""
    observed = set()
    for path, svg in drawn:
        retained = path.read_text("utf-8")
        observed.add(path)
        assert NUMBER.sub("", svg.strip()) == NUMBER.sub("", retained.strip()), path.name
        pairs = zip(NUMBER.findall(svg), NUMBER.findall(retained), strict=True)
        assert all(abs(float(pair) - float(other)) <= 1 for pair, other in pairs), path.name
        assert len(retained) < 40_000
    return observed
