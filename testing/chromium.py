"""Shared Chromium instance, and helpers to wait for and inspect pages: `chromium`."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",  # root in a container cannot create a sandbox; only our own pages are opened
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No network, and a host name for this machine that is no secure context, unlike 127.0.0.1.
    "--host-resolver-rules=MAP classroom.test 127.0.0.1 , MAP * ~NOTFOUND , "
    "EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)
_here = threading.local()  # `browser`: the open browser of the thread
NO_PLAYWRIGHT = (
    "No Playwright: `pip install -r requirements-dev.txt`, then `apt-get install chromium`."
)
HOW_TO_GET = "No Chromium: `apt-get install chromium` or `python -m playwright install chromium`."

# Outlines and positions of a chart's marks (Plotly, Vega as SVG) as one string.
MARKS = "svg.main-svg .mlayer :is(path, image), svg.marks path"
GEOMETRY = f"""(host) => [...host.querySelectorAll("{MARKS}")].map((mark) =>
  ["d", "href", "transform"].map((name) => mark.getAttribute(name) ?? "").join(" ")).join("\\n")"""

# Requests all benches, as printing does; true once they are drawn.
WHOLE = """() => {
    window.dispatchEvent(new Event("beforeprint"));
    return document.querySelector(".stApp").dataset.testScriptState === "notRunning"
        && document.querySelector('[class*="st-key-"][class*="-placeholder"]') === null;
}"""

# Records the time (milliseconds since the epoch) at which an element had been painted. PATH: CSS
# selectors of the enclosing shadow hosts, then that of the element.
PAINT_PROBE = """
window.painted = new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error("nothing was painted")), 120_000);
  const seen = (root, [selector, ...inner]) =>
    [...root.querySelectorAll(selector)].some((one) => {
      if (inner.length) return seen(one.shadowRoot ?? one, inner);
      const {width, height} = one.getBoundingClientRect();
      return width + height > 0 && one.checkVisibility({visibilityProperty: true});
    });
  const look = () => {
    if (!seen(document, PATH)) return requestAnimationFrame(look);
    requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
  };
  requestAnimationFrame(look);
});
"""


class NoChromiumError(RuntimeError):
    """Error for a missing Chromium or Playwright; the message says how to install it."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a headless browser: Playwright's Chromium where installed, else the system's.

    A thread can have only one, so nested calls yield the open browser, and callers must close their
    contexts.

    Raises:
        NoChromiumError: Chromium or Playwright is missing.
    """
    if getattr(_here, "browser", None):
        yield _here.browser
        return
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise NoChromiumError(NO_PLAYWRIGHT) from error
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_executable(playwright), args=FLAGS)
        _here.browser = browser
        try:
            yield browser
        finally:
            _here.browser = None
            browser.close()


def draw_whole(page: Page, patience: float = 60_000) -> None:
    """Wait until all benches are drawn, those outside the viewport included.

    Args:
        page: page with a lesson.
        patience: timeout in milliseconds.
    """
    page.wait_for_function(WHOLE, polling=100, timeout=patience)


def watched(context: BrowserContext, *path: str) -> Page:
    """Return a new page that records the time at which an element was painted.

    Its `window.painted` is a promise of that time.

    Args:
        context: browser context of the page.
        *path: CSS selectors of the enclosing shadow hosts, then that of the element.
    """
    context.add_init_script(PAINT_PROBE.replace("PATH", json.dumps(path)))
    return context.new_page()


def css_class(key: str) -> str:
    """Return the CSS selector of the element with this Streamlit key."""
    return ".st-key-" + key.replace(".", "-")


def slider_input(key: str) -> str:
    """Return the CSS selector of a slider's input by its parameter."""
    return f"{css_class(key + '.slider')} input[type=range]"


def _executable(playwright: Playwright) -> str | None:
    """Return the path of a system Chromium; None where Playwright has its own."""
    if Path(playwright.chromium.executable_path).exists():
        return None
    for name in NAMES:
        result = shutil.which(name)
        if result is not None:
            return result
    raise NoChromiumError(HOW_TO_GET)
