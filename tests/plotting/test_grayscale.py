"""Figures for a printer without colors: all of them, and nothing is told by color alone."""

from __future__ import annotations

import json
import re

import pytest

from seqviz.plotting.figure import Figure
from seqviz.plotting.grayscale import SIGNED, grayscale, lightness
from seqviz.plotting.style import LIVE, Style
from testing.figure_examples import examples

NUMBERS = {"x", "y", "z", "customdata"}
HEX = re.compile(r"#([0-9a-fA-F]{6})\b")


@pytest.mark.parametrize("example", examples(), ids=lambda item: item.name)
def test_grayscale_removes_color_and_keeps_lines_distinct(example):
    rendered = example.figure(style=Style(LIVE))
    if not isinstance(rendered, Figure):
        return  # Vega's: its page takes the color out
    before = rendered.to_json()
    gray = grayscale(rendered)
    assert rendered.to_json() == before
    page = {key: value for key, value in gray.page.items() if key != "images"}
    traces = [{key: trace[key] for key in trace.keys() - NUMBERS} for trace in gray.traces]
    for color in HEX.findall(json.dumps([page, traces])):
        assert color[:2] == color[2:4] == color[4:], color
    view: dict[str, str] = {}
    for old, new in zip(rendered.traces, gray.traces, strict=True):
        if "lines" in str(old.get("mode", "")) and isinstance(new["line"].get("dash"), str):
            color = str(old.get("line", {}).get("color"))
            assert view.setdefault(new["line"]["dash"], color) == color
    gray.plotly()  # it is still a figure of Plotly's


def test_grayscale_keeps_signed_colorscale_distinct():
    signed = [[0, "rgba(43,108,196,1)"], [0.5, "rgba(43,108,196,0)"], [1, "rgba(214,104,20,1)"]]
    plain = [[0, "#00224e"], [0.5, "#7c7b78"], [1, "#fee838"]]
    figure = Figure([{"type": "heatmap", "colorscale": scale} for scale in (signed, plain)], {})
    first, second = grayscale(figure).traces
    assert first["colorscale"] == SIGNED
    lights = [lightness(color) for _, color in second["colorscale"]]
    assert lights == sorted(lights)
    assert lights[-1] - lights[0] > 150
