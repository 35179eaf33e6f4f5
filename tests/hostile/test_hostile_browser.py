"""The nastiest texts in a real browser: no script runs, no element and no request comes of them."""

from __future__ import annotations

import ast
import csv
import io
import json
from urllib.parse import urlencode, urlsplit

import pytest

from tests.hostile import pasted, strange

TEXTS = strange.NASTIEST
BATCHES = [TEXTS[start::2] for start in range(2)]
SHORT = {
    "ga.agreement.singular": "www.evil.exampl/<b>",
    "ga.agreement.plural": "a@b.cd<svg/onload>",
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
}""".replace("MARK", strange.MARK)
CLEAN = {"pwned": None, "marked": [], "handlers": [], "links": []}
SEEN = (1, 8, 11, 14, 15)  # scenes: networks, BertViz, both models, orders


class Looker:
    """One browser with the network cut; what it met: requests to others, dialogs, errors."""

    def __init__(self, browser, url: str) -> None:
        self.url = url
        self.context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
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


@pytest.fixture
def look(server, apart):
    """`look(f)`: f(looker) with a Chromium, in a thread of its own."""
    from benchmarks.browser import NoChromium, chromium
    from tests.hostile.conftest import REQUIRED

    def with_browser(body):
        with chromium() as browser:
            return body(Looker(browser, server.url))

    def call(body):
        try:
            return apart(with_browser, body)
        except NoChromium as reason:
            if REQUIRED:
                raise
            pytest.skip(str(reason))

    return call


def fields(scene: int, text: str) -> tuple[str, dict[str, str]]:
    slug, pairs = pasted.link(scene, text)
    return slug, {**dict(pairs), **(SHORT if slug == "gates" else {})}


@pytest.mark.browser
@pytest.mark.parametrize("batch", range(len(BATCHES)))
def test_texts_in_a_link_run_nothing_and_fetch_nothing(look, batch):
    def body(looker: Looker) -> None:
        for scene in SEEN:
            slug, pairs = fields(scene, "one two " + " ".join(BATCHES[batch]))
            looker.open(slug, pairs)
            looker.check(f"{slug} {scene}")

    look(body)


@pytest.mark.browser
def test_panels_and_files_carry_the_text_as_text(look, tmp_path):
    """Data, code and link panels; CSV, a page of its own, the notebook."""
    text = "one two " + " ".join(TEXTS[:8]) + ' =1+1 """ \\ \' "); import os #'

    def saved(looker: Looker, press) -> bytes:
        with looker.page.expect_download() as download:
            press.click()
        target = tmp_path / download.value.suggested_filename
        download.value.save_as(target)
        return target.read_bytes()

    def body(looker: Looker) -> None:
        page = looker.page
        slug, pairs = fields(13, text)
        looker.open(slug, pairs)
        bench = "po.effect"
        for name in ("data", "code", "link", "export"):
            page.locator(f".st-key-po-effect-{name} button").click()
            page.locator("[role=dialog]").wait_for()
            looker.rest()
            looker.check(name)
            if name == "export":
                table = saved(looker, page.locator(".st-key-po-effect-csv button"))
                alone = saved(looker, page.locator(".st-key-po-effect-html button"))
            page.keyboard.press("Escape")
            page.locator("[role=dialog]").wait_for(state="detached")
        book = json.loads(saved(looker, page.locator(".st-key-po-notebook button")))
        rows = list(csv.reader(io.StringIO(table.decode("utf-8-sig"))))
        assert len({len(row) for row in rows}) == 1, bench
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                check_only_calls("".join(cell["source"]))
        strange_cells = [c for c in book["cells"] if strange.MARK in "".join(c["source"])]
        assert strange_cells
        assert {cell["cell_type"] for cell in strange_cells} == {"code"}
        other = looker.context.new_page()
        other.set_content(alone.decode(), wait_until="load")
        other.wait_for_timeout(500)
        assert other.evaluate(LOOK) == CLEAN
        assert looker.met == []

    look(body)


def check_only_calls(source: str) -> None:
    """The cell is what `recipe` writes: imports of ours, names, calls of what was imported."""
    tree = ast.parse(source)
    known = set()
    for statement in tree.body:
        match statement:
            case ast.ImportFrom(module=module, names=names):
                assert module.split(".")[0] in ("seqviz", "pathlib"), module
                known |= {name.name for name in names}
            case ast.Import(names=[ast.alias(name="numpy")]):
                known.add("np")
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
            assert called.id in known | {"float"}, called.id
