"""A page of the app as a visitor sees it."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

from benchmarks.browser import GEOMETRY, css_class


class LessonPage:
    """What the tests look at and touch; `page` is Playwright's own."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.locator("h1").wait_for()

    def titled(self, title: str) -> None:
        """Wait until the page has this title."""
        self.page.get_by_role("heading", level=1, name=title, exact=True).wait_for()

    def by_key(self, key: str) -> Locator:
        """The element of a widget or container."""
        return self.page.locator(css_class(key))

    def figure(self, bench: str) -> Locator:
        """The container of a bench's chart; `bench` is its prefix, such as `ar.process`."""
        return self.by_key(f"{bench}.figure")

    def geometry(self, bench: str) -> str:
        """The outlines of the chart's marks, once there are any."""
        figure = self.figure(bench)
        figure.locator("svg.main-svg, svg.marks").first.wait_for()
        return figure.evaluate(GEOMETRY)

    def changed(self, bench: str, before: str) -> str:
        """The outlines as soon as they are others than `before`."""
        self.page.wait_for_function(
            f"""([selector, before]) => {{
                const host = document.querySelector(selector);
                const now = host && ({GEOMETRY})(host);
                return now && now !== before;
            }}""",
            arg=[css_class(f"{bench}.figure"), before],
        )
        return self.settled(bench)

    def settled(self, bench: str) -> str:
        """The outlines when the server has nothing more to send."""
        self.idle()
        return self.geometry(bench)

    def idle(self) -> None:
        """Wait until the script has run and nothing has been drawn for a quarter of a second."""
        self.page.evaluate(
            """() => new Promise((resolve) => {
                const app = document.querySelector(".stApp");
                let timer;
                const restart = () => {
                    clearTimeout(timer);
                    timer = setTimeout(() => {
                        if (app.dataset.testScriptState === "notRunning") {
                            observer.disconnect();
                            resolve();
                        } else restart();
                    }, 250);
                };
                const observer = new MutationObserver(restart);
                observer.observe(document.body, {subtree: true, childList: true, attributes: true});
                restart();
            })"""
        )
