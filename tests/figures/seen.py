"""What a test of a figure reads in it."""

from __future__ import annotations

import json
from typing import Any

from seqviz.figures.grammar.figure import Figure


def trace(figure: Figure, name: str) -> Any:
    """The trace with this name, of which there is one."""
    (found,) = [t for t in figure.data if t.name == name]
    return found


def said(figure: Figure) -> list[str]:
    """The words that stand in the figure outside its axes."""
    return [annotation.text for annotation in figure.layout.annotations]


def sound(figure: Figure) -> None:
    """Nothing in it, nor in its description, that is no number; every axis has some length."""

    def refuse(token: str) -> None:
        raise AssertionError(f"{token} in a figure")

    layout = json.loads(figure.to_json(), parse_constant=refuse)["layout"]
    assert "nan" not in figure.alt
    for key, axis in layout.items():
        if key[1:5] == "axis" and "range" in axis:
            assert axis["range"][0] != axis["range"][1], key
