"""Drawings of a teacher on a figure, for all pages of a class: strokes of bounded length."""

from __future__ import annotations

import re
from typing import Any

MAX_STROKES, MAX_NUMBERS = 40, 800  # of a drawing; two numbers are a point
LOWEST, HIGHEST = -1000, 2000  # per mille of a panel: a stroke may leave it
_PANEL = re.compile(r"(x\d{0,2}y\d{0,2})?")


def parse_strokes(payload: object) -> list[dict[str, Any]]:
    """Return the strokes of a drawing as a browser sends them.

    Args:
        payload: [{"panel", "points"}]; panel: of the figure as Plotly names it, "" for the whole
            figure; points: x, y, x, y, ... in per mille of the panel, from its upper left corner.

    Raises:
        ValueError: for anything else, or a drawing that is too large.
    """
    if not isinstance(payload, list) or len(payload) > MAX_STROKES:
        raise ValueError("strokes")
    strokes = [_parse_stroke(item) for item in payload]
    if sum(len(stroke["points"]) for stroke in strokes) > MAX_NUMBERS:
        raise ValueError("strokes")
    return strokes


def _parse_stroke(payload: object) -> dict[str, Any]:
    match payload:
        case {"panel": str(panel), "points": list(points)} if _PANEL.fullmatch(panel):
            is_even = points and len(points) % 2 == 0
            if is_even and all(type(n) is int and LOWEST <= n <= HIGHEST for n in points):
                return {"panel": panel, "points": points}
    raise ValueError("stroke")
