"""A bench in a frame of another site's page, as somebody there uses it; and for print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Frame, Page, expect

from benchmarks.arrival import framing
from seqviz.core.units import unbroken
from seqviz.ui.embed import page as embed_page
from testing.chromium import GEOMETRY
from tests.tiers import first_only

CHART = ".seqviz-chart"
TEXT = "quite my own words"
# What the page around hears; no figure says anything to it.
HEARD = """
if (window === window.top) {
  window.heard = [];
  addEventListener("message", ({ data }) => heard.push(data));
}
"""


class Framed:
    """A page of another origin with one bench in it; `frame` is the bench's."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda item: self.said.append(item.text))
        page.on("pageerror", lambda item: self.said.append(str(item)))
        page.on("request", lambda item: self.asked.append(item.url))
        page.goto(url)
        expect(page.frame_locator("iframe").locator("#lesson")).to_be_visible()
        self.frame: Frame = page.frames[1]
        self.frame.wait_for_selector(f"{CHART} .main-svg")

    @property
    def geometry(self) -> str:
        return str(self.frame.locator(CHART).evaluate(GEOMETRY))

    def changes(self, before: str) -> None:
        self.frame.wait_for_function(
            f"(before) => ({GEOMETRY})(document.querySelector('{CHART}')) !== before", arg=before
        )


@pytest.fixture
def framed(browser, server):
    @contextmanager
    def opened(path: str, **options) -> Iterator[Framed]:
        context = browser.new_context(**options)
        context.add_init_script(HEARD)
        with framing([f"{server.url}/embed/{path}"]) as url:
            framed = Framed(context.new_page(), url)
            assert context.cookies() == []
            yield framed
            assert framed.said == []
            assert framed.page.evaluate("heard") == []
            hosts = {re.sub(r"https?://([^/:]+).*", r"\1", item) for item in framed.asked}
            assert hosts <= {"127.0.0.1", "localhost"}
        context.close()

    return opened


@pytest.mark.parametrize("lang", first_only(["zh", "en"]))
def test_embed_is_set_in_the_font_of_the_app(framed, lang):
    with framed(f"gates/one?lang={lang}&ga.one.view=mask") as bench:
        faces = bench.frame.evaluate("[...document.fonts].map((f) => [f.family, f.status])")
        assert [name.strip("'\"") for name, state in faces if state == "loaded"] == ["Source Sans"]


def test_embed_slider_drag_updates_figure_and_link(framed):
    with framed("gates/one?lang=en&ga.one.view=mask") as bench:
        before, frame = bench.geometry, bench.frame
        frame.locator("#more summary").click()
        handle = frame.locator("#more input[type=range]").first.bounding_box()
        middle = handle["y"] + handle["height"] / 2
        bench.page.mouse.move(handle["x"] + handle["width"] / 2, middle)
        bench.page.mouse.down()
        bench.page.mouse.move(handle["x"] + 0.8 * handle["width"], middle, steps=4)
        bench.changes(before)  # the hand still holds it
        bench.page.mouse.up()
        expect(frame.locator("#lesson")).to_have_attribute("href", re.compile("temperature=4"))
        message = frame.locator("#under").text_content()  # folded, and follows the hand
        assert unbroken("T = 4") in message
        with bench.page.context.expect_page() as coming:
            frame.locator("#lesson").click()
        assert re.search(r"/gates\?.*ga\.one\.temperature=4", coming.value.url)


def test_embed_number_field_normalizes_input_and_rejects_non_numbers(framed):
    with framed("ar_fitting/process?lang=zh") as bench:
        frame = bench.frame
        box = frame.get_by_role("spinbutton", name=re.compile("^φ:")).first
        position = frame.locator(".seqviz-slider", has=box)
        handle, note = position.locator("input[type=range]"), position.locator(".note")
        for typed, meant in {
            "0,3": "0.3",
            "−0.3": "-0.3",
            "０．５": "0.5",
            "－,25": "-0.25",
        }.items():
            box.fill(typed)
            box.press("Enter")
            expect(box).to_have_value(meant)
            expect(handle).to_have_value(meant)
        for typed in ("1.5", "1/3", "1,000"):
            box.fill(typed)
            box.press("Enter")
            expect(note).to_contain_text(typed)
            expect(handle).to_have_value("-0.25")
        expect(frame.locator("#lesson")).to_have_attribute("href", re.compile("phi=-0.25"))
        frame.locator("#more summary").click()
        seed = frame.locator(".box input")
        seed.fill("７")
        seed.press("Enter")
        expect(frame.locator("#lesson")).to_have_attribute("href", re.compile("seed=7(&|$)"))
        seed.fill("1,000")
        seed.press("Enter")
        expect(frame.locator(".box + .note")).to_contain_text("1000")


def test_embed_works_by_keyboard_on_chinese_phone(framed):
    with framed("gates/one?lang=zh", viewport={"width": 360, "height": 700}) as bench:
        frame = bench.frame
        assert frame.evaluate("document.documentElement.lang") == "zh-CN"
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
        named = frame.evaluate(
            """[...document.querySelectorAll("input, select, button, summary, a")].every((one) =>
            (one.labels?.length || one.ariaLabel || one.textContent.trim()) !== "" )"""
        )
        assert named
        view = frame.locator("#above input").first
        view.focus()
        before = bench.geometry
        bench.page.keyboard.press("ArrowRight")
        bench.changes(before)
        expect(frame.locator("#above input").nth(1)).to_be_focused()
        before = bench.geometry
        frame.locator("#more summary").press("Enter")
        frame.locator("#more input[type=range]").first.focus()
        bench.page.keyboard.press("PageUp")
        bench.changes(before)
        assert re.search("[\u4e00-\u9fff]", frame.locator("#under").inner_text())


def test_embed_draws_own_text_and_keeps_it_out_of_urls(framed):
    with framed("gates/watch?lang=en&theme=dark") as bench:
        before, frame = bench.geometry, bench.frame
        paper = frame.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert paper == "rgb(17, 22, 29)"
        field = frame.locator("#side input[type=text]").first
        field.fill(TEXT)
        field.press("Enter")
        bench.changes(before)
        rendered = frame.evaluate("seqvizLiveBench('ga.watch').frames.length")
        frame.locator("#side input[type=range]").first.focus()
        bench.page.keyboard.press("PageUp")
        frame.wait_for_function(
            "(n) => seqvizLiveBench('ga.watch').frames.length > n", arg=rendered
        )
        expect(field).to_have_value(TEXT)
        assert any("/live/" in item and "own=" in item for item in bench.asked)
        assert all("quite" not in item for item in bench.asked)
        assert "quite" not in frame.locator("#lesson").get_attribute("href")


def test_embed_client_bench_redraws_and_updates_link(browser, server):
    page = browser.new_page(viewport={"width": 900, "height": 700})
    page.goto(f"{server.url}/embed/positions/waves?lang=en")
    canvas = page.locator("canvas").first
    page.wait_for_function("() => document.querySelector('canvas')?.dataset.drawn")
    before = canvas.get_attribute("data-drawn")
    page.locator("input[type=range]").first.press("ArrowRight")
    expect(canvas).not_to_have_attribute("data-drawn", before)
    expect(page.locator("#lesson")).to_have_attribute(
        "href", re.compile("lang=en&po.waves.positions=80#bench-waves$")
    )
    page.close()


@pytest.mark.parametrize("scripts", first_only([True, False]))
def test_embed_reloads_figure_after_429_response(browser, server, scripts):
    """Of a course page that a class opens at once: with scripts, and without."""
    context = browser.new_context(java_script_enabled=scripts)
    page, refused = context.new_page(), []

    def answer(route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=429, content_type="text/html", body=embed_page.waits("en"))

    page.route("**/embed/**", answer)
    page.goto(f"{server.url}/embed/gates/size?lang=en")
    expect(page.get_by_role("status").first).to_contain_text("few seconds")
    expect(page.locator("#lesson")).to_be_visible()
    context.close()


@pytest.mark.parametrize("path", first_only(["gates/size?lang=zh", "positions/waves?lang=en"]))
def test_print_picture_contains_title_address_and_qr_code(browser, server, tmp_path, path):
    page = browser.new_page()
    page.goto(f"{server.url}/print/{path}")
    page.wait_for_selector(f"{CHART} :is(.main-svg .mlayer path, canvas)")
    for kind in ("svg", "png"):
        with page.expect_download() as coming:
            page.locator(f"[data-kind={kind}]").click()
        coming.value.save_as(tmp_path / f"still.{kind}")
    full = ElementTree.parse(tmp_path / "still.svg").getroot()
    words = " ".join(full.itertext())
    assert page.locator("h1").inner_text() in words
    assert page.locator("#address a").inner_text() in words
    assert full.findall(".//{http://www.w3.org/2000/svg}path[@class='qrline']")
    start = (tmp_path / "still.png").read_bytes()[16:24]
    width, height = int.from_bytes(start[:4], "big"), int.from_bytes(start[4:], "big")
    assert (width, height) == tuple(2 * int(float(full.get(item))) for item in ("width", "height"))
    rendered = re.sub('<rect class="scrollbar"[^>]*>', "", (tmp_path / "still.svg").read_text())
    colors = set(re.findall(r"rgb\((\d+), (\d+), (\d+)\)", rendered))
    assert [color for color in colors if len(set(color)) > 1] == []
    page.close()
