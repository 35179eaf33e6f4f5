"""The lesson on attention in a browser: clicks, BertViz, texts of strangers, long texts."""

from __future__ import annotations

import time
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from seqviz.core.i18n import Placeholder, Text
from testing.chromium import css_class

REAL, APART, MASKS, ABLATE = "at.real", "at.apart", "at.masks", "at.ablate"
FIRST = 90_000  # ms for the server's first visitor, who waits until torch and the model are loaded
TOKENS = 15  # [CLS] the animal did not cross the street because it was too tired . [SEP]
HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1> **b** $x$"
# The middle of a place in data units of the first panel, in pixels of the window.
PIXELS = """(host, [x, y]) => {
    const {xaxis, yaxis} = host._fullLayout._plots.xy;
    const box = host.getBoundingClientRect();
    return [box.x + xaxis._offset + xaxis.d2p(x), box.y + yaxis._offset + yaxis.d2p(y)];
}"""
# How many different colors the picture of all heads has, as the browser decoded it.
COLORS = """async (host) => {
    const image = new Image();
    image.src = host._fullLayout.images[0].source;
    await image.decode();
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const {data} = pen.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
}"""


@pytest.fixture(scope="module")
def loaded(minilm_on_disk, visitors):
    """The server with the model in its memory, and every figure drawn once."""
    with visitors.watched() as open_page:
        lesson = open_page("attention")
        lesson.figure(APART).locator("svg.main-svg").first.wait_for(timeout=FIRST)


@pytest.fixture
def page(loaded, visit):
    """`page(**settings)` opens the lesson with these settings in its link ("real__view")."""

    def open_page(options=None, **settings):
        link = {f"at.{key.replace('__', '.')}": value for key, value in settings.items()}
        lang = link.pop("at.lang", "en")
        lesson = visit("attention", {**link, "lang": lang}, **(options or {}))
        lesson.titled(Text(lang)("attention.title"))
        lesson.chart(ABLATE).wait_for()
        lesson.rest()
        return lesson

    return open_page


def plot(lesson, bench: str):
    return lesson.figure(bench).locator(".js-plotly-plot")


def click(lesson, bench: str, x: float, y: float) -> None:
    """Click a place of the first panel and wait until the page has come to rest."""
    picture = plot(lesson, bench)
    picture.scroll_into_view_if_needed()
    result = None
    while result != (result := picture.evaluate(PIXELS, [x, y])):
        lesson.page.wait_for_timeout(150)  # a late font may move the axes once more
    left, top = result
    lesson.page.mouse.move(left - 3, top - 3)
    lesson.page.mouse.move(left, top)
    lesson.rest()  # Plotly does not hear a click within 50 ms of the last movement
    lesson.page.mouse.down()
    lesson.page.mouse.up()
    lesson.rest()


def link(lesson) -> dict[str, str]:
    """The settings in the address bar."""
    result = parse_qs(urlsplit(lesson.page.url).query)
    return {key.removeprefix("at."): value for key, (value,) in result.items() if key != "lang"}


def described(lesson, bench: str) -> str:
    return plot(lesson, bench).get_attribute("aria-label")


def field(lesson, key: str):
    return lesson.by_key(key).locator("input")


# ------------------------------------------------------------------------------------------ clicks
def test_figure_click_opens_head_then_selects_query_and_key(page, tmp_path):
    lesson = page()
    assert plot(lesson, REAL).evaluate(COLORS) > 100  # the mosaic is painted, and is no plain area
    click(lesson, REAL, 7, 5)  # x: heads, y: layers
    expect(lesson.slider(f"{REAL}.head")).to_have_value("7")
    expect(lesson.slider(f"{REAL}.layer")).to_have_value("5")
    assert link(lesson) == {"real.view": "head", "real.layer": "5", "real.head": "7"}
    label = Text("en")("figure.head_label", layer=5, head=7)
    assert described(lesson, REAL).startswith(label)
    # The benches below follow as soon as the hand is at rest and they are in sight.
    lesson.by_key("bench-apart").scroll_into_view_if_needed()
    expect(lesson.by_key("bench-apart").get_by_text(label)).to_be_visible()
    click(lesson, REAL, 5, 12)  # x: keys, y: queries
    assert link(lesson) | {"real.key": "5", "real.query": "12"} == link(lesson)
    assert "“too” gives “not”" in described(lesson, REAL)
    passage = lesson.by_key("bench-real").locator("div[role=img][style*=pre-wrap]")
    expect(passage.locator("span[style*=outline]")).to_have_text("too ")
    with lesson.page.expect_download() as coming:
        lesson.by_key(f"{REAL}.tensor").get_by_role("button").click()
    coming.value.save_as(tmp_path / "file.npz")
    assert coming.value.suggested_filename == "attention-minilm.npz"
    with np.load(tmp_path / "file.npz") as file:
        assert file["attention"].shape == (6, 12, TOKENS, TOKENS)
        np.testing.assert_allclose(file["attention"].sum(-1), 1, atol=1e-5)  # 15 float32 weights
        assert list(file["tokens"][[0, 9, -1]]) == ["[CLS]", "it", "[SEP]"]


@pytest.mark.nightly
def test_figure_click_toggles_head_and_mask_cell(page):
    lesson = page()
    before = described(lesson, ABLATE)
    click(lesson, ABLATE, 4, 3)
    expect(field(lesson, f"{ABLATE}.off")).to_have_value("3.4 5.7")
    assert link(lesson) == {"ablate.off": "3.4 5.7"}
    assert described(lesson, ABLATE) != before
    click(lesson, ABLATE, 4, 3)
    expect(field(lesson, f"{ABLATE}.off")).to_have_value("5.7")
    assert link(lesson) == {}
    assert described(lesson, ABLATE) == before
    # A cell of the mask, in which the query stands on the y axis and comes first.
    click(lesson, MASKS, 5, 2)
    expect(field(lesson, f"{MASKS}.cells")).to_have_value("2.5")
    assert link(lesson) == {"masks.cells": "2.5"}
    cell = "(host) => [host._fullData[0].z[1][4], host._fullData[0].z[1][5]]"
    assert plot(lesson, MASKS).evaluate(cell) == [1, 0]  # open, under a causal mask


# ------------------------------------------------------------------------- strangers' texts
@pytest.mark.nightly
def test_hostile_text_renders_verbatim_without_running_script(page):
    lesson = page(real__encoder=HOSTILE, real__view="head", bertviz__picture="head")
    frame = lesson.by_key("bench-bertviz").locator("iframe").element_handle().content_frame()
    frame.locator("#left text").first.wait_for()
    tokens = frame.locator("#left text").all_text_contents()
    assert "".join(tokens).replace("##", "") == f"[CLS]{HOSTILE.replace(' ', '')}[SEP]"
    assert frame.locator("#attention line").count() == 12 * len(tokens) ** 2
    passage = lesson.by_key("bench-real").locator("div[role=img][style*=pre-wrap]")
    assert passage.text_content().split() == tokens
    expect(field(lesson, f"{REAL}.encoder")).to_have_value(HOSTILE)
    for position in (lesson.page.main_frame, frame):
        assert position.evaluate("typeof window.hacked") == "undefined"
        assert position.locator("img[src=x]").count() == 0
    bold = lesson.by_key("bench-real").locator("strong, .katex").all_text_contents()
    assert bold == []


# ------------------------------------------------------------------------------------ long texts
@pytest.mark.nightly
def test_long_text_of_512_tokens_keeps_page_responsive(page):
    """The page answers within seconds, and meanwhile another bench goes on."""
    lesson = page()
    field(lesson, f"{REAL}.encoder").fill("one two three four five six " * 110)
    field(lesson, f"{REAL}.encoder").press("Enter")
    started = time.monotonic()
    lesson.slider("at.features.stage").press("ArrowRight")
    expect(lesson.slider("at.features.stage")).to_have_value("2")
    text = Text("en")
    count = text("attention.note.tokens", count=512, unknown=0)
    lesson.page.get_by_text(count).first.wait_for()
    assert time.monotonic() - started < 15  # alone in 3 s; the tests' machine is shared
    lesson.page.get_by_text(
        text("attention.note.cut", limit=512, left=Placeholder("@")).split("@")[0]
    ).wait_for()
    reduced = text("figure.reduced", cells=Placeholder("@")).split("@")[0]
    assert reduced in lesson.figure(REAL).text_content()
    lesson.chart(ABLATE).wait_for()
    lesson.rest()
    lesson.slider("at.features.query").focus()
    lesson.page.keyboard.press("ArrowRight")
    expect(lesson.by_key("at.features.readouts")).to_contain_text("hurried · animal")
    click(lesson, REAL, 1, 1)
    assert described(lesson, REAL).startswith(text("figure.head_label", layer=1, head=1))


# ------------------------------------------------------------------------------- Chinese, dark
@pytest.mark.nightly
def test_lesson_renders_in_chinese_and_dark_theme(page):
    options = {"color_scheme": "dark"}
    lesson = page(options, lang="zh", real__view="head", bertviz__picture="head")
    frame = lesson.by_key("bench-bertviz").locator("iframe").element_handle().content_frame()
    frame.locator("#left text").first.wait_for()
    expect(frame.locator("body")).to_have_css("background-color", "rgb(17, 22, 29)")
    expect(lesson.page.locator(".stApp")).to_have_css("background-color", "rgb(17, 22, 29)")
    label = Text("zh")("figure.head_label", layer=3, head=1)
    assert described(lesson, REAL).startswith(label)
    title = lesson.figure(REAL).locator(".infolayer .annotation text").first
    light = title.evaluate("(text) => getComputedStyle(text).fill")
    assert min(int(part) for part in light[4:-1].split(",")[:3]) > 180
    assert lesson.page.locator(css_class("bench-real")).evaluate(
        "(box) => box.scrollWidth <= box.clientWidth + 1"
    )
