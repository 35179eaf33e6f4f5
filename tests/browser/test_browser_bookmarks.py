"""Bookmarks: the star, the list, the saved files, and hostile content of the storage."""

from __future__ import annotations

import ast
import json
import re

import nbformat
import pytest
from playwright.sync_api import Locator, Page, expect

from seqviz import lessons
from seqviz.core.i18n import Text

KEY = "seqviz.bookmarks"
EN = Text("en")
PHI = "ar.process.phi"
HOSTILE = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"> $x$ [a](b) `'
CODE = "\"}); import os; ({'''\n\\"


def stored(page: Page) -> list[dict]:
    """What the storage holds."""
    return json.loads(page.evaluate(f"localStorage.getItem('{KEY}')") or "[]")


def forge(page: Page, content: str) -> None:
    page.evaluate("([key, content]) => localStorage.setItem(key, content)", [KEY, content])
    page.reload()


def entry(**changes):
    plain = {"id": "1_2", "lesson": "ar_fitting", "bench": "process", "values": {PHI: "0.5"},
             "title": "t", "note": "", "picture": ""}  # fmt: skip
    return {**plain, **changes}


def press_star(lesson):
    lesson.geometry("ar.process")
    lesson.by_key("ar.process.bookmark").get_by_role("button").click()


def saved(bookmarks: Locator, kind: str) -> str:
    """The file that a button of the list saves."""
    with bookmarks.page.expect_download() as download:
        bookmarks.get_by_role("button", name=EN(f"bookmarks.{kind}")).click()
    return download.value.path().read_text("utf-8")


def test_star_saves_setting_picture_and_note_and_opens_again(visit):
    lesson = visit("ar_fitting", {"lang": "en", PHI: "0.5"})
    page = lesson.page
    lesson.geometry("ar.process")
    sent = lesson.sent
    press_star(lesson)
    bookmarks = page.locator(".seqviz-bookmarks")
    expect(bookmarks.locator(".notice")).to_have_text(EN("bookmarks.added"))
    assert lesson.sent == sent  # the server receives nothing
    (item,) = stored(page)
    assert item["values"] == {PHI: "0.5"}
    assert item["title"].startswith(f"{EN('ar_fitting.title')} · ")
    assert item["picture"].startswith("data:image/png;base64,")
    assert len(item["picture"]) < 150_000
    bookmarks.locator("summary").click()
    note = bookmarks.locator("input")
    assert note.get_attribute("maxlength") == "200"
    note.fill(HOSTILE[:200])
    note.press("Enter")
    page.wait_for_function(f"() => localStorage.getItem('{KEY}').includes('hacked')")
    written = saved(bookmarks, "page")
    assert "&lt;script&gt;" in written
    assert "<script" not in written
    assert 'onerror="' not in written.replace('&lt;img src=x onerror="', "")
    assert "http" not in re.sub(r"<a .*?</a>", "", written)  # needs no network
    page.goto(page.url.partition("ar_fitting")[0] + "?lang=en")  # also on the home page
    bookmarks.locator("summary").click()
    expect(bookmarks.locator("img")).to_be_visible()
    bookmarks.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"ar\.process\.phi=0\.5"))
    expect(lesson.slider(PHI)).to_have_value("0.5")
    assert page.evaluate("window.hacked") is None


def test_star_saves_value_that_is_not_in_the_address_yet(visit):
    lesson = visit("ar_fitting", {"lang": "en", PHI: "0.5"})
    lesson.geometry("ar.process")
    lesson.slider(PHI).press("PageUp")
    press_star(lesson)
    expect(lesson.page.locator(".seqviz-bookmarks .notice")).to_have_text(EN("bookmarks.added"))
    (item,) = stored(lesson.page)
    assert item["values"][PHI] == lesson.slider(PHI).input_value() != "0.5"


def test_notebook_computes_settings_and_escapes_texts(visit):
    page = visit("ar_fitting", {"lang": "en"}).page
    bookmarks = page.locator(".seqviz-bookmarks")
    bookmarks.wait_for(state="attached")
    items = [
        entry(values={PHI: "0.5", "ar.process.n": "x", "te.cutters.text": "a"}, note=HOSTILE,
              picture="data:image/png;base64,AAAA"),
        entry(id="3", lesson="text", bench="cutters", values={"te.cutters.text": CODE},
              title="# $t$"),
    ]  # fmt: skip
    forge(page, json.dumps(items))
    bookmarks.locator("summary").click()
    expect(bookmarks.locator("li")).to_have_count(2)
    book = nbformat.reads(saved(bookmarks, "notebook"), as_version=4)
    nbformat.validate(book)
    title, imports, first, plot, second, text = book.cells
    assert EN("bookmarks.heading") in title.source
    assert not set("<$`[_") & set(first.source.split("\n\n")[1])
    assert second.source.startswith("## &#35; &#36;t&#36;")
    assert plot.outputs[0].data["image/png"] == "AAAA"
    scope: dict = {}
    exec(f"{imports.source}\n{plot.source}", scope)
    assert scope["bench"] is lessons.ar_fitting.lesson.benches["process"]
    call = ast.parse(text.source).body[1].value
    (link,) = call.args[0].args
    assert ast.literal_eval(link) == {"te.cutters.text": CODE}


@pytest.mark.nightly
def test_forged_storage_is_shown_as_text_or_not_at_all(visit):
    page = visit("ar_fitting", {"lang": "en"}).page
    bookmarks = page.locator(".seqviz-bookmarks")
    bookmarks.wait_for(state="attached")
    forged = [
        None, 7, "x", [], {}, {"lesson": "ar_fitting"}, entry(lesson="../evil"),
        entry(lesson="constructor"), entry(bench="a b"), entry(id=5),
        entry(title=HOSTILE, note="x" * 1_000_000, picture="javascript:alert(1)",
              values={"lang": "xx", "ar.process.phi": 3, "__proto__": "a"}),
    ]  # fmt: skip
    forge(page, json.dumps(forged))
    bookmarks.locator("summary").click()
    expect(bookmarks.locator("li")).to_have_count(1)
    assert bookmarks.locator("img").count() == 0
    assert len(bookmarks.locator("input").input_value()) == 200
    assert "phi" not in bookmarks.get_by_role("link").get_attribute("href")
    assert page.evaluate("window.hacked") is None
    for content in ("{", '{"a": 1}', "null", '"text"', "x" * 1_000_000):
        forge(page, content)
        bookmarks.wait_for(state="attached")
        expect(bookmarks.locator("details")).to_be_hidden()


@pytest.mark.nightly
def test_full_or_denied_storage_says_so_and_delete_makes_room(visit):
    lesson = visit("ar_fitting", {"lang": "en"})
    page = lesson.page
    page.locator(".seqviz-bookmarks").wait_for(state="attached")
    forge(page, json.dumps([entry(id=f"1_{n}") for n in range(24)]))
    press_star(lesson)
    notice = page.locator(".seqviz-bookmarks .notice")
    expect(notice).to_have_text(EN("bookmarks.full"))
    page.locator(".seqviz-bookmarks summary").click()
    page.get_by_role("button", name=f"{EN('bookmarks.remove')}: t").first.click()
    expect(page.locator(".seqviz-bookmarks li")).to_have_count(23)
    for name, message in (("QuotaExceededError", "full"), ("SecurityError", "denied")):
        deny = f"throw new DOMException('', '{name}');"
        page.evaluate(f"() => {{ Storage.prototype.setItem = () => {{ {deny} }}; }}")
        press_star(lesson)
        expect(notice).to_have_text(EN(f"bookmarks.{message}"))


@pytest.mark.nightly
def test_list_fits_a_phone_and_is_neither_printed_nor_presented(visit):
    lesson = visit("ar_fitting", {"lang": "zh"}, viewport={"width": 390, "height": 844})
    page = lesson.page
    bookmarks = page.locator(".seqviz-bookmarks")
    bookmarks.wait_for(state="attached")
    expect(bookmarks.locator("details")).to_be_hidden()
    forge(page, json.dumps([entry(title="长" * 120, note="x" * 200)]))
    lesson.geometry("ar.process")
    lesson.rest()
    bookmarks.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(bookmarks.locator("li")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.keyboard.press("Tab")
    expect(bookmarks.locator("input")).to_be_focused()
    page.emulate_media(media="print")
    expect(bookmarks).to_be_hidden()
    lesson = visit("ar_fitting", {"lang": "zh", "present": "true"})
    lesson.geometry("ar.process")
    expect(lesson.by_key("ar.process.bookmark")).to_be_hidden()
    expect(lesson.page.locator(".seqviz-bookmarks")).to_have_count(0)
