"""Grayscale figures for print, with dashes, markers and patterns for colors: `grayscale`.

A gray has the lightness of its color. Lines of different colors with the same dash get different
dashes, points different markers, bars different patterns. A diverging scale whose two ends would be
the same gray goes from black over gray to white.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

from seqviz.plotting.figure import Figure, read
from seqviz.plotting.style import LIGHT, LIVE

DASHES = (
    "solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "2px,2px", "12px,3px",
    "1px,6px", "10px,2px,2px,2px,2px,2px",
)  # fmt: skip
MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star")
PATTERNS = ("", "/", "x", ".", "-", "\\", "|", "+")
SIGNED = [[0, "#000000"], [0.5, "#969696"], [1, "#ffffff"]]
_COLOR = re.compile(r"#[0-9a-fA-F]{6}\b|rgba?\([^)]*\)")
_APART = 40  # of 255; a diverging scale has a middle this much lighter than both ends
_ROLES = dict(zip(LIVE.colors(), LIGHT.colors(), strict=True))


def grayscale(figure: Figure) -> Figure:
    """Return a copy of the figure in grays on white.

    Example:
        >>> red = Figure([{"type": "bar", "marker": {"color": "#ff0000"}}], {})
        >>> grayscale(red).traces[0].get("marker")
        {'color': '#363636', 'pattern': {'shape': '', 'fgcolor': '#000000', 'bgcolor': '#363636'}}
    """
    full = read(figure.to_json())
    traces: list[Any] = full.traces
    _told_apart(traces)
    page = {**full.page, "paper_bgcolor": "#ffffff", "plot_bgcolor": "#ffffff"}
    return Figure([_gray(trace) for trace in traces], _gray(page))


def lightness(color: str) -> int:
    """Return the luma of a CSS color on white, 0 to 255.

    >>> lightness("#ffffff"), lightness("rgba(0,0,0,0.5)")
    (255, 128)
    """
    color, strength = _ROLES.get(color, color), 1.0
    red: float
    green: float
    blue: float
    if color.startswith("#"):
        red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    else:
        red, green, blue, *more = (float(part) for part in re.findall(r"[\d.]+", color))
        strength = more[0] if more else 1.0
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return round(light * strength + 255 * (1 - strength))


def _grayed(color: str) -> str:
    parts = re.findall(r"[\d.]+", color)
    if color.startswith("rgba") and float(parts[3]) == 0:
        return color  # transparent
    return "#" + f"{lightness(color):02x}" * 3


def _gray(part: Any, name: str = "") -> Any:
    """Return a specification with all its colors in grays."""
    match part:
        case Mapping():
            return {key: _gray(value, key) for key, value in part.items()}
        case list() if name == "colorscale":
            return _scale(part)
        case list():
            return [_gray(value) for value in part]
        case str() if name not in ("bdata", "source"):  # base64 arrays and images
            return _COLOR.sub(lambda result: _grayed(result[0]), part)
    return part


def _scale(stops: list[list[Any]]) -> list[list[Any]]:
    lights = [lightness(color) for _, color in stops]
    middle = lights[len(lights) // 2]
    if len(stops) > 2 and middle - _APART > max(lights[0], lights[-1]):
        return SIGNED
    return [[stop, _grayed(color)] for stop, color in stops]


def _told_apart(traces: list[dict[str, Any]]) -> None:
    """Give lines, points and bars of different colors different dashes, markers and patterns."""
    lines = [trace for trace in traces if "lines" in str(trace.get("mode", ""))]
    points = [trace for trace in traces if trace.get("mode") == "markers"]
    bars = [trace for trace in traces if trace.get("type") == "bar"]
    _each_its_own(lines, "line", "dash", DASHES)
    _each_its_own(points, "marker", "symbol", MARKERS)
    colors = list(dict.fromkeys(str(_inner(bar, "marker").get("color")) for bar in bars))
    for item in bars:
        marker = _inner(item, "marker")
        if isinstance(color := marker.get("color"), str):
            shape = PATTERNS[colors.index(color) % len(PATTERNS)]
            marker["pattern"] = {"shape": shape, "fgcolor": "#000000", "bgcolor": color}


def _each_its_own(
    traces: list[dict[str, Any]], part: str, name: str, signs: tuple[str, ...]
) -> None:
    """Assign a sign to each pair of color and sign, a new one where another color has it."""
    styles = [(str(inner.get("color")), str(inner.get(name, signs[0]))) for inner in
             (_inner(trace, part) for trace in traces)]  # fmt: skip
    chosen: dict[tuple[str, str], str] = {}
    free = [sign for sign in signs if sign not in {sign for _, sign in styles}]
    for style in dict.fromkeys(styles):
        taken = style[1] in chosen.values()
        chosen[style] = free.pop(0) if taken and free else style[1]
    for item, style in zip(traces, styles, strict=True):
        if isinstance(_inner(item, part).get(name, ""), str):
            _inner(item, part)[name] = chosen[style]


def _inner(trace: MutableMapping[str, Any], part: str) -> dict[str, Any]:
    result: dict[str, Any] = trace.setdefault(part, {})
    return result
