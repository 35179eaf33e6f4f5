"""Take the screenshots of a bench in the README: `python -m tools.readme_picture`.

They show the forget gate of a trained LSTM held at 1, in both themes.
`tests/browser/test_browser_readme.py` takes them again and compares (`apart`).
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from testing.chromium import chromium
from testing.server import serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
SCHEMES = ("light", "dark")
LINK = "/gates?ga.force.f=1&lang=en"
BENCH = ".st-key-bench-force"
COLORS = 64  # size of the file's palette; a chart has few colors
_SMALL = (128, 64)  # size for comparisons, at which text becomes gray


def path(scheme: str) -> Path:
    """Return the path of a screenshot in the README."""
    return ROOT / "docs" / f"picture-{scheme}.png"


def take(browser: Browser, url: str, scheme: str, link: str = LINK) -> Image.Image:
    """Return a screenshot of the linked bench once it is drawn and still.

    Args:
        browser: the browser.
        url: URL of the server.
        scheme: "light" or "dark".
        link: path, query and fragment of the page.
    """
    context = browser.new_context(
        color_scheme=scheme, locale="en-US", viewport={"width": 1280, "height": 1000},
        reduced_motion="reduce",
    )  # fmt: skip
    page = context.new_page()
    page.goto(url + link)
    bench = page.locator(BENCH)
    bench.wait_for(timeout=60_000)
    bench.scroll_into_view_if_needed()
    bench.locator(".main-svg").first.wait_for(timeout=60_000)
    page.locator(f"{BENCH} [data-testid=stMetric]").first.wait_for()
    page.wait_for_timeout(2_000)  # for fonts and transitions
    image = Image.open(io.BytesIO(bench.screenshot(animations="disabled"))).convert("RGB")
    context.close()
    return image


def apart(left: Image.Image, right: Image.Image) -> float:
    """Return the difference of two images.

    It is the mean color difference (0 to 255) at a small size, plus 255 times the absolute log
    ratio of the aspect ratios.
    """
    shapes = abs(np.log(left.width / left.height * right.height / right.width))
    small = [np.asarray(x.convert("RGB").resize(_SMALL, Image.Resampling.BOX), float)
             for x in (left, right)]  # fmt: skip
    return float(np.abs(small[0] - small[1]).mean() + 255 * shapes)


def main() -> None:
    """Take and write both screenshots."""
    with serve() as server, chromium() as browser:
        for scheme in SCHEMES:
            image = take(browser, server.url, scheme)
            few = image.quantize(COLORS, dither=Image.Dither.NONE)
            few.save(path(scheme), optimize=True)
            print(f"{path(scheme).name}: {path(scheme).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
