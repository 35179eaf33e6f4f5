"""The sinusoidal encoding as the browser draws it, on whatever page it stands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from playwright.sync_api import expect

COLUMN = """(table) => [...table.querySelectorAll("td")].map((cell) => +cell.dataset.value)"""


class Sinusoid:
    """values: of all controls when the page opens."""

    values: ClassVar[Mapping[str, Any]]

    def __init__(self, lesson) -> None:
        self.lesson, self.page = lesson, lesson.page
        self.host = self.page.locator(".seqviz-sinusoid")
        self.canvas = self.host.locator("canvas")
        self.host.locator("canvas[data-drawn]").wait_for()

    def shows(self, **values) -> None:
        """Wait until the picture is drawn with these values."""
        expected = json.dumps(list((self.values | values).values()), separators=(",", ":"))
        expect(self.canvas).to_have_attribute("data-drawn", expected.replace(".0,", ","))

    def column(self) -> np.ndarray:
        """The encoding of the chosen position, as it is told to screen readers."""
        table = self.host.locator("table")
        rendered = self.canvas.get_attribute("data-drawn")
        expect(table).to_have_attribute("data-settings", rendered)
        return np.array(table.evaluate(COLUMN))
