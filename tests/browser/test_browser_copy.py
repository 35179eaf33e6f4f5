"""What has a button to copy it is copied where the browser lends no clipboard to scripts, too."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from seqviz.core.i18n import Text
from testing.chromium import css_class
from tests.tiers import first_only

CLASSROOM = "classroom.test"  # over http, and not this machine's own name: no secure context
REFUSES = "document.execCommand = () => false"
FRAMED = """navigator.clipboard.writeText = () =>
    Promise.reject(new DOMException("blocked by a permissions policy", "NotAllowedError"))"""


@pytest.fixture
def open_page(browser, server):
    """A lesson under the name of a classroom's network; errors: what the page logs."""
    contexts, errors = [], []

    def opened(lang: str = "en", host: str = CLASSROOM, script: str = "", query: str = "", **view):
        contexts.append(context := browser.new_context(locale="en-US", **view))
        page = context.new_page()
        if script:
            page.add_init_script(script)
        page.on("console", lambda item: errors.append(item.text) if item.type == "error" else None)
        page.on("pageerror", lambda item: errors.append(str(item)))
        page.goto(f"http://{host}:{urlsplit(server.url).port}/ar_fitting?lang={lang}{query}")
        page.locator(css_class("share")).wait_for()
        return page

    opened.errors = errors
    yield opened
    for context in contexts:
        context.close()


def copied(page) -> str:
    """What a paste into a field of the page brings."""
    page.evaluate("""() => {
        document.querySelector("#pasted")?.remove();
        const field = Object.assign(document.createElement("textarea"), {id: "pasted"});
        document.body.append(field);
        field.focus();
    }""")
    page.keyboard.press("Control+v")
    return page.locator("#pasted").input_value()


def share(page, lang: str = "en") -> list:
    """The boxes of the panel, each with its text."""
    page.locator(css_class("share")).get_by_role("button").first.click()
    boxes = page.locator("[data-testid=stCode]")
    boxes.first.wait_for()
    return boxes.all()


def press(box) -> None:
    box.hover()
    box.get_by_role("button").first.click()


@pytest.mark.parametrize(
    "script", first_only(["", FRAMED]), ids=["over http", "refused in a frame"]
)
def test_copy_button_copies_link_embed_line_and_code(open_page, script):
    page = open_page(host="127.0.0.1" if script else CLASSROOM, script=script)
    assert page.evaluate("isSecureContext") is bool(script)
    boxes = share(page)
    assert len(boxes) == 2  # the link, and the line for another page
    for box in boxes:
        press(box)
        expect(box.get_by_role("button").first).to_have_attribute("aria-label", "Copied")
        assert copied(page) == box.locator("code").inner_text()
    page.keyboard.press("Escape")
    page.locator(css_class("ar.process.code")).get_by_role("button").click()
    code = page.get_by_role("dialog").locator("[data-testid=stCode]").first
    written = code.locator("code").inner_text()
    press(code)
    expect(code.get_by_role("button").first).to_have_attribute("aria-label", "Copied")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert copied(page).split() == written.split()
    assert open_page.errors == []


@pytest.mark.parametrize(("lang", "touch"), first_only([("en", False), ("zh", True)]))
def test_copy_button_selects_text_and_names_keys_if_copy_fails(open_page, lang, touch):
    page = open_page(lang, script=REFUSES, has_touch=touch, is_mobile=touch)
    box = share(page)[0]
    press(box)
    key = "copy_touch" if touch else "copy_keys"
    line = page.locator(".seqviz-copy")
    expect(line).to_have_text(Text(lang)(f"frame.{key}").format(keys="Ctrl+C"))
    assert page.evaluate("getSelection().toString()").strip() == box.locator("code").inner_text()
    page.keyboard.press("Control+c")
    expect(line).to_have_count(0)
    assert copied(page).strip() == box.locator("code").inner_text()


@pytest.mark.nightly
def test_copy_button_copies_room_link(open_page):
    page = open_page()
    share(page)
    page.locator(".seqviz-room-join").get_by_role("button", name=Text("en")("room.open")).click()
    page.wait_for_url(re.compile(r"room=[A-Z0-9]{6}"))
    page.keyboard.press("Escape")
    box = share(page)[0]
    expect(box).to_contain_text("room=")
    press(box)
    expect(box.get_by_role("button").first).to_have_attribute("aria-label", "Copied")
    assert "room=" in copied(page)
