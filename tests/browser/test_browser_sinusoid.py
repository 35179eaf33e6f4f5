"""Sinusoidal encodings drawn in the browser: at once, rightly, and without the server."""

from __future__ import annotations

import json
import re
import shutil
import statistics
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from seqviz.compute.positions import sinusoidal
from testing.server import serve_page
from tests.browser.lesson_page import visitors
from tests.browser.sinusoid_drawing import Sinusoid
from tests.browser.sinusoid_sample import BENCH, LINKED, VALUES, WORDS
from tests.shared_fixtures import PATIENCE
from tests.tiers import first_only

AT_ONCE = 50  # milliseconds from the press to the next frame with another picture: the issue
ONE_DRAWING = 30  # milliseconds, of the largest table
EPS = np.finfo(float).eps

# Moves a slider and waits for the frame after which the canvas shows something else. `fetch` of
# the pixels is not part of the time.
PRESSES = """async ([name, places]) => {
    const canvas = document.querySelector(".seqviz-sinusoid canvas");
    const input = document.querySelector(`.seqviz-sinusoid input[name=${name}]`);
    const frame = () => new Promise(requestAnimationFrame);
    const times = [];
    for (const place of places) {
        const before = canvas.toDataURL();
        await frame();
        const start = performance.now();
        input.value = place;
        input.dispatchEvent(new Event("input", {bubbles: true}));
        await frame();  // drawn by now: its own request came first
        const elapsed = performance.now() - start;
        times.push(canvas.toDataURL() === before ? Infinity : elapsed);
    }
    return times;
}"""
# The same function that draws, asked for many places at once.
TABLE = """async ([positions, width, base, layout]) => {
    const {value} = await import("/app/static/figures/sinusoid_values.js");
    return positions.map((p) =>
        Array.from({length: width}, (_, j) => value(p, j, width, base, layout)));
}"""


@contextmanager
def sample_server(folder: Path):
    shutil.copy(Path(__file__).with_name("sinusoid_sample.py"), folder)
    page = Path(__file__).with_name("sinusoid_page.py").read_text("utf-8")
    with serve_page(folder, page) as running:
        yield running


@pytest.fixture(scope="module")
def sample(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sinusoid")
    with sample_server(folder) as running, visitors(browser, running) as created:
        yield created


class Drawing(Sinusoid):
    """The drawing on its page."""

    values = VALUES

    def slider(self, name: str):
        return self.host.locator(f"input[name={name}]")

    def reports(self, count: int) -> dict:
        """The values that the server knows after so many reports."""
        line = self.page.get_by_text(re.compile(rf"^{count} reports: "))
        line.wait_for()
        return json.loads(line.text_content().split(": ", 1)[1])

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Pixels of the window, from parts of the heatmap's width and height."""
        box = self.canvas.evaluate(
            """(canvas) => {
                const {map} = canvas.closest(".seqviz-sinusoid").drawing.plan;
                const {x, y} = canvas.getBoundingClientRect();
                return [x + map.left, y + map.top, map.width, map.height];
            }"""
        )
        return box[0] + x * box[2], box[1] + y * box[3]

    def color(self, x: float, y: float) -> list[int]:
        """The color of the map there."""
        return self.canvas.evaluate(
            """(canvas, [x, y]) => {
                const {map} = canvas.closest(".seqviz-sinusoid").drawing.plan;
                const place = [map.left + x * map.width, map.top + y * map.height];
                const [left, top] = place.map((at) => Math.floor(at * devicePixelRatio));
                return [...canvas.getContext("2d").getImageData(left, top, 1, 1).data];
            }""",
            [x, y],
        )


@pytest.fixture
def drawing(sample):
    """`drawing(values, **context options)`: a visitor's page that starts with these values."""
    with sample.watched() as visit:

        def open_page(values=None, **options):
            return Drawing(visit("", {"values": json.dumps(values or {})}, **options))

        yield open_page


def expected(values: dict) -> np.ndarray:
    v = VALUES | values
    return sinusoidal.encoding(v["positions"], v["d_model"], v["base"], v["layout"]).table


def tolerance(position) -> np.ndarray:
    """Two libraries' powers may differ by an ulp or two of a frequency of at most 1, and that
    error is multiplied by the position; then the sine's own rounding."""
    return 2 * EPS * (1 + np.asarray(position, float))


def test_sinusoid_values_match_library(drawing):
    page, positions = drawing().page, [0, 1, 2, 17, 999, 5000, 9999]
    bases = {2: 10000.0, 7: 1.5, 64: 100.0, 511: 10000.0, 512: 1000000.0}
    for width, base in bases.items():
        for layout in sinusoidal.LAYOUTS:
            table = np.array(page.evaluate(TABLE, [positions, width, base, layout]))
            truth = sinusoidal.rows(np.array(positions), width, base, layout)
            assert (np.abs(table - truth) <= tolerance(positions)[:, None]).all()
            assert np.abs(table - truth)[:4].max() < 1e-12


@pytest.mark.nightly
@pytest.mark.parametrize(
    "values",
    [
        {},
        {"d_model": 9, "layout": "halves", "position": 63},
        {"positions": 10000, "d_model": 512, "position": 9999},
        {"positions": 2, "d_model": 2, "base": 1.5, "position": 1},
    ],
)
def test_sinusoid_screen_reader_column_matches_encoding(drawing, values):
    page = drawing(values)
    position = (VALUES | values)["position"]
    truth = expected(values)[position]
    assert np.abs(page.column() - truth).max() <= tolerance(position)
    expect(page.host.locator("caption")).to_have_text(f"Encoding of position {position}")


@pytest.mark.nightly
def test_sinusoid_colors_match_values(drawing):
    values = {"positions": 10, "d_model": 4, "position": 9, "dimension": 3}
    page, truth = drawing(values), expected(values)
    for position in range(9):
        for dimension in range(3):
            visible = page.color((position + 0.5) / 10, (dimension + 0.5) / 4)
            value = truth[position, dimension]
            end = np.array([214, 104, 20] if value > 0 else [43, 108, 196])
            mixed = 255 + abs(value) * (end - 255)
            # A step between shades is 1/127 of 212 at most, rounded to it and to whole numbers.
            assert np.abs(np.array(visible[:3]) - mixed).max() <= 0.5 * 212 / 127 + 0.5
    # Every k-th position, and whole pairs, where there are fewer pixels than entries.
    wide = {"positions": 10000, "d_model": 512, "position": 0, "dimension": 0}
    page, truth = drawing(wide), expected(wide)
    every, rows = page.canvas.evaluate(
        """async (canvas) => {
            const {map} = canvas.closest(".seqviz-sinusoid").drawing.plan;
            return [Math.ceil(10000 / Math.round(map.width)), 2 * Math.floor(map.height / 2)];
        }"""
    )
    assert every > 10
    assert rows == 256
    for column in (50, 200, 400):
        for row in (180, 181, 230, 231):  # pairs 0, 2, 4 ... of 256 stand in 128 pairs of rows
            visible = page.color((column + 0.5) * every / 10000, (row + 0.5) / rows)
            value = truth[column * every, 4 * (row // 2) + row % 2]
            end = np.array([214, 104, 20] if value > 0 else [43, 108, 196])
            mixed = 255 + abs(value) * (end - 255)
            assert np.abs(np.array(visible[:3]) - mixed).max() <= 0.5 * 212 / 127 + 0.5


def moves(page) -> dict[str, float]:
    """Milliseconds from press to picture, the median of several presses of each slider."""
    times = {}
    for name in ("positions", "d_model", "base", "position", "dimension"):
        top = int(page.slider(name).get_attribute("max"))
        positions = [round(top * part) for part in (0.1, 0.9, 0.3, 0.7, 0.5, 0.95, 0.2)]
        times[name] = statistics.median(page.page.evaluate(PRESSES, [name, positions]))
    return times


@pytest.mark.timing
def test_sinusoid_sliders_redraw_in_time_with_and_without_server(browser, tmp_path):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
    context.set_default_timeout(PATIENCE)
    try:
        with sample_server(tmp_path) as server:
            tab = context.new_page()
            tab.goto(f"{server.url}/?" + "values=" + json.dumps({"positions": 1000}))
            page = Drawing(type("Lesson", (), {"page": tab})())
            with_server = moves(page)
        tab.get_by_role("dialog", name="Connection error").wait_for()
        tab.keyboard.press("Escape")  # Streamlit says so once
        tab.get_by_role("dialog").wait_for(state="detached")
        without = moves(page)
        for times in (with_server, without):
            assert max(times.values()) <= AT_ONCE, times
        # The rest goes on too: layout, position by keyboard, what screen readers are told.
        page.slider("positions").fill("19")
        page.host.get_by_role("button", name="In halves").press("Enter")
        page.slider("position").focus()
        before = int(page.slider("position").input_value())
        tab.keyboard.press("ArrowLeft")
        values = page.canvas.evaluate("(c) => c.closest('.seqviz-sinusoid').drawing.settings")
        assert values["position"] == before - 1
        assert values["layout"] == "halves"
        tab.wait_for_timeout(200)
        truth = sinusoidal.rows(
            np.array([values["position"]]), values["d_model"], float(values["base"]), "halves"
        )[0]
        assert np.abs(page.column() - truth).max() <= tolerance(values["position"])
    finally:
        context.close()


@pytest.mark.nightly
@pytest.mark.timing
def test_sinusoid_draws_largest_table_in_time(drawing):
    page = drawing({"positions": 10000, "d_model": 512}, device_scale_factor=2)
    times = []
    for index in range(5, 15):
        page.slider("base").fill(str(index))  # the map is computed anew each time
        page.page.wait_for_timeout(50)
        times.append(float(page.canvas.get_attribute("data-milliseconds")))
    assert statistics.median(times) <= ONE_DRAWING, times


@pytest.mark.timing  # a hand that pauses is a hand that rests
def test_sinusoid_debounces_reports_to_server(drawing):
    page = drawing()
    for position in ("3", "9", "17"):  # without a rest
        page.slider("positions").fill(position)
    page.host.get_by_role("button", name="In halves").click()
    payload = page.reports(1)
    # The eighteenth stop; there were only five positions on the way.
    assert payload == {**VALUES, "positions": 128, "layout": "halves", "position": 4}
    expect(page.slider("positions")).to_have_attribute("aria-valuetext", "128")
    # Another picture, and back: what was told before is told again.
    page.host.get_by_role("button", name="In turn").click()
    page.reports(2)
    page.host.get_by_role("button", name="In halves").click()
    assert page.reports(3) == payload


@pytest.mark.nightly
def test_sinusoid_follows_link_and_reports_next_change(drawing):
    page = drawing()
    page.slider("dimension").fill("8")
    assert page.reports(1) == {**VALUES, "dimension": 8}
    page.page.get_by_role("button", name="Follow a link").click()
    page.shows(**LINKED)
    # None of these stands on a stop: the slider goes to the nearest, the number is the true one.
    for name, value in (("positions", "37"), ("d_model", "9"), ("base", "750")):
        expect(page.slider(name)).to_have_attribute("aria-valuetext", value)
    expect(page.host.get_by_role("button", name="In halves")).to_have_attribute(
        "aria-pressed", "true"
    )
    page.slider("dimension").fill("7")
    assert page.reports(2) == {**LINKED, "dimension": 7}


@pytest.mark.nightly
def test_sinusoid_ignores_late_server_answer(drawing):
    chosen = drawing().canvas.evaluate(
        """(canvas, values) => {
            const {drawing} = canvas.closest(".seqviz-sinusoid");
            drawing.onReport = () => {};
            for (const dimension of [8, 9]) {
                drawing.change({dimension});
                drawing.report();
            }
            return [8, 9, 8].map((dimension) => {
                drawing.update({...values, dimension});
                return drawing.settings.dimension;
            });
        }""",
        VALUES,
    )
    assert chosen == [9, 9, 8]  # the last is no answer any more: a link


@pytest.mark.nightly
def test_sinusoid_ignores_link_while_slider_is_pressed(drawing):
    page = drawing()
    page.lesson.rest()  # places are measured once the page has its final width
    box = page.slider("position").bounding_box()
    page.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.page.mouse.down()
    page.page.get_by_role("button", name="Follow a link").evaluate("(button) => button.click()")
    page.page.get_by_text('"positions": 37').wait_for()
    assert page.slider("positions").get_attribute("aria-valuetext") == "64"
    page.page.mouse.up()


@pytest.mark.timing  # a hand that pauses is a hand that rests
def test_sinusoid_pointer_picks_position_and_dimension(drawing):
    page = drawing()
    page.lesson.rest()  # places are measured once the page has its final width
    mouse = page.page.mouse
    mouse.move(*page.place(20.5 / 64, 30.5 / 64))
    hint = page.host.locator(".hint")
    expect(hint).to_have_text(f"p = 20, j = 30: {expected({})[20, 30]:.3f}".replace("-", "−"))
    mouse.down()
    page.shows(position=20, dimension=30)
    mouse.move(*page.place(40.5 / 64, 10.5 / 64))
    page.shows(position=40, dimension=10)
    expect(hint).to_be_hidden()
    mouse.move(*page.place(1.5, -0.5))  # beyond the corner
    page.shows(position=63, dimension=0)
    mouse.up()
    mouse.move(*page.place(0.5, 0.5))
    page.shows(position=63, dimension=0)
    assert page.slider("position").input_value() == "63"
    assert page.reports(1) == {**VALUES, "position": 63, "dimension": 0}


@pytest.mark.nightly
def test_sinusoid_clock_and_wave_clicks_set_values(drawing):
    page = drawing({"layout": "halves"})
    page.lesson.rest()  # places are measured once the page has its final width
    dial, point = page.canvas.evaluate(
        """(canvas) => {
            const {plan} = canvas.closest(".seqviz-sinusoid").drawing;
            const {x, y} = canvas.getBoundingClientRect();
            const {clocks, wave} = plan;
            return [[x + clocks.left + clocks.width / 32, y + clocks.top + 0.75 * clocks.height],
                    [x + wave.left + (30.5 / 64) * wave.width, y + wave.top + 30]];
        }"""
    )
    page.page.mouse.click(*dial)  # the first of the second row of sixteen
    page.shows(layout="halves", dimension=16)
    page.page.mouse.click(*point)
    page.shows(layout="halves", dimension=16, position=30)


@pytest.mark.nightly
def test_sinusoid_tap_picks_position_and_dimension(drawing):
    page = drawing(viewport={"width": 420, "height": 900}, has_touch=True)
    page.lesson.rest()  # places are measured once the page has its final width
    page.page.touchscreen.tap(*page.place(50.5 / 64, 3.5 / 64))
    page.shows(position=50, dimension=3)


def test_sinusoid_sliders_have_names_and_respond_to_keys(drawing):
    page = drawing()
    for name in ("positions", "d_model", "base", "position", "dimension"):
        slider = page.page.get_by_role("slider", name=WORDS[name], exact=True)
        slider.focus()
        before = slider.get_attribute("aria-valuetext")
        page.page.keyboard.press("ArrowRight")
        expect(slider).not_to_have_attribute("aria-valuetext", before)
        page.page.keyboard.press("ArrowLeft")
        expect(slider).to_have_attribute("aria-valuetext", before)
    page.page.get_by_role("slider", name="Base").press("Home")
    expect(page.slider("base")).to_have_attribute("aria-valuetext", "1.5")
    page.page.get_by_role("slider", name="Base").press("End")
    expect(page.slider("base")).to_have_attribute("aria-valuetext", "1,000,000")
    page.page.get_by_role("group", name="Sines and cosines").wait_for()
    formula = "Dimension 6 of 64 is sin(p / 1000000^(2·3/64)), wavelength 22.9"
    page.page.get_by_role("img", name=formula).wait_for()


@pytest.mark.nightly
def test_sinusoid_clamps_position_and_dimension_to_smaller_table(drawing):
    page = drawing({"position": 60, "dimension": 60})
    page.slider("positions").fill("0")
    page.slider("d_model").fill("0")
    page.shows(positions=2, d_model=2, position=1, dimension=1)
    assert page.column() == pytest.approx([np.sin(1), np.cos(1)], abs=EPS)
    page.slider("d_model").fill("3")
    page.shows(positions=2, d_model=5, position=1, dimension=1)


@pytest.mark.nightly
def test_sinusoid_replaces_impossible_values(drawing):
    page = drawing({"base": 1, "positions": 0, "d_model": "x", "layout": "spiral", "position": -3})
    page.shows(positions=1, position=0)


@pytest.mark.parametrize("width", first_only([1280, 700, 420, 340]))
def test_sinusoid_fits_every_window_width(drawing, width):
    page = drawing({"positions": 10000, "d_model": 512}, viewport={"width": width, "height": 900})
    page.lesson.rest()
    picture, side = (page.host.locator(part).bounding_box() for part in (".picture", ".controls"))
    host = page.host.bounding_box()
    assert page.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    if host["width"] < 560:  # the picture first, then what moves it
        assert side["y"] >= picture["y"] + picture["height"]
        assert side["width"] == picture["width"] == host["width"]
    else:
        assert side["x"] >= picture["x"] + picture["width"]
    frame = page.lesson.figure(BENCH).bounding_box()
    for part in (picture, side):
        assert part["y"] + part["height"] <= frame["y"] + frame["height"] + 1
    height = page.canvas.evaluate("(c) => c.closest('.seqviz-sinusoid').drawing.plan.height")
    assert picture["height"] == pytest.approx(height, abs=1)


@pytest.mark.nightly
def test_sinusoid_in_presenter_mode_enlarges_type_and_stays_whole(sample):
    with sample.watched() as visit:
        page = Drawing(visit("", {"present": "true"}))
        plan = page.canvas.evaluate("(c) => c.closest('.seqviz-sinusoid').drawing.plan")
        assert plan["u"] == 1.25
        frame, canvas = page.lesson.figure(BENCH).bounding_box(), page.canvas.bounding_box()
        assert frame["height"] >= canvas["height"] == pytest.approx(plan["height"], abs=1)
        assert canvas["height"] <= 0.8 * 800


@pytest.mark.nightly
def test_sinusoid_zero_matches_dark_page_background(drawing):
    values = {"positions": 10, "d_model": 4, "position": 9, "dimension": 3}
    page = drawing(values, color_scheme="dark")
    assert page.color(0.05, 0.125)[:3] == [17, 22, 29]  # sin 0
    assert page.color(0.05, 0.375)[:3] == [214, 104, 20]  # cos 0
    expect(page.host.locator("output").first).to_have_css("color", "rgb(127, 176, 245)")


@pytest.mark.nightly
def test_sinusoid_repaints_on_theme_change(drawing):
    values = {"positions": 10, "d_model": 4, "position": 9, "dimension": 3}
    page = drawing(values)
    assert page.color(0.05, 0.125)[:3] == [255, 255, 255]
    page.page.emulate_media(color_scheme="dark")
    page.page.wait_for_function(
        "getComputedStyle(document.querySelector('.stApp')).backgroundColor === 'rgb(17, 22, 29)'"
    )
    page.page.wait_for_timeout(300)
    assert page.color(0.05, 0.125)[:3] == [17, 22, 29]


@pytest.mark.nightly
def test_sinusoid_uses_device_pixel_ratio(drawing):
    page = drawing(device_scale_factor=2)
    width, box = page.canvas.evaluate("(c) => c.width"), page.canvas.bounding_box()
    assert width == round(2 * box["width"])


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_sinusoid_saves_picture_as_png_and_svg(drawing, tmp_path, kind):
    page = drawing()
    button = page.lesson.by_key(f"{BENCH}.picture").locator(f"button[data-kind={kind}]")
    with page.page.expect_download() as coming:
        button.click()
    path = tmp_path / coming.value.suggested_filename
    coming.value.save_as(path)
    assert path.suffix == f".{kind}"
    box = page.canvas.bounding_box()
    if kind == "svg":
        assert "data:image/png;base64," in path.read_text("utf-8")
        return
    with Image.open(path) as image:
        assert image.size == pytest.approx((2 * box["width"], 2 * box["height"]), abs=2)
        pixels = np.asarray(image.convert("RGB"), float)
    orange = np.abs(pixels - [214, 104, 20]).max(axis=2) < 12
    assert 0.05 < orange.mean() < 0.6  # cosines near 1 fill almost half of the map
    assert (pixels[:5] == 255).all()  # paper, not nothing
