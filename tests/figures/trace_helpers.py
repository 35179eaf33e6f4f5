"""What a test of a figure reads in it."""

from __future__ import annotations

import json
from typing import Any

from seqviz.plotting.figure import Figure


def trace(figure: Figure, name: str, axis: str | None = None) -> Any:
    """The trace with this name, of which there is one on this axis of x."""
    (result,) = [t for t in figure.data if t.name == name and axis in (None, t.xaxis or "x")]
    return result


def said(figure: Figure) -> list[str]:
    """The words that stand in the figure outside its axes."""
    return [note.text for note in figure.layout.annotations if note.text]


def bands(figure: Figure) -> list[Any]:
    return [item for item in figure.data if item.fill == "toself"]


def sound(figure: Figure) -> None:
    """Nothing in it, its words or its description that is no number; every axis has some length."""

    def refuse(token: str) -> None:
        raise AssertionError(f"{token} in a figure")

    layout = json.loads(figure.to_json(), parse_constant=refuse)["layout"]
    assert figure.alt
    assert not [text for text in (figure.alt, *said(figure)) if "nan" in text]
    for key, axis in layout.items():
        if key[1:5] == "axis" and "range" in axis:
            assert axis["range"][0] != axis["range"][1], key
