"""The scores of a next token under a moving hand: what the browser shows is what Python says."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from playwright.sync_api import expect

from seqviz import lessons
from seqviz.compute.gpt.filters import ORDER
from seqviz.core.i18n import LANGUAGES
from seqviz.core.paths import STATIC
from seqviz.lessons.framework.controls import encoded
from seqviz.plotting.figure import joined
from seqviz.ui.live import handler
from seqviz.ui.runtime.run_context import Session
from tests.browser.lesson_page import OPENED
from tests.tiers import first_only

BENCH = lessons.gpt.lesson.benches["scores"]
ADDRESS = "http://own.test/"
MAKE = """async ([data, words]) => {
    const {ClientRenderer} = await import("/figures/next_token.js");
    globalThis.answers = new ClientRenderer(data, async () => words);
    answers.vocabulary = words;
}"""


@pytest.fixture(scope="module")
def page(browser) -> Iterator:
    """An empty page that has our scripts."""
    created = browser.new_page()

    def give(route) -> None:
        name = route.request.url.removeprefix(ADDRESS)
        kind = "text/javascript" if name else "text/html"
        route.fulfill(body=(STATIC / name).read_text("utf-8") if name else "", content_type=kind)

    created.route(f"{ADDRESS}**", give)
    created.goto(ADDRESS)
    yield created
    created.close()


def values(rng: np.random.RandomState) -> dict[str, object]:
    """Some controls away from where they start, at places that they have."""
    all_of = {
        "temperature": float(round(0.05 * rng.randint(2, 61), 2)),
        "top_p": float(round(0.05 * rng.randint(1, 21), 2)),
        "top_k": int(rng.choice((0, 1, 3, 10, 50, 200))),
        "min_p": float(round(0.01 * rng.randint(0, 51), 2)),
        "penalty": float(round(1 + 0.05 * rng.randint(0, 21), 2)),
        "typical": float(round(0.05 * rng.randint(1, 21), 2)),
        "number": int(rng.randint(1, 201)),
        "seed": int(rng.randint(0, 1000)),
        "order": tuple(rng.permutation(ORDER).tolist()),
    }
    return {name: value for name, value in all_of.items() if rng.uniform() < 0.45}


def alike(left: object, right: object, where: str = "") -> None:
    """Equal, numbers to twelve digits; arrays may be written in two ways."""
    if isinstance(right, dict) and "bdata" in right:
        right = np.frombuffer(base64.b64decode(right["bdata"]), right["dtype"])
    if isinstance(left, list) and isinstance(right, np.ndarray | list):
        assert len(left) == len(right), where
        for index, pair in enumerate(zip(left, right, strict=True)):
            alike(*pair, f"{where}[{index}]")
    elif isinstance(left, dict) and isinstance(right, dict):
        assert left.keys() == right.keys(), where
        for name in left:
            alike(left[name], right[name], f"{where}.{name}")
    elif isinstance(left, int | float) and not isinstance(left, bool):
        assert left == pytest.approx(float(right), rel=1e-9, abs=1e-11), where
    else:
        assert left == right, where


@pytest.mark.parametrize("lang", first_only(LANGUAGES))
def test_client_renderer_matches_server(page, smollm2, lang):
    """Figure, description, read-outs and sentences, at many settings and in any order."""
    session, rng = Session("t", 0.0), np.random.RandomState(1)
    request = {"lang": lang}
    data, words = (
        json.loads(gzip.decompress(handler.client_payload(BENCH, name, request, session)))
        for name in ("", "vocabulary")
    )
    page.evaluate(MAKE, [data, words])
    for chosen in ({}, *(values(rng) for _ in range(25))):
        written = {name: encoded(value) for name, value in chosen.items()}
        query = request | {f"{BENCH.prefix}.{name}": text for name, text in written.items()}
        expected = handler.render_bench(BENCH, query, session)
        result = page.evaluate("(values) => answers.render(values)", written)
        around = expected.around
        assert result["metadata"]["readouts"] == around["readouts"], chosen
        messages = [(note or "").replace("\u2060", "") for note in around["notes"]]
        assert [note or "" for note in result["metadata"]["notes"]] == messages, chosen
        assert result["metadata"]["alt"] == around["alt"], chosen
        figure = json.loads(joined(expected.figure))
        alike(result["figure"], figure, str(chosen))


# --- on the page of the lesson --------------------------------------------------------------------
HERE = "() => !!seqvizLiveBench('gp.scores').clientRenderer?.renderer"
WORDS = "() => !!seqvizLiveBench('gp.scores').clientRenderer.renderer.vocabulary"
# What is painted (bars of the model, and after all filters), read off and told.
SEEN = """() => {
    const host = document.querySelector(".st-key-gp-scores-figure .seqviz-chart");
    const places = [".st-key-gp-scores-readouts", ".st-key-gp-scores-details"];
    const values = places.map((place) => `${place} [data-testid=stMetricValue]`);
    const read = document.querySelectorAll(values.join());
    return {
        bars: [0, 1].map((trace) => [...host._fullData[trace].x]),
        alt: host.getAttribute("aria-label"),
        read: [...read].map((one) =>
            (one.querySelector(".seqviz-overlay") ?? one).textContent.trim()),
    };
}"""
# Frame by frame to these places of a slider, as a hand does that does not rest.
ALONG = f"""async ([name, values]) => {{
    const range = document.querySelector(`.st-key-gp-scores-${{name}}-slider input[type=range]`);
    const seen = [];
    for (const value of values) {{
        range.value = value;
        range.dispatchEvent(new Event("input", {{bubbles: true}}));
        await new Promise(requestAnimationFrame);
        seen.push(({SEEN})());
    }}
    return seen;
}}"""
KNOWN = """(values) => Object.entries(values).every(([name, text]) =>
    new URLSearchParams(location.search).get(`gp.scores.${name}`) === text)"""


class Scores:
    """The first bench of the lesson, when the browser answers by itself."""

    def __init__(self, visit, **options) -> None:
        self.asked: list[str] = []
        self.lesson = visit("gpt", options.pop("asked", {"lang": "en"}), **options)
        self.page = self.lesson.page
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.lesson.chart("gp.scores").wait_for()
        self.page.wait_for_function(HERE)
        self.lesson.rest()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Within: nothing goes to the server. Moved once before, for the words of all tokens."""
        self.asked.clear()
        sent = self.lesson.sent
        yield
        assert self.asked == []
        assert self.lesson.sent == sent

    def drag(self, name: str, *shares: float) -> None:
        """Hold a slider, and bring it from place to place without a rest; it is still held."""
        for turn, share in enumerate(shares):
            self.page.mouse.move(*self.lesson.at(f"gp.scores.{name}", share))
            if turn == 0:
                self.page.mouse.down()

    def text(self, name: str) -> str:
        slider = self.lesson.by_key(f"gp.scores.{name}.slider").locator(".seqviz-slider")
        return slider.evaluate("(host) => host.control.slider.text")

    def shows(self, observed: dict | None = None, **values: str) -> None:
        """What is painted and what is read off, now or before, is what Python says of them."""
        query = {"lang": "en"} | {f"gp.scores.{name}": text for name, text in values.items()}
        expected = handler.render_bench(BENCH, query, Session("t", 0.0))
        figure = json.loads(joined(expected.figure))
        observed = observed or self.page.evaluate(SEEN)
        for result, trace in zip(observed["bars"], figure["data"], strict=False):
            bars = np.frombuffer(base64.b64decode(trace["x"]["bdata"]))
            np.testing.assert_allclose(result, bars, rtol=1e-9, atol=1e-11)
        assert observed["read"] == [item["value"] for item in expected.around["readouts"]]
        assert observed["alt"] == expected.around["alt"]

    def linked(self, **values: str) -> None:
        """Wait until the address says these values."""
        self.page.wait_for_function(KNOWN, arg=values)


@pytest.fixture
def scores(visit, smollm2) -> Callable[..., Scores]:
    return partial(Scores, visit)


def test_client_renderer_handles_drag_without_server(scores):
    bench = scores()
    bench.drag("temperature", 0.3, 0.31, 0.35)  # the first movement brings the words of all tokens
    bench.page.wait_for_function(WORDS)
    bench.page.mouse.up()
    bench.lesson.rest()
    with bench.alone():
        last_seen = bench.page.evaluate(ALONG, ["temperature", [1.2, 0.5, 2.75, 0.7]])
    for item, temperature in zip(last_seen, ("1.2", "0.5", "2.75", "0.7"), strict=True):
        bench.shows(item, temperature=temperature)
    bench.linked(temperature="0.7")
    bench.lesson.rest()
    with bench.alone():
        last_seen = bench.page.evaluate(ALONG, ["top_p", [0.3, 1, 0.55]])
    for item, top_p in zip(last_seen, ("0.3", "1", "0.55"), strict=True):
        bench.shows(item, temperature="0.7", top_p=top_p)
    bench.linked(temperature="0.7", top_p="0.55")
    bench.lesson.rest()
    bench.shows(temperature="0.7", top_p="0.55")


def opened_row(bench: Scores):
    """The filters in their order, under "More settings", which a linked order opens by itself."""
    bench.page.evaluate(OPENED, ".st-key-gp-scores-order-slider")
    row = bench.page.locator(".st-key-gp-scores-order-slider .order")
    row.scroll_into_view_if_needed()
    bench.lesson.rest()
    return row


def test_filter_order_changes_by_key_button_and_drag(scores):
    bench = scores(asked={"lang": "en", "gp.scores.temperature": "2"})
    row = opened_row(bench)
    handle = row.get_by_role("button", name=re.compile("^Temperature: place 2 of 6"))
    handle.focus()
    for _ in range(3):
        bench.page.keyboard.press("ArrowDown")
    expected = "penalty+top_k+top_p+min_p+temperature+typical"
    assert bench.text("order") == expected
    focused = bench.page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "Temperature: place 5 of 6"
    bench.linked(order=expected)
    bench.lesson.rest()
    bench.shows(temperature="2", order=expected)
    bench.lesson.by_key("gp.scores.details").locator("summary").click()
    message = bench.lesson.by_key("bench-scores").get_by_text("In the order of transformers")
    expect(message.first).to_be_visible()

    row.get_by_role("button", name="Typical: earlier").click()
    expected = "penalty+top_k+top_p+min_p+typical+temperature"
    assert bench.text("order") == expected
    bench.linked(order=expected)
    bench.lesson.rest()

    top = row.locator("[data-name=top_p] .handle")
    first = row.locator("[data-name=penalty] .handle").bounding_box()
    box = top.bounding_box()
    bench.page.mouse.move(box["x"] + 40, box["y"] + box["height"] / 2)
    with bench.alone():
        bench.page.mouse.down()
        for share in (0.75, 0.5, 0.25, 0.0):
            y = first["y"] + 4 + share * (box["y"] - first["y"])
            bench.page.mouse.move(box["x"] + 40, y)
    expected = "top_p+penalty+top_k+min_p+typical+temperature"
    assert bench.text("order") == expected
    bench.shows(temperature="2", order=expected)
    bench.page.mouse.up()
    bench.linked(order=expected)
    bench.page.reload()
    bench.lesson.chart("gp.scores").wait_for()
    bench.page.wait_for_function(HERE)
    bench.lesson.rest()
    bench.shows(temperature="2", order=expected)
    opened_row(bench)
    bench.page.get_by_role("button", name="reset", exact=True).click()
    bench.page.wait_for_function(
        "() => !new URLSearchParams(location.search).has('gp.scores.order')"
    )
    bench.shows(temperature="2")


@pytest.mark.nightly
def test_filter_order_changes_by_touch(scores):
    bench = scores(viewport={"width": 420, "height": 900}, has_touch=True, is_mobile=True)
    row = opened_row(bench)
    for button in row.get_by_role("button").all():
        assert button.bounding_box()["height"] >= 44
    row.get_by_role("button", name="Typical: earlier").tap()
    expected = "penalty+temperature+top_k+top_p+typical+min_p"
    assert bench.text("order") == expected
    bench.linked(order=expected)


@pytest.mark.nightly
def test_filter_order_defaults_if_invalid_and_drag_can_use_server(scores):
    """As every other bench: where they do not come, a hand is followed all the same."""
    bench = scores(asked={"lang": "en", "gp.scores.order": "<b>+penalty"})
    bench.shows()
    bench.page.evaluate("() => { seqvizLiveBench('gp.scores').clientRenderer.renderer = null; }")
    bench.asked.clear()
    bench.lesson.drag("gp.scores.temperature", 0.3, 0.5, steps=3)
    bench.page.mouse.up()
    assert any("/live/gpt/scores" in url for url in bench.asked)
