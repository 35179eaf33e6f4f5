"""What tests ask of any figure: that a browser can read it, and which words stand on it."""

from __future__ import annotations

import json


def refuse(token: str):
    raise AssertionError(f"{token} in a figure")


def sound(figure) -> None:
    """A browser can read it: JSON knows neither NaN nor Infinity."""
    json.loads(figure.to_json(), parse_constant=refuse)
    assert figure.alt
    assert "nan" not in figure.alt


def labels(figure) -> list[str]:
    return [note.text for note in figure.layout.annotations if note.text]
