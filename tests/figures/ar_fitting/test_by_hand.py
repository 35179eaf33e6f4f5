"""The line fitted by hand: the error that the browser computes is the mean squared error."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from seqviz.compute import ar_fitting as ar
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.figures.ar_fitting.by_hand import POINTS, fit_by_hand
from seqviz.plotting.style import LIVE, ROLES, Style
from seqviz.plotting.table import table
from tests.figures.sample_series import PATH


def mse(values: np.ndarray, slope: float) -> float:
    return float(np.mean((values[1:] - slope * values[:-1]) ** 2))


def best(values: np.ndarray) -> float:
    """The slope with the least error."""
    return float(values[1:] @ values[:-1] / (values[:-1] @ values[:-1]))


def spec(values=PATH.values, style: Style | None = None) -> dict:
    return fit_by_hand(values, style or Style()).to_dict()


def layer(chart: dict, mark: str) -> dict:
    (result,) = (part for part in chart["layer"] if part["mark"]["type"] == mark)
    return result


def data(chart: dict, mark: str) -> list[dict]:
    return chart["datasets"][layer(chart, mark)["data"]["name"]]


def calculated(chart: dict, mark: str, name: str) -> str:
    (step,) = (t for t in layer(chart, mark)["transform"] if t.get("as") == name)
    return step["calculate"]


def words(chart: dict) -> str:
    """The expression of the read-out: `[total, what it means]`."""
    return calculated(chart, "text", "words")


def formatted(expression: str, slope: float) -> list[float]:
    """Every number that the expression formats, computed for a slope."""
    result = re.findall(r"format\((.+?), '\.3g'\)", expression)
    # Vega's arithmetic on numbers is Python's; nothing but numbers and the slope is in there.
    assert all(re.fullmatch(r"[-+*() .\de]*(?:slope[-+*() .\de]*)*", part) for part in result), (
        result
    )
    return [float(eval(part, {"__builtins__": {}}, {"slope": slope})) for part in result]


def test_fit_by_hand_binds_slope_to_slider():
    (param,) = spec()["params"]
    bound = {"input": "range", "min": -1.2, "max": 1.2, "step": 0.01}
    assert param["name"] == "slope"
    assert bound.items() <= param["bind"].items()
    assert -1.2 <= param["value"] <= 1.2


@pytest.mark.parametrize(
    "values",
    [PATH.values, ar.simulate((0.95,), 3.0, n=5000, seed=9).values, PATH.values[:40] + 7.0],
    ids=["AR(2)", "long", "not centered"],
)
def test_fit_by_hand_readout_computes_mse(values):
    """Of all pairs, drawn or not: the parabola is exact, so only rounding may differ."""
    chart = spec(values)
    for slope in (-1.2, -0.5, 0.0, 0.3, 0.47, 1.2):
        total, minimum, above = formatted(words(chart), slope)
        assert total == pytest.approx(mse(values, slope), rel=1e-10)
        assert minimum == pytest.approx(best(values), rel=1e-12)
        expected = mse(values, slope) - mse(values, best(values))
        assert above == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_fit_by_hand_minimum_is_reachable_by_slider_step():
    """Some stop of the slider says "you found it": its step is not wider than the goal."""
    for seed in range(5):
        expression = words(spec(ar.simulate((0.6,), n=100, seed=seed).values))
        (minimum,) = re.findall(r"abs\(slope - \((.+?)\)\)", expression)
        (width,) = re.findall(r"< ([\d.]+) \?", expression)
        stops = np.arange(-120, 121) / 100
        assert 1 <= (np.abs(stops - float(minimum)) < float(width)).sum() <= 2


def test_fit_by_hand_draws_series_pairs_and_lists_them_in_table():
    points, pairs = data(spec(), "circle"), [*zip(PATH.values[:-1], PATH.values[1:], strict=True)]
    assert [(p["before"], p["now"]) for p in points] == pairs
    assert data(spec(), "rule") == points
    numbers = table(fit_by_hand(PATH.values)).select_dtypes("number").to_numpy()
    assert set(pairs) <= {tuple(row) for row in numbers[:, :2].tolist()}


def test_fit_by_hand_thins_many_pairs_evenly():
    values = ar.simulate((0.5,), n=5000, seed=1).values
    points = data(spec(values), "circle")
    assert len(points) == POINTS
    indices = [values[:-1].tolist().index(p["before"]) for p in points]
    assert (indices[0], indices[-1]) == (0, 4998)
    assert set(np.diff(indices)) == {12, 13}
    assert [p["now"] for p in points] == [values[position + 1] for position in indices]


def test_fit_by_hand_line_spans_data_through_origin():
    chart = spec()
    assert calculated(chart, "line", "now") == "slope * datum.before"
    ends = [row["before"] for row in data(chart, "line")]
    assert ends == [PATH.values[:-1].min(), PATH.values[:-1].max()]
    assert calculated(chart, "rule", "line") == "slope * datum.before"
    assert layer(chart, "rule")["encoding"]["y2"]["field"] == "line"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_fit_by_hand_translates_labels_and_description(lang):
    chart, text = spec(style=Style(lang=lang)), Text(lang)
    for part in chart["layer"]:
        assert part["encoding"]["x"]["title"] == text("figure.before_plain")
        assert part["encoding"]["y"]["title"] == text("figure.now_plain")
    assert text("figure.your_slope") in chart["params"][0]["bind"]["name"]
    assert text("figure.your_error") in words(chart)
    assert words(chart).count("'") % 2 == 0
    minimum = best(PATH.values)
    assert chart["description"] == text(
        "alt.by_hand", best=minimum, floor=mse(PATH.values, minimum), n=199
    )


def test_fit_by_hand_live_colors_use_role_scale():
    """Streamlit gives Vega the theme's ten colors as a range: the domain has their order."""
    chart = spec(style=Style(LIVE))
    for mark, role in (("circle", "truth"), ("line", "prediction"), ("rule", "baseline")):
        assert layer(chart, mark)["encoding"]["color"]["scale"]["domain"] == list(ROLES)
        assert calculated(chart, mark, "role") == f"'{role}'"
    assert "#0000" not in json.dumps(chart["layer"])


def test_fit_by_hand_renders_error_with_vega():
    """Vega-Lite compiles the chart and paints the read-out of a slope."""
    vega = pytest.importorskip("vl_convert")
    chart = spec()
    chart["params"][0]["value"] = 0.25
    chart["width"] = 500
    assert f"{mse(PATH.values, 0.25):#.3g}" in vega.vegalite_to_svg(chart)


def test_fit_by_hand_places_readout_above_points():
    """Also where the points fall from the left: the top of the axis is that of the words."""
    falling = ar.simulate((-0.8,), n=500, seed=1).values
    chart = fit_by_hand(falling).to_dict()
    (corner,) = chart["datasets"]["corner"]
    _, top = layer(chart, "text")["encoding"]["y"]["scale"]["domain"]
    assert corner["now"] == top > falling[1:].max() + 0.24 * np.ptp(falling[1:])
