"""Texts that look like markup, and what a browser makes of them: for the tests of figures."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from PIL import Image

HOSTILE = ("<b>", "&", "%{x}", "</script>", "$x$", "שלום", "\n", "“é”", "&lt;", "{y}", "#000001")


def pixels(figure: Any) -> np.ndarray:
    """The picture of a figure, [row, column, red green blue alpha]."""
    (image,) = figure.layout.images
    written = image.source.removeprefix("data:image/png;base64,")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(written))).convert("RGBA"))


def plainly(text: str) -> str:
    """What Plotly shows of a label: the entities it decodes are letters again."""
    for name, letter in (("lt", "<"), ("gt", ">"), ("#123", "{"), ("amp", "&")):
        text = text.replace(f"&{name};", letter)
    return text
