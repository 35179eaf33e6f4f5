"""The nastiest texts in a real browser: no script runs, no element and no request comes of them."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
import pytest

from testing.chromium import draw_whole
from tests.hostile import adversarial_inputs, fuzz_paste
from tests.shared_fixtures import launch_browser
from tests.tiers import first_only

TEXTS = adversarial_inputs.NASTIEST
FEW = "one two " + " ".join(
    adversarial_inputs.MARKUP[:4]
)  # 15 words: the lesson on orders reads 24
SHORT = {
    "ga.agreement.singular": "www.evil.exampl/<b>",
    "ga.agreement.plural": "a@b.cd<svg/onload>",
    "po.effect.first": FEW,
    "po.effect.second": "one two "
    + " ".join((*adversarial_inputs.MARKUP[5:6], *adversarial_inputs.MARKDOWN[:1])),
}
LOOK = """() => {
    const all = [...document.querySelectorAll("*")];
    const bad = /^\\s*javascript:|evil\\.example/i;
    return {
        pwned: window.__pwned ?? null,
        marked: all.filter((e) => e.id === "MARK").map((e) => e.outerHTML),
        handlers: all.filter((e) => e.hasAttribute("onerror") || e.hasAttribute("onload") ||
            e.hasAttribute("onmouseover") || e.hasAttribute("onfocus")).map((e) => e.outerHTML),
        links: all.flatMap((e) => ["href", "src", "srcset", "action", "xlink:href"]
            .map((name) => e.getAttribute(name) ?? "")).filter((value) => bad.test(value)),
    };
}""".replace("MARK", adversarial_inputs.MARK)
CHARTS = "svg.main-svg, .vega-embed, iframe"
NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?")
CLEAN = {"pwned": None, "marked": [], "handlers": [], "links": []}
SEEN = (0, 1, 8, 14, 15)  # scenes: every lesson with text fields, BertViz


class Looker:
    """One browser with the network cut; what it met: requests to others, dialogs, errors.

    The server's content-security policy is off here: it would hide what the page itself lets pass
    (tests/ui/server has tests of its own for it).
    """

    def __init__(self, browser, url: str) -> None:
        self.url = url
        self.context = browser.new_context(
            viewport={"width": 1280, "height": 800}, locale="en-US", bypass_csp=True
        )
        self.met: list[str] = []
        own = urlsplit(url).netloc

        def other(route) -> None:
            self.met.append(f"request {route.request.url}")
            route.abort()

        self.context.route(lambda address: urlsplit(address).netloc not in (own, ""), other)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on(
            "dialog", lambda box: (self.met.append(f"dialog {box.message}"), box.dismiss())
        )
        self.page.on("pageerror", lambda error: self.met.append(f"error {error}"))

    def open(self, slug: str, pairs: dict[str, str]) -> None:
        self.page.goto(f"{self.url}/{slug}?{urlencode(pairs)}")
        self.page.locator("h1").wait_for()
        draw_whole(self.page, patience=180_000)  # the first visitor of a model waits for it
        self.rest()

    def rest(self) -> None:
        self.page.wait_for_function(
            "() => document.querySelector('.stApp').dataset.testScriptState === 'notRunning'",
            timeout=180_000,  # the first visitor of a model waits for it
        )
        self.page.wait_for_timeout(600)

    def check(self, where: str) -> None:
        for frame in self.page.frames:
            assert frame.evaluate(LOOK) == CLEAN, where
        assert self.met == [], where
        assert self.page.locator("[data-testid=stException]").count() == 0, where


@pytest.fixture(scope="module")
def look(server):
    """`look(f)`: f(looker), in the one thread in which the browser lives."""
    with ThreadPoolExecutor(1) as thread:
        stack = ExitStack()
        browser = thread.submit(stack.enter_context, launch_browser()).result()
        try:
            looker = thread.submit(Looker, browser, server.url).result()
            yield lambda body: thread.submit(body, looker).result()
        finally:
            thread.submit(stack.close).result()


def fields(scene: int, text: str) -> tuple[str, dict[str, str]]:
    slug, pairs = fuzz_paste.link((scene, text))
    return slug, {key: SHORT.get(key, value) for key, value in pairs}


def saved(looker: Looker, press, folder: Path) -> Path:
    with looker.page.expect_download() as download:
        press.click()
    target = folder / download.value.suggested_filename
    download.value.save_as(target)
    return target


@pytest.mark.browser
@pytest.mark.parametrize("scene", first_only(SEEN, retained=0))
def test_link_texts_run_no_script_and_send_no_request(look, scene):
    turn = 7 * SEEN.index(scene)  # another beginning each time: some benches read but the first
    text = "one two " + " ".join((*TEXTS[turn:], *TEXTS[:turn]))

    def body(looker: Looker) -> None:
        slug, pairs = fields(scene, text)
        looker.open(slug, pairs)
        looker.page.wait_for_function(  # the text is on the page, and something is drawn of it
            """([mark, charts]) => document.querySelector(charts) !== null
                && [...document.querySelectorAll("[data-testid=stTextInput] input")]
                    .some((field) => field.value.includes(mark))""",
            arg=[adversarial_inputs.MARK, CHARTS],
        )
        looker.rest()
        looker.check(slug)

    look(body)


@pytest.mark.browser
@pytest.mark.nightly
def test_typed_texts_run_no_script_and_send_no_request(look):
    def body(looker: Looker) -> None:
        looker.open("vanishing_gradients", {"lang": "en", "vg.reach.signal": "sentence"})
        for texts in (adversarial_inputs.MARKUP, adversarial_inputs.MARKDOWN):
            text = " ".join(" ".join(texts).split())[:490]  # a field has one line
            field = looker.page.locator(".st-key-vg-reach-sentence input")
            field.fill(text)
            field.press("Enter")
            looker.page.wait_for_function(
                "(text) => new URLSearchParams(location.search).get('vg.reach.sentence') === text",
                arg=text,
            )
            looker.rest()
            looker.check(text)

    look(body)


@pytest.mark.nightly
@pytest.mark.browser
def test_column_names_are_shown_verbatim(look, tmp_path):
    names = [
        f"<b id={adversarial_inputs.MARK}>x</b>",
        ":red[r] ![x](http://evil.example/i.png)",
        "=1+1 $x$",
    ]
    walk = np.random.RandomState(1).standard_normal((60, 3)).cumsum(0)
    rows = [",".join(f"{value:.2f}" for value in row) for row in walk]
    file = tmp_path / "<img id=sqvz7 src=x onerror=window.__pwned=1>.csv"
    file.write_text("\n".join([",".join(names), *rows]), "utf-8")

    def body(looker: Looker) -> None:
        looker.open("ar_fitting", {"lang": "en", "ar.real.source": "csv"})
        page = looker.page
        page.locator(".st-key-ar-real-csv input[type=file]").set_input_files(file)
        menu = page.locator(".st-key-ar-real-column")
        menu.wait_for()
        page.locator(f".st-key-ar-real-figure :is({CHARTS})").first.wait_for(state="attached")
        looker.rest()
        looker.check("uploaded")
        for _ in range(5):  # a menu that is drawn anew meanwhile closes
            menu.locator("input").click()
            page.wait_for_timeout(2000)
            if page.locator("[role=option]").count():
                break
            page.keyboard.press("Escape")
        assert page.locator("[role=option]").all_inner_texts() == names
        looker.check("menu")
        page.locator("[role=option]").first.click()
        looker.rest()
        looker.check("chosen")

    look(body)


@pytest.mark.nightly
@pytest.mark.browser
def test_panels_and_exports_keep_hostile_text_inert(look, tmp_path):
    """Data, code, link and share panels; CSV, a page of its own, the notebook."""
    text = FEW + ' =1+1 """ \\ \' "); import os #'

    def body(looker: Looker) -> None:
        page = looker.page
        slug, pairs = fields(13, text)
        looker.open(slug, {**pairs, "po.effect.first": text, "po.effect.second": text})
        # A model that has come runs the page again, and that closes what is open.
        page.locator(".st-key-po-encoder-figure svg.main-svg").first.wait_for(
            state="attached", timeout=180_000
        )
        looker.rest()
        for name in ("data", "code", "link", "export"):
            page.locator(f".st-key-po-effect-{name} button").click()
            page.locator("[role=dialog]").wait_for()
            looker.rest()
            looker.check(name)
            if name == "export":
                table = saved(looker, page.locator(".st-key-po-effect-csv button"), tmp_path)
                alone = saved(looker, page.locator(".st-key-po-effect-html button"), tmp_path)
            page.locator("[role=dialog]").get_by_role("button", name="Close").click()
            page.locator("[role=dialog]").wait_for(state="detached")
        page.locator(".st-key-share button").first.click()
        page.locator("[data-testid=stPopoverBody] code").first.wait_for()
        looker.rest()
        assert adversarial_inputs.MARK in page.locator("[data-testid=stPopoverBody]").inner_text()
        looker.check("share")
        page.keyboard.press("Escape")
        page.locator("[data-testid=stPopoverBody]").wait_for(state="detached")
        looker.rest()  # while the page runs it may put another button in the place of this one
        book = saved(looker, page.locator(".st-key-po-notebook button"), tmp_path)
        check_table(table.read_text("utf-8-sig"))
        check_notebook(json.loads(book.read_text("utf-8")))
        page.goto(alone.as_uri())
        page.wait_for_function("() => document.querySelector('svg.main-svg')")
        looker.check("file")

    look(body)


def check_table(content: str) -> None:
    rows = list(csv.reader(io.StringIO(content)))
    assert len({len(row) for row in rows}) == 1
    cells = [cell for row in rows for cell in row]
    assert any(adversarial_inputs.MARK in cell for cell in cells)
    assert "'=1+1" in cells
    formulas = [c for c in cells if re.match(r"\s*[=+\-@]", c) and not NUMBER.fullmatch(c)]
    assert formulas == []


def check_notebook(book: dict) -> None:
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            check_only_calls("".join(cell["source"]))
    marked = [cell for cell in book["cells"] if adversarial_inputs.MARK in "".join(cell["source"])]
    assert marked
    assert {cell["cell_type"] for cell in marked} == {"code"}


def check_only_calls(source: str) -> None:
    """The cell is what `code_trace` writes: imports of ours, calls of what they give."""
    tree = ast.parse(source)
    existing = set()
    for statement in tree.body:
        match statement:
            case ast.ImportFrom(module=module, names=names):
                assert module.split(".")[0] in ("seqviz", "pathlib"), module
                existing |= {name.name for name in names}
            case ast.Import(names=[ast.alias(name="numpy")]):
                existing.add("np")
            case ast.Assign(targets=[ast.Name(id=name)]):
                existing.add(name)
            case ast.Assign() | ast.Expr():
                pass
            case _:
                raise AssertionError(ast.dump(statement)[:200])
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            while isinstance(called, ast.Attribute | ast.Call):
                called = called.value if isinstance(called, ast.Attribute) else called.func
            assert isinstance(called, ast.Name)
            assert called.id in existing | {"float"}, called.id
