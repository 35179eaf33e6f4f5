"""The one Chromium, and what there is to wait for and to look at on a page in it."""

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
    "--no-sandbox",  # a container's root may not make one, and only our own pages are opened
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No network, and one name for this machine that is no secure context, as an address of it is.
    "--host-resolver-rules=MAP classroom.test 127.0.0.1 , MAP * ~NOTFOUND , "
    "EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)
_here = threading.local()  # its `browser` is the open one
NO_PLAYWRIGHT = (
    "No Playwright: `pip install -r requirements-dev.txt`, then `apt-get install chromium`."
)
HOW_TO_GET = "No Chromium: `apt-get install chromium` or `python -m playwright install chromium`."

# What a chart shows, as one string: outline and place of its marks (Plotly, Vega as SVG).
MARKS = "svg.main-svg .mlayer :is(path, image), svg.marks path"
GEOMETRY = f"""(host) => [...host.querySelectorAll("{MARKS}")].map((mark) =>
  ["d", "href", "transform"].map((name) => mark.getAttribute(name) ?? "").join(" ")).join("\\n")"""

# Ask for all of a page at once, as for printing; whether it is there.
WHOLE = """() => {
    window.dispatchEvent(new Event("beforeprint"));
    return document.querySelector(".stApp").dataset.testScriptState === "notRunning"
        && document.querySelector('[class*="st-key-"][class*="-placeholder"]') === null;
}"""


# Keeps the moment (milliseconds since the epoch) at which an element had been painted; PATH: its
# selector, after those of the elements in whose shadow it lies.
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
    """There is no Chromium on this machine, or no Playwright; the message says how to get it."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Playwright's own Chromium where it is installed, else the system's, headless.

    Where one is open in this thread already it is that one: a thread can have but one. So close the
    contexts that you make. Raises NoChromium where there is neither, or no Playwright.
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
    """Wait until the benches out of sight are drawn as well; patience: in milliseconds."""
    page.wait_for_function(WHOLE, polling=100, timeout=patience)


def watched(context: BrowserContext, *path: str) -> Page:
    """A new page whose `window.painted` is the moment at which an element was painted.

    path: its selector, after those of the elements in whose shadow it lies.
    """
    context.add_init_script(PAINT_PROBE.replace("PATH", json.dumps(path)))
    return context.new_page()


def css_class(key: str) -> str:
    """The CSS selector of the element that Streamlit gives this key."""
    return ".st-key-" + key.replace(".", "-")


def slider_input(key: str) -> str:
    """The selector of a slider's input, by the parameter that it sets."""
    return f"{css_class(key + '.slider')} input[type=range]"


def _executable(playwright: Playwright) -> str | None:
    """The path of a system Chromium, None where Playwright has its own."""
    if Path(playwright.chromium.executable_path).exists():
        return None
    for name in NAMES:
        result = shutil.which(name)
        if result is not None:
            return result
    raise NoChromiumError(HOW_TO_GET)
