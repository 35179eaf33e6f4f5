"""A page of the app as a visitor sees it, and what must hold for every visit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page

from seqviz.content.catalog import LessonRecord
from testing.chromium import GEOMETRY, css_class, draw_whole, slider_input
from testing.server import Server
from tests.shared_fixtures import PATIENCE

PARTS = ".stTabs [role=tab]"  # of a lesson, unlike the panels of a figure
CHARTS = "svg.main-svg, svg.marks, .vega-embed canvas, .seqviz-sinusoid canvas"
CURVES = {"positions": "distance", "bert_accuracy": "knife"}  # where the first bench has none
# The place of a bench, when there is something in it; true where the page is complete without it.
STANDS = """(name) => {
    const place = document.querySelector(`.st-key-bench-${name}`);
    const stands = '[class*="st-key-"][class*="-placeholder"], [class*="-readouts"]';
    return place?.querySelector(stands) ? place
        : document.querySelector(".stApp")?.dataset.testScriptState === "notRunning";
}"""
WAITS = """(bench) => bench !== true
    && bench.querySelector('[class*="st-key-"][class*="-placeholder"]') !== null"""
# Go to a bench; true when it and those around it are drawn (MARGIN_WINDOWS of lazy_load.js). One in
# a closed card is not gone to.
REACHED = """(name) => {
    const waits = (one) => one.querySelector('[class*="st-key-"][class*="-placeholder"]') !== null;
    const isNear = (one) => {
        const { top, bottom, height } = one.getBoundingClientRect();
        return height > 0 && bottom > -0.4 * innerHeight && top < 1.4 * innerHeight;
    };
    const all = [...document.querySelectorAll('[class*="st-key-bench-"]')];
    const bench = document.querySelector(`.st-key-bench-${name}`);
    if (bench && waits(bench)) {
        bench.scrollIntoView({ block: "center" });
        return !bench.checkVisibility();
    }
    return document.querySelector(".stApp").dataset.testScriptState === "notRunning"
        && !all.some((one) => isNear(one) && waits(one));
}"""
# Open "More settings" if a control is in it, and wait until it has unfolded.
OPENED = """async (selector) => {
    const closed = '[data-testid="stExpander"] details:not([open])';
    const summary = document.querySelector(selector)?.closest(closed)?.querySelector("summary");
    if (!summary) return;
    summary.click();
    await new Promise((resolve) => setTimeout(resolve, 700));
}"""
CHANGEABLE = {"viewport", "color_scheme"}  # of a context's options, while it is open
MOVED = "window.seqvizLiveBench?.(bench).pending.size"  # values that the page has not drawn
PICTURES = "(bench) => seqvizLiveBench(bench).frames.length"  # painted during drags
# As a browser does for "back": the page goes to an address without being loaded again.
GO = """(address) => {
    history.replaceState(history.state, "", address);
    dispatchEvent(new PopStateEvent("popstate", {state: history.state}));
}"""
# A picture more; or the page has drawn it itself, for the hand rested before the answer was there.
FOLLOWED = """([bench, seen]) => {
    const {frames, pending} = seqvizLiveBench(bench);
    return frames.length > seen || pending.size === 0;
}"""


def with_a_curve(record: LessonRecord) -> str:
    """The prefix of the first bench of a lesson whose figure has a line."""
    return f"{record.code}.{CURVES.get(record.slug, record.first[0])}"


class LessonPage:
    """What the tests look at and touch; `page` is Playwright's own.

    A bench is named by its prefix, such as `ar.process`. sent: how many messages the page has sent
    to the server.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.sent = 0
        page.on("websocket", lambda socket: socket.on("framesent", self._count))

    def _count(self, _frame: object) -> None:
        self.sent += 1

    def by_key(self, key: str) -> Locator:
        """The element of a widget or container. A bench that waits out of sight is gone to."""
        bench = key.removeprefix("bench-") if key.startswith("bench-") else key.partition(".")[2]
        if bench:
            name = bench.split(".")[0]
            if self.page.wait_for_function(STANDS, arg=name).evaluate(WAITS):
                self.page.wait_for_function(REACHED, arg=name, polling=100)
                if self.page.locator(css_class(f"bench-{name}")).evaluate(WAITS):
                    self.whole()
        if "." in bench:
            self.page.evaluate(OPENED, css_class(key))
        return self.page.locator(css_class(key))

    def slider(self, key: str) -> Locator:
        """The input of a slider."""
        return self.by_key(f"{key}.slider").locator("input[type=range]")

    def at(self, key: str, share: float) -> tuple[float, float]:
        """A place on a slider."""
        box = self.page.locator(slider_input(key)).bounding_box()
        assert box is not None
        return box["x"] + share * box["width"], box["y"] + box["height"] / 2

    def drag(self, key: str, start: float, end: float, steps: int = 12) -> None:
        """Hold a slider at one place and bring it to another; a picture is waited for each time.

        AssertionError if none of them was painted under the hand.
        """
        bench = key.rpartition(".")[0]
        self.slider(key).scroll_into_view_if_needed()
        before = self.page.evaluate(PICTURES, bench)
        self.page.mouse.move(*self.at(key, start))
        self.page.mouse.down()
        for step in range(1, steps + 1):
            last_seen = self.page.evaluate(PICTURES, bench)
            self.page.mouse.move(*self.at(key, start + (end - start) * step / steps))
            self.page.wait_for_function(FOLLOWED, arg=[bench, last_seen])
        assert self.page.evaluate(PICTURES, bench) > before

    def go(self, address: str) -> None:
        """To a path and query of the app, as with "back"."""
        self.page.evaluate(GO, address)

    def heard(self, bench: str) -> None:
        """Wait until the page has drawn what a hand has set, and has it in its address."""
        self.page.wait_for_function(f"(bench) => {MOVED} === 0", arg=bench)

    @property
    def settings(self) -> list[str]:
        """The keys that the address sets in a lesson."""
        return [key for key in parse_qs(urlsplit(self.page.url).query) if "." in key]

    def figure(self, bench: str) -> Locator:
        """The container of a bench's chart."""
        return self.by_key(f"{bench}.figure")

    def chart(self, bench: str) -> Locator:
        """The picture itself."""
        return self.figure(bench).locator(CHARTS).first

    def whole(self) -> None:
        """Wait until the benches out of sight are drawn as well."""
        draw_whole(self.page)

    def titled(self, title: str) -> None:
        """Wait until the page has this title."""
        self.page.get_by_role("heading", level=1, name=title, exact=True).wait_for()

    def geometry(self, bench: str) -> str:
        """The outlines of the chart's marks, when the page has come to rest."""
        self.chart(bench).wait_for()
        self.rest()
        return self.figure(bench).evaluate(GEOMETRY)

    def changed(self, bench: str, before: str) -> str:
        """The outlines when the chart has become another one than `before`."""
        self.page.wait_for_function(
            f"""([selector, before]) => {{
                const host = document.querySelector(selector);
                const now = host === null ? "" : ({GEOMETRY})(host);
                return now !== "" && now !== before;
            }}""",
            arg=[css_class(f"{bench}.figure"), before],
        )
        return self.geometry(bench)

    def rest(self) -> None:
        """Wait until the script has run and nothing has been drawn for a quarter of a second.

        And until the page keeps its height: what is out of sight gets the height that stands for it
        (`content-visibility`) with the frame after the one that it came with, which a busy machine
        paints half a second later. A jump in between would not arrive where it went.
        """
        self.page.evaluate(
            """() => new Promise((resolve) => {
                const app = document.querySelector(".stApp");
                let timer;
                const restart = () => {
                    clearTimeout(timer);
                    timer = setTimeout(finish, 250);
                };
                const finish = () => {
                    if (app.dataset.testScriptState !== "notRunning") return restart();
                    observer.disconnect();
                    keepsHeight(0, 0);
                };
                const keepsHeight = (before, frames) => requestAnimationFrame(() => {
                    const height = app.querySelector('[data-testid="stMain"]')?.scrollHeight;
                    const kept = height === before ? frames + 1 : 0;
                    return kept === 3 ? resolve() : keepsHeight(height, kept);
                });
                const observer = new MutationObserver(restart);
                observer.observe(document.body, {subtree: true, childList: true, attributes: true});
                restart();
            })"""
        )


class Visitors:
    """Pages on a server that are opened again and again, each time by a new visitor.

    A page that has run the app's scripts opens it for 40% of the processor time. So each is kept
    for the next visit with the same context options; window and color scheme can be another's. No
    request is intercepted: the browser would forget its cache.
    """

    def __init__(self, browser: Browser, server: Server) -> None:
        self.browser, self.server = browser, server
        self._kept: dict[str, list[LessonPage]] = {}
        self._foreign: list[str] = []
        self._errors: list[str] = []

    @contextmanager
    def watched(self) -> Iterator[Callable[..., LessonPage]]:
        """`open_page(path, parameters, **context options)`: a new visitor on that page.

        At the end: AssertionError if a page asked another host for anything or logged an error, or
        if the server printed a traceback.
        """
        opened: dict[str, list[LessonPage]] = {}
        already = self.server.log.stat().st_size
        self._foreign.clear()
        self._errors.clear()

        def open_page(path: str = "", parameters: dict[str, str] | None = None, **options):
            options = {"locale": "en-US", "viewport": {"width": 1280, "height": 800}, **options}
            fixed = {name: options[name] for name in options.keys() - CHANGEABLE}
            view = json.dumps(fixed, sort_keys=True)
            visits = opened.setdefault(view, [])
            visits.append(lesson := self._page(view, options, len(visits)))
            query = f"?{urlencode(parameters)}" if parameters else ""
            lesson.page.goto(f"{self.server.url}/{path}{query}")
            lesson.page.locator("h1").wait_for()
            return lesson

        try:
            yield open_page
        finally:
            left = [
                lesson.page
                for lesson in chain.from_iterable(opened.values())
                if not lesson.page.is_closed()
            ]
            for page in left:
                page.unroute_all()
            errors = [*self._errors]  # what a page misses because it is left is none
            for page in left:
                page.goto("about:blank")
        with self.server.log.open("rb") as log:
            log.seek(already)
            printed = log.read().decode()
        assert not self._foreign, f"asked another host: {self._foreign}"
        assert not errors, f"errors in the browser: {errors}"
        assert "Traceback" not in printed, printed

    def _page(self, view: str, options: dict[str, Any], index: int) -> LessonPage:
        """The page of a test's first, second, ... visit with these options, as if it were new."""
        retained = self._kept.setdefault(view, [])
        if index >= len(retained) or retained[index].page.is_closed():
            context = retained[0].page.context if retained else self.browser.new_context(**options)
            if not retained:
                context.on("page", self._watch)
            retained[index:] = [LessonPage(context.new_page())]
        page = retained[index].page
        page.set_viewport_size(options["viewport"])
        scheme = options.get("color_scheme", "light")
        page.emulate_media(media="screen", color_scheme=scheme)
        page.bring_to_front()  # what lies behind another window is painted once a second
        if index == 0:
            line = page.context.new_cdp_session(page)
            what = {"origin": self.server.url, "storageTypes": "cookies,local_storage"}
            line.send("Storage.clearDataForOrigin", what)
            line.detach()
        page.context.set_default_timeout(PATIENCE)
        retained[index].sent = 0
        return retained[index]

    def _watch(self, page: Page) -> None:
        own = urlsplit(self.server.url).netloc

        def asked(url: str) -> None:
            parts = urlsplit(url)
            if parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != own:
                self._foreign.append(url)

        def console(message: ConsoleMessage) -> None:
            if message.type == "error":
                self._errors.append(f"{message.text} ({message.location['url']})")

        page.on("request", lambda request: asked(request.url))
        page.on("websocket", lambda socket: asked(socket.url))
        page.on("console", console)
        page.on("pageerror", lambda error: self._errors.append(str(error)))

    def close(self) -> None:
        """Every context of these visitors is closed."""
        for lesson in chain.from_iterable(self._kept.values()):
            lesson.page.context.close()


@contextmanager
def visitors(browser: Browser, server: Server) -> Iterator[Visitors]:
    """For several tests."""
    visitors = Visitors(browser, server)
    try:
        yield visitors
    finally:
        visitors.close()


@contextmanager
def watched(browser: Browser, server: Server) -> Iterator[Callable[..., LessonPage]]:
    """Visitors of one test; see `Visitors.watched`."""
    with visitors(browser, server) as created, created.watched() as open_page:
        yield open_page
