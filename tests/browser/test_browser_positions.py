"""The lesson on positions in a browser: every bench paints, waves go on without a server."""

from __future__ import annotations

import io
import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pandas as pd
import pytest

from seqviz.compute.positions.sinusoidal import encoding
from seqviz.core.i18n import Placeholder, Text
from testing.server import serve
from tests.browser.lesson_page import CHARTS, LessonPage
from tests.browser.sinusoid_drawing import Sinusoid
from tests.shared_fixtures import PATIENCE

SLUG = "positions"
VALUES = {
    "positions": 64, "d_model": 64, "base": 10000, "layout": "interleaved", "position": 20,
    "dimension": 8,
}  # fmt: skip


@pytest.fixture(autouse=True)
def model(minilm):
    """On this machine's disk, where the server finds it."""


class Waves(Sinusoid):
    """The drawing on the lesson's page."""

    values = VALUES

    def __init__(self, lesson) -> None:
        lesson.page.locator(".st-key-bench-waves").scroll_into_view_if_needed()
        super().__init__(lesson)

    def slide(self, name: str, index: int) -> None:
        self.host.locator(f"input[name={name}]").fill(str(index))

    def linked(self, **values) -> None:
        """Wait until the address bar says these values and no others of this bench."""
        expected = {f"po.waves.{name}": [str(value)] for name, value in values.items()}
        self.page.wait_for_function(
            """(wanted) => {
                const query = new URLSearchParams(location.search);
                const found = [...query.keys()].filter((name) => name.startsWith("po.waves"));
                return found.length === Object.keys(wanted).length
                    && found.every((name) => query.get(name) === wanted[name]?.[0]);
            }""",
            arg=expected,
        )
        query = parse_qs(urlsplit(self.page.url).query)
        assert {k: v for k, v in query.items() if k.startswith("po.waves")} == expected


def test_waves_update_link_at_rest_and_restore_on_reload(visit):
    lesson = visit(SLUG)
    sinusoids = Waves(lesson)
    lesson.rest()
    sinusoids.linked()
    sinusoids.slide("d_model", 7)  # the eighth stop
    sinusoids.shows(d_model=9)
    sinusoids.slide("position", 3)
    sinusoids.host.locator("button[value=halves]").click()
    sinusoids.shows(d_model=9, layout="halves", position=3)
    sinusoids.linked(d_model=9, layout="halves", position=3)
    expected = encoding(64, 9, 10_000.0, "halves").table[3]
    # float64 on both sides; sines of arguments up to 3
    np.testing.assert_allclose(sinusoids.column(), expected, atol=1e-15)
    lesson.page.reload()
    sinusoids = Waves(lesson)
    sinusoids.shows(d_model=9, layout="halves", position=3)
    np.testing.assert_allclose(sinusoids.column(), expected, atol=1e-15)
    sinusoids.linked(d_model=9, layout="halves", position=3)
    # Back to what is declared: nothing of it is left in the link.
    sinusoids.host.locator("button[value=interleaved]").click()
    sinusoids.slide("position", 20)
    sinusoids.shows(d_model=9)
    sinusoids.linked(d_model=9)


@pytest.mark.nightly
def test_waves_data_export_and_code_match_client_state(visit):
    """Data, Export and Code after a change in the browser."""
    lesson = visit(SLUG)
    sinusoids = Waves(lesson)
    lesson.rest()
    sinusoids.slide("d_model", 4)
    sinusoids.slide("positions", 3)
    sinusoids.shows(d_model=6, positions=5, position=4, dimension=5)
    sinusoids.linked(d_model=6, positions=5, position=4, dimension=5)
    lesson.rest()
    table = encoding(5, 6).table

    lesson.by_key("po.waves.data").get_by_role("button").click()
    dialog = lesson.page.get_by_role("dialog")
    dialog.get_by_test_id("stDataFrame").first.wait_for()
    message = Text("en")(
        "alt.pos_map",
        positions=Placeholder("5"),
        width=6,
        base=10_000,
        low=Placeholder("@"),
        high=Placeholder("@"),
    )
    dialog.get_by_text(re.compile(re.escape(message.split("@")[0]))).wait_for()
    dialog.get_by_role("button", name="Close").click()
    dialog.wait_for(state="detached")

    lesson.by_key("po.waves.export").get_by_role("button").click()
    with lesson.page.expect_download() as download:
        dialog.get_by_role("button", name=Text("en")("frame.csv")).click()
    frame = pd.read_csv(io.BytesIO(download.value.path().read_bytes()))
    # one row an entry; as many digits as a CSV keeps
    values = frame.select_dtypes("number").to_numpy()
    assert len(frame) == table.size
    for value in table.ravel():
        assert np.isclose(values, value, rtol=0, atol=1e-6).any(), value
    dialog.get_by_role("button", name="Close").click()
    dialog.wait_for(state="detached")

    lesson.by_key("po.waves.code").get_by_role("button").click()
    code = dialog.get_by_test_id("stCode").first
    code.wait_for()
    assert re.search(r"sines = encoding\(\s*5, 6, 10000\.0, 'interleaved'", code.inner_text())


@pytest.mark.nightly
def test_waves_work_without_server(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
    context.set_default_timeout(PATIENCE)
    try:
        with serve(environment={"HF_HUB_OFFLINE": "1"}) as server:
            lesson = LessonPage(context.new_page())
            lesson.page.goto(f"{server.url}/{SLUG}")
            sinusoids = Waves(lesson)
            sinusoids.shows()
        lesson.page.get_by_role("dialog", name="Connection error").wait_for()
        lesson.page.keyboard.press("Escape")  # Streamlit says so once
        lesson.page.get_by_role("dialog").wait_for(state="detached")
        sinusoids.slide("position", 33)
        sinusoids.slide("d_model", 4)
        sinusoids.shows(position=33, d_model=6, dimension=5)
        # The browser's sine and NumPy's of an argument of 33, which is known to 33 x 1e-16.
        np.testing.assert_allclose(sinusoids.column(), encoding(64, 6).table[33], atol=1e-14)
    finally:
        context.close()


@pytest.mark.nightly
def test_waves_and_server_bench_stay_independent(visit):
    """A slider of a bench on the server, then one of the browser's, then the first again."""
    lesson = visit(SLUG)
    sinusoids = Waves(lesson)
    lesson.page.locator(".st-key-bench-distance").scroll_into_view_if_needed()
    before = lesson.geometry("po.distance")
    sinusoids.slide("position", 5)
    sinusoids.linked(position=5)
    slider = lesson.slider("po.distance.d_model")
    slider.focus()
    lesson.page.keyboard.press("ArrowLeft")
    after = lesson.changed("po.distance", before)
    assert after != before
    sinusoids.shows(position=5)
    sinusoids.slide("position", 7)
    sinusoids.linked(position=7)
    assert lesson.geometry("po.distance") == after
    assert parse_qs(urlsplit(lesson.page.url).query)["po.distance.d_model"] == ["14"]


@pytest.mark.nightly
def test_sentence_field_updates_encoder_bench(visit):
    lesson = visit(SLUG)
    lesson.figure("po.encoder").scroll_into_view_if_needed()
    lesson.figure("po.encoder").locator(CHARTS).first.wait_for(timeout=60_000)
    before = lesson.geometry("po.encoder")
    field = lesson.by_key("po.effect.second").locator("input")
    field.fill("<b>Mary</b> gave $x$ a flower")
    field.press("Enter")
    lesson.figure("po.encoder").scroll_into_view_if_needed()
    assert lesson.changed("po.encoder", before) != before
    note = Text("en")(f"{SLUG}.note.strangers")
    lesson.page.get_by_text(note).wait_for()
