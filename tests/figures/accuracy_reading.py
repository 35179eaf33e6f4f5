"""How the tests of the figures about accuracy look at one: its traces by name, its words."""

from __future__ import annotations

import json


def refuse(token: str):
    raise AssertionError(f"{token} in a figure")


def sound(figure) -> None:
    """A browser can read it: JSON knows neither NaN nor Infinity; and the words know no nan."""
    json.loads(figure.to_json(), parse_constant=refuse)
    assert "nan" not in figure.alt
    assert not [text for text in notes(figure) if "nan" in text]


def named(figure, name: str, axis: str | None = None):
    (found,) = [t for t in figure.data if t.name == name and axis in (None, t.xaxis or "x")]
    return found


def bands(figure) -> list:
    return [trace for trace in figure.data if trace.fill == "toself"]


def notes(figure) -> list[str]:
    return [mark.text for mark in figure.layout.annotations]
