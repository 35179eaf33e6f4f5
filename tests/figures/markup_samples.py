"""Texts that look like markup, and what a browser makes of them: for the tests of figures."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from PIL import Image

HOSTILE = ("<b>", "&", "%{x}", "</script>", "$x$", "שלום", "\n", "“é”", "&lt;", "{y}", "#000001")


def unpacked(source: str) -> np.ndarray:
    """A picture as it stands in a page, [row, column, red green blue alpha]."""
    kind, _, written = source.partition(",")
    assert kind == "data:image/png;base64"
    data = base64.b64decode(written, validate=True)
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))


def plainly(text: str) -> str:
    """What Plotly shows of a label: the entities it decodes are letters again."""
    for name, letter in (("lt", "<"), ("gt", ">"), ("#123", "{"), ("amp", "&")):
        text = text.replace(f"&{name};", letter)
    return text


def box(shape: Any) -> tuple[float, ...]:
    """Where a rectangle stands: left, right, top and bottom."""
    return shape.x0, shape.x1, shape.y0, shape.y1
