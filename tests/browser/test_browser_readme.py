"""README's picture is what the app looks like (`python -m tools.readme_picture` takes it anew)."""

from __future__ import annotations

import pytest
from PIL import Image

from tools import readme_picture as picture

# Measured in November 2026 (`apart`): the same page again 0.00, against the file with its few
# colors and another time on its badge 0.06 to 0.08; the same bench in Chinese 3.4, with another
# cell 41.5, in the other theme 216.
TOLERANCE = 1.0
MOST_BYTES = 100_000


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", picture.SCHEMES)
def test_readme_picture_matches_app(browser, server, scheme):
    retained = Image.open(picture.path(scheme))
    assert picture.apart(retained, picture.take(browser, server.url, scheme)) < TOLERANCE


@pytest.mark.nightly
def test_readme_picture_comparison_detects_other_page(browser, server):
    other = picture.take(browser, server.url, "light", picture.LINK.replace("lang=en", "lang=zh"))
    assert picture.apart(Image.open(picture.path("light")), other) > 2 * TOLERANCE
