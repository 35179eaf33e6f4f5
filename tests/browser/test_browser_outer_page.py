"""The app in a frame of another site: that page hears settings, not what a reader writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Frame, Page, expect

from benchmarks.arrival import framing
from testing.chromium import WHOLE, css_class, slider_input
from tests.tiers import first_only

RECORD = """
if (window === window.top) {
  window.heard = [];
  addEventListener("message", ({ data }) => heard.push(data));
}
"""
WORD = "Zebrafinch"
TEXT = f"{WORD}es sing & listen; 100% = all?"
# Of a lesson: a field for a text, and a slider.
FIELDS = {
    "text": ("tx.cutters.text", "tx.ladder.tries"),
    "recurrent": ("rn.writing.text_read", "rn.writing.upto"),
    "gates": ("ga.agreement.text", "ga.one.step"),
}


class Outer:
    """A page of another origin around the app; `frame` is the app's."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        page.set_default_timeout(60_000)
        page.goto(url)
        self.frame: Frame = page.frames[1]
        self.whole()

    def whole(self) -> None:
        """Wait until the app's page is there, with all its benches."""
        self.frame.locator("#seqviz-shell").wait_for(state="detached")
        self.frame.locator("h1").wait_for()
        self.frame.wait_for_function(WHOLE, polling=100)

    def field(self, key: str):
        """The field of a text."""
        return self.frame.locator(css_class(key)).locator("input")

    def slider(self, key: str):
        return self.frame.locator(slider_input(key))

    def write(self, key: str, text: str) -> None:
        """Until it is in the address of the frame."""
        self.field(key).fill(text)
        self.field(key).press("Enter")
        self.set_to(key, text)

    def set_to(self, key: str, value: str) -> None:
        """Wait until the address of the frame says so."""
        self.frame.wait_for_function(
            "([key, value]) => new URLSearchParams(location.search).get(key) === value",
            arg=[key, value],
        )

    @property
    def heard(self) -> list[Any]:
        return list(self.page.evaluate("heard"))

    def hears(self, setting: str) -> None:
        """Wait until both kinds of message that carry the address have a setting."""
        for name in ("queryParams", "queryString"):
            self.page.wait_for_function(
                "([name, key]) => heard.some((data) => "
                "new URLSearchParams(data?.[name] ?? '').has(key))",
                arg=[name, setting],
            )


@pytest.fixture
def around(browser, server) -> Iterator[Callable]:
    """`around(path)`: a page around the app there."""

    @contextmanager
    def opened(path: str) -> Iterator[Outer]:
        context = browser.new_context(locale="en-US", viewport={"width": 1000, "height": 800})
        context.add_init_script(RECORD)
        with framing([f"{server.url}/{path}"]) as url:
            yield Outer(context.new_page(), url)
        context.close()

    return opened


@pytest.mark.parametrize("slug", first_only(list(FIELDS)))
def test_outer_page_receives_settings_but_no_text(around, slug):
    text, slider = FIELDS[slug]
    with around(f"{slug}?lang=en") as outer:
        outer.write(text, TEXT)
        value = outer.slider(slider).input_value()
        outer.slider(slider).press("ArrowLeft")
        expect(outer.slider(slider)).not_to_have_value(value)
        outer.hears(slider)
        outer.set_to(text, TEXT)
        received = outer.heard
        assert received
        for item in received:
            assert WORD not in json.dumps(item), item
            assert text not in json.dumps(item), item


@pytest.mark.nightly
def test_framed_app_keeps_text_through_reload_back_and_link(around):
    """And what *Share* gives has it, as its reader asks for that."""
    text, slider = FIELDS["text"]
    with around(f"text?{urlencode({'lang': 'en', text: TEXT})}") as outer:
        expect(outer.field(text)).to_have_value(TEXT)
        outer.write(text, f"{TEXT} {TEXT}")
        value = outer.slider(slider).input_value()
        outer.slider(slider).press("ArrowLeft")
        outer.frame.wait_for_function("(key) => location.search.includes(key)", arg=slider)
        moved = outer.slider(slider).input_value()

        outer.frame.evaluate("location.reload()")
        outer.whole()
        expect(outer.field(text)).to_have_value(f"{TEXT} {TEXT}")
        expect(outer.slider(slider)).to_have_value(moved)

        outer.frame.locator(css_class("share")).get_by_role("button").first.click()
        link = outer.frame.get_by_test_id("stCode").first
        link.wait_for()
        assert parse_qs(urlsplit(link.inner_text()).query)[text] == [f"{TEXT} {TEXT}"]
        outer.page.keyboard.press("Escape")

        outer.frame.evaluate("history.back()")
        expect(outer.slider(slider)).to_have_value(value)
        expect(outer.field(text)).to_have_value(f"{TEXT} {TEXT}")
        outer.frame.evaluate("history.back()")
        expect(outer.field(text)).to_have_value(TEXT)
        assert WORD not in json.dumps(outer.heard)


@pytest.mark.parametrize(
    "name", first_only(["%74x.cutters%2etext", "tx.cutters.text", "tx%2Ecutters.text"])
)
def test_outer_page_receives_no_text_under_encoded_name(around, name):
    with around(f"text?lang=en&{name}={WORD}&tx.cutters.strip=gpt2&later=1") as outer:
        expect(outer.field("tx.cutters.text")).to_have_value(WORD)
        outer.hears("later")
        assert WORD not in json.dumps(outer.heard)


@pytest.mark.nightly
def test_outer_page_receives_no_session_id_on_upload_failure(around):
    """Streamlit tells which request has failed, and the name of the session is in its address."""
    with around("ar_fitting?lang=en&ar.real.source=csv") as outer:
        requests: list[str] = []
        outer.page.on("request", lambda item: requests.append(item.url))
        outer.page.route("**/_stcore/upload_file/**", lambda route: route.abort())
        file = {"name": "own.csv", "mimeType": "text/csv", "buffer": b"t,level\n1,2\n"}
        field = outer.frame.locator(css_class("ar.real.csv"))
        field.locator("input[type=file]").set_input_files(file)
        field.get_by_test_id("stFileChipIconError").wait_for()
        (upload,) = [item for item in requests if "/upload_file/" in item]
        session = urlsplit(upload).path.split("/")[-2]
        assert len(session) > 30
        assert session not in json.dumps(outer.heard)


def test_outer_page_cannot_control_app(browser, server):
    """Streamlit trusts any page of its own hosting."""
    context = browser.new_context(locale="en-US")
    context.grant_permissions(["local-network-access"])  # to show what this machine serves
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.route(
        "https://any.streamlit.app/",
        lambda route: route.fulfill(
            content_type="text/html", body=f'<iframe src="{server.url}/gates?lang=en"></iframe>'
        ),
    )
    page.goto("https://any.streamlit.app/")
    frame = page.frames[1]
    frame.locator("h1").wait_for()
    for message in (
        {"type": "UPDATE_HASH", "hash": "#pushed"},
        {"type": "UPDATE_FROM_QUERY_PARAMS", "queryParams": "?lang=zh"},
    ):
        page.evaluate(
            "(told) => frames[0].postMessage({ stCommVersion: 1, ...told }, '*')", message
        )
    page.wait_for_timeout(1000)
    assert urlsplit(frame.url).fragment == ""
    assert parse_qs(urlsplit(frame.url).query)["lang"] == ["en"]
    context.close()
