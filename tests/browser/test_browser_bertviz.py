"""BertViz in its frames: drawn without a network, whatever the tokens are."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from testing.server import serve_page
from tests.browser.lesson_page import visitors

LAYERS, HEADS, SECOND = 3, 4, 5
TOKENS = [
    "[CLS]",
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<!--<script>",
    "\"'\\",
    "&lt;b&gt;",
    "مرحبا",
    "😀",
    "internationalization",
    "line\u2028end",
]
# `twin` has the same data as `head`: two frames must not know each other's parts.
SCRIPT = f"""
import json
import numpy as np
import streamlit as st
from seqviz.experiments.bertviz import page

st.set_page_config(layout="wide")
st.title("BertViz")
tokens = json.loads({json.dumps(TOKENS)!r})
scores = np.random.RandomState(0).rand({LAYERS}, {HEADS}, len(tokens), len(tokens))
attention = (scores / scores.sum(-1, keepdims=True)).astype(np.float32)
dark = "dark" in st.query_params
for key, view in dict(head="head", twin="head", model="model").items():
    made = page.page(view, attention, tokens, layer=2, dark=dark, second={SECOND})
    with st.container(key=key):
        st.iframe(made.html, height=made.height)
made = page.page("model", attention, tokens)
with st.container(key="single"):
    st.iframe(made.html, height=made.height)
"""
FRAMES = ("head", "twin", "model", "single")


@pytest.fixture(scope="module")
def bertviz(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bertviz")
    with serve_page(folder, SCRIPT) as running, visitors(browser, running) as created:
        yield created


@pytest.fixture
def frames(bertviz):
    """`frames(parameters, **context options)`: the lesson page, and its frames by their names.

    Afterwards the test fails if anything was asked of another host or an error was logged.
    """

    def open_page(parameters=None, **options):
        lesson = visit("", parameters, **options)
        result = {}
        for name in FRAMES:
            element = lesson.by_key(name).locator("iframe")
            result[name] = element.element_handle().content_frame()
            result[name].locator("svg text").first.wait_for()
        return lesson, result

    with bertviz.watched() as visit:
        yield open_page


def opacities(frame) -> list[str]:
    return frame.locator("#attention line").evaluate_all(
        "(lines) => lines.map((line) => line.getAttribute('stroke-opacity'))"
    )


def test_bertviz_renders_every_token_verbatim_without_script(frames):
    lesson, result = frames()
    for name in ("head", "twin"):
        for side in ("left", "right"):
            assert result[name].locator(f"#{side} text").all_text_contents() == TOKENS
    result["model"].locator("svg > g > rect:last-child").nth(5).click()
    assert result["model"].locator("text.token").all_text_contents() == 2 * TOKENS
    assert result["model"].locator("text.detail").text_content() == "Layer 1, Head 1"
    for frame in (lesson.page.main_frame, *result.values()):
        assert frame.evaluate("typeof window.hacked") == "undefined"
        assert frame.locator("img[src=x]").count() == 0


@pytest.mark.nightly
def test_bertviz_shows_chosen_layer_and_all_thumbnails(frames):
    _, result = frames()
    for name in ("head", "twin"):
        assert result[name].locator("#layer option").all_text_contents() == ["2"]
        assert result[name].locator("#attention .headAttention").count() == HEADS
        assert result[name].locator("#attention line").count() == HEADS * len(TOKENS) ** 2
    for name in ("model", "single"):
        assert result[name].locator(".attn_background").count() == LAYERS * HEADS


@pytest.mark.nightly
def test_bertviz_filter_selects_one_part_of_sentence_pair(frames):
    _, result = frames()
    result["head"].select_option("#filter", label="Sentence A -> Sentence B")
    assert result["head"].locator("#left text").all_text_contents() == TOKENS[:SECOND]
    assert result["head"].locator("#right text").all_text_contents() == TOKENS[SECOND:]
    assert result["twin"].locator("#left text").all_text_contents() == TOKENS
    result["model"].select_option("#filter", label="Sentence B -> Sentence B")
    result["model"].locator("svg > g > rect:last-child").first.click()
    assert result["model"].locator("text.token").all_text_contents() == 2 * TOKENS[SECOND:]


@pytest.mark.nightly
def test_bertviz_head_toggle_is_isolated_between_frames(frames):
    _, result = frames()
    before = opacities(result["head"])
    assert opacities(result["twin"]) == before
    assert sum(map(float, before)) == pytest.approx(len(TOKENS), abs=0.0005 * len(before))
    result["head"].locator("svg > g > rect").first.click()
    one_head = len(TOKENS) ** 2
    after = opacities(result["head"])
    assert set(after[:one_head]) == {"0"}
    # Each of the three others has a third of the ink now instead of a quarter.
    assert [float(a) for a in after[one_head:]] == pytest.approx(
        [4 / 3 * float(b) for b in before[one_head:]]
    )
    assert opacities(result["twin"]) == before


@pytest.mark.nightly
@pytest.mark.parametrize("width", [1280, 700])
def test_bertviz_frame_fits_height_of_its_view(frames, width):
    _, result = frames(viewport={"width": width, "height": 800})
    for name, frame in result.items():
        rendered, window = frame.evaluate(
            "() => [document.querySelector('svg').getBoundingClientRect().bottom, innerHeight]"
        )
        # Nothing is cut off; at full width what is left is the margin and the gap under a line.
        assert rendered <= window, name
        if width == 1280:
            assert rendered >= window - 20, name
        assert frame.evaluate("document.scrollingElement.scrollHeight <= innerHeight"), name
        assert frame.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), name


@pytest.mark.nightly
def test_bertviz_fits_long_tokens_on_left(frames):
    _, result = frames()
    box = result["head"].locator("#left text", has_text="internationalization").bounding_box()
    frame = result["head"].frame_element().bounding_box()
    assert box["x"] >= frame["x"]


@pytest.mark.nightly
def test_bertviz_uses_theme_colors_in_dark_mode(frames):
    _, result = frames({"dark": ""}, color_scheme="dark")
    for name in ("head", "twin", "model"):
        expect(result[name].locator("body")).to_have_css("background-color", "rgb(17, 22, 29)")
    expect(result["head"].locator("#left text").first).to_have_css("fill", "rgb(230, 234, 240)")
    axis = result["model"].locator("svg > text").first
    expect(axis).to_have_css("fill", "rgb(230, 234, 240)")
    thumbnails = result["model"].locator(".attn_background")
    expect(thumbnails.first).to_have_css("fill", "rgb(17, 22, 29)")
    result["model"].locator("svg > g > rect:last-child").first.click()
    expect(thumbnails.first).to_have_css("fill", "rgb(26, 33, 43)")  # the chosen one stands out
    expect(result["model"].locator("text.token").first).to_have_css("fill", "rgb(204, 204, 204)")
