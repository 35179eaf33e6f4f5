"""The line fitted by hand: the error that the browser computes is the mean squared error."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from drawn import PATH

from seqviz.compute import autoregression as ar
from seqviz.figures.autoregression.by_hand import POINTS, fit_by_hand
from seqviz.figures.grammar.style import DARK, LIGHT, LIVE, ROLES, Style
from seqviz.figures.grammar.table import table
from seqviz.text import LANGUAGES, Text, number

SLOPES = (-1.2, -0.5, 0.0, 0.3, 0.47, 0.8, 1.2)


def mse(values: np.ndarray, slope: float) -> float:
    return float(np.mean((values[1:] - slope * values[:-1]) ** 2))


def spec(values=PATH.values, style: Style | None = None) -> dict:
    return fit_by_hand(values, style or Style()).to_dict()


def layer(chart: dict, mark: str) -> dict:
    (found,) = (part for part in chart["layer"] if part["mark"]["type"] == mark)
    return found


def data(chart: dict, part: dict) -> list[dict]:
    return chart["datasets"][part["data"]["name"]]


def words(chart: dict) -> str:
    """The expression of the read-out: `[total, what it means]`."""
    (step,) = (t for t in layer(chart, "text")["transform"] if t.get("as") == "words")
    return step["calculate"]


def formatted(expression: str, slope: float) -> list[float]:
    """Every number that the expression formats, computed for a slope."""
    found = re.findall(r"format\((.+?), '\.3f'\)", expression)
    # Vega's arithmetic on numbers is Python's; nothing but numbers and the slope is in there.
    assert all(re.fullmatch(r"[-+*() .\de]*(?:slope[-+*() .\de]*)*", part) for part in found), found
    return [float(eval(part, {"__builtins__": {}}, {"slope": slope})) for part in found]


def test_the_slope_is_a_parameter_with_a_slider():
    (param,) = spec()["params"]
    assert param["name"] == "slope"
    assert param["bind"]["input"] == "range"
    assert (param["bind"]["min"], param["bind"]["max"]) == (-1.2, 1.2)
    assert param["bind"]["step"] == 0.01
    assert -1.2 <= param["value"] <= 1.2


@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize(
    "values",
    [PATH.values, ar.simulate((0.95,), 3.0, n=1000, seed=9).values, PATH.values[:40] + 7.0],
    ids=["AR(2)", "long", "not centered"],
)
def test_the_browser_computes_the_mean_squared_error(values, slope):
    """Of all pairs, drawn or not: the parabola is exact, so only rounding may differ."""
    total, *rest = formatted(words(spec(values)), slope)
    assert total == pytest.approx(mse(values, slope), rel=1e-10)
    best = float(values[1:] @ values[:-1] / (values[:-1] @ values[:-1]))
    least, above = rest
    assert least == pytest.approx(best, rel=1e-12)
    assert above == pytest.approx(mse(values, slope) - mse(values, best), rel=1e-6, abs=1e-9)


def test_the_least_error_is_found_by_a_step_of_the_slider():
    """Some stop of the slider says "you found it": its step is not wider than the goal."""
    for seed in range(5):
        values = ar.simulate((0.6,), n=100, seed=seed).values
        expression = words(spec(values))
        (best,) = re.findall(r"abs\(slope - \((.+?)\)\)", expression)
        (width,) = re.findall(r"< ([\d.]+) \?", expression)
        stops = np.arange(-120, 121) / 100
        near = stops[np.abs(stops - float(best)) < float(width)]
        assert 1 <= len(near) <= 2


def test_a_slope_beyond_the_slider_is_not_promised():
    """An explosive or short series can have its best slope outside: then nobody can find it."""
    values = ar.simulate((1.2,), n=60, seed=1).values
    (param,) = spec(values)["params"]
    best = float(values[1:] @ values[:-1] / (values[:-1] @ values[:-1]))
    assert best <= param["bind"]["max"] + 0.006


def test_pairs_are_those_of_the_series():
    chart = spec()
    points = data(chart, layer(chart, "circle"))
    assert [p["before"] for p in points] == PATH.values[:-1].tolist()
    assert [p["now"] for p in points] == PATH.values[1:].tolist()
    assert data(chart, layer(chart, "rule")) == points


def test_many_pairs_are_thinned_evenly_but_counted_all():
    values = ar.simulate((0.5,), n=5000, seed=1).values
    chart = spec(values)
    points = data(chart, layer(chart, "circle"))
    assert len(points) == POINTS
    pairs = set(zip(values[:-1].tolist(), values[1:].tolist(), strict=True))
    assert {(p["before"], p["now"]) for p in points} <= pairs
    total, *_ = formatted(words(chart), 0.1)
    assert total == pytest.approx(mse(values, 0.1), rel=1e-10)


def test_the_line_goes_through_the_origin_from_end_to_end():
    chart = spec()
    line = layer(chart, "line")
    (step,) = (t for t in line["transform"] if t.get("as") == "now")
    assert step["calculate"] == "slope * datum.before"
    ends = [row["before"] for row in data(chart, line)]
    assert ends == [PATH.values[:-1].min(), PATH.values[:-1].max()]
    rule = layer(chart, "rule")
    assert {t["as"]: t["calculate"] for t in rule["transform"]}["line"] == "slope * datum.before"
    assert rule["encoding"]["y2"]["field"] == "line"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_words(lang):
    chart = spec(style=Style(lang=lang))
    text = Text(lang)
    for part in chart["layer"]:
        assert part["encoding"]["x"]["title"] == text("figure.before_plain")
        assert part["encoding"]["y"]["title"] == text("figure.now_plain")
    assert text("figure.your_slope") in chart["params"][0]["bind"]["name"]
    assert text("figure.your_error") in words(chart)
    assert words(chart).count("'") % 2 == 0
    best = float(PATH.values[1:] @ PATH.values[:-1] / (PATH.values[:-1] @ PATH.values[:-1]))
    assert chart["description"] == text(
        "alt.by_hand", best=number(best), floor=number(mse(PATH.values, best)), n=199
    )
    assert not re.search(r"{\w*}", json.dumps(chart["layer"]))


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_colors_of_a_file(palette):
    chart = spec(style=Style(palette))
    assert layer(chart, "circle")["encoding"]["color"] == {"value": palette.truth}
    assert layer(chart, "line")["encoding"]["color"] == {"value": palette.prediction}
    assert layer(chart, "rule")["encoding"]["color"] == {"value": palette.baseline}
    assert chart["config"]["axis"]["gridColor"] == palette.grid


def test_colors_on_a_page_name_their_role():
    """Streamlit gives Vega the theme's ten colors as a range: the domain has their order."""
    chart = spec(style=Style(LIVE))
    for mark, role in (("circle", "truth"), ("line", "prediction"), ("rule", "baseline")):
        part = layer(chart, mark)
        assert part["encoding"]["color"]["scale"]["domain"] == list(ROLES)
        assert {"calculate": f"'{role}'", "as": "role"} in part["transform"]
    assert "#0000" not in json.dumps(chart["layer"])


def test_table_lists_the_pairs():
    frame = table(fit_by_hand(PATH.values))
    numbers = frame.select_dtypes("number").to_numpy()
    listed = {tuple(row) for row in numbers[:, :2].tolist()}
    assert set(zip(PATH.values[:-1].tolist(), PATH.values[1:].tolist(), strict=True)) <= listed


def test_vega_itself_shows_the_error():
    """Vega-Lite compiles the chart and paints the read-out of a slope."""
    vega = pytest.importorskip("vl_convert")
    chart = spec()
    chart["params"][0]["value"] = 0.25
    chart["width"] = 500
    painted = vega.vegalite_to_svg(chart)
    assert f"{mse(PATH.values, 0.25):.3f}" in painted
