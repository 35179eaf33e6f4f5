"""The line fitted by hand: its errors in the figure, and runs of pairs that Vega draws."""

from __future__ import annotations

import json

import numpy as np
import pytest

from seqviz.compute import ar_fitting as ar
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.figures.ar_fitting.by_hand import POINTS, fit_by_hand, slopes_by_window
from seqviz.plotting.style import LIVE, ROLES, Style
from seqviz.plotting.table import table
from tests.figures.sample_series import PATH

WINDOWS = ar.window_slopes(PATH.values)


def parts(values: np.ndarray, slope: float, style: Style | None = None) -> list[dict]:
    """The errors, the pairs and the line."""
    return list(fit_by_hand(values, slope, style or Style()).traces)


def spec(style: Style | None = None) -> dict:
    return slopes_by_window(PATH.values, WINDOWS, style or Style()).to_dict()


def calculated(layer: dict, name: str) -> str:
    (step,) = (t for t in layer["transform"] if t.get("as") == name)
    return step["calculate"]


@pytest.mark.parametrize("slope", [-1.2, 0.0, 0.47])
def test_fit_by_hand_draws_error_of_every_pair(slope):
    errors, points, line = parts(PATH.values, slope)
    np.testing.assert_array_equal(points["x"], PATH.values[:-1])
    np.testing.assert_array_equal(points["y"], PATH.values[1:])
    ends = np.asarray(errors["y"]).reshape(-1, 3)
    np.testing.assert_allclose(ends[:, [0, 2]].T, [slope * np.asarray(errors["x"])[::3]] * 2)
    assert (np.diff(errors["x"]) >= 0).all()  # from pair to pair it runs along the line
    mse = float(np.mean((ends[:, 0] - ends[:, 1]) ** 2))
    assert mse == pytest.approx(ar.slope_error(PATH.values, slope).mse)
    np.testing.assert_allclose(line["y"], slope * np.asarray(line["x"]))
    assert list(line["x"]) == [PATH.values[:-1].min(), PATH.values[:-1].max()]


def test_fit_by_hand_keeps_axes_while_line_turns():
    first, second = (fit_by_hand(PATH.values, slope).page for slope in (0.0, 1.2))
    assert first["yaxis"]["range"] == second["yaxis"]["range"]
    low, high = first["yaxis"]["range"]
    assert low < PATH.values[1:].min() < PATH.values[1:].max() < high


def test_fit_by_hand_thins_many_pairs_evenly():
    values = ar.simulate((0.5,), n=5000, seed=1).values
    errors, points, _ = parts(values, 0.2)
    assert len(points["x"]) == POINTS == len(errors["y"]) // 3
    indices = [values[:-1].tolist().index(x) for x in points["x"]]
    assert (indices[0], indices[-1]) == (0, 4998)
    assert set(np.diff(indices)) == {12, 13}
    assert list(points["y"]) == [values[position + 1] for position in indices]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_fit_by_hand_translates_names_and_description(lang):
    text = Text(lang)
    figure = fit_by_hand(PATH.values, 0.3, Style(lang=lang))
    names = [trace["name"] for trace in figure.traces]
    assert names == [text(f"figure.{key}") for key in ("misses", "pairs", "your_line")]
    mse = ar.slope_error(PATH.values, 0.3).mse
    assert figure.alt == text("alt.by_hand", n=199, slope=0.3, mse=mse)


def test_slopes_by_window_binds_first_pair_to_slider():
    (param,) = spec()["params"]
    bound = {"input": "range", "min": 1, "max": len(WINDOWS.slopes), "step": 1}
    assert param["name"] == "first"
    assert bound.items() <= param["bind"].items()


def test_slopes_by_window_filters_pairs_of_the_run_and_reads_its_slope():
    chart = spec()
    everything, chosen, line, words = chart["layer"]
    assert "transform" not in everything or len(everything["transform"]) == 1  # its color
    assert chosen["transform"][0]["filter"] == f"datum.pair >= first && datum.pair < first + {50}"
    for layer in (line, words):
        assert layer["transform"][0]["filter"] == "datum.run == first"
    assert calculated(line, "now") == "datum.slope * datum.before"
    slopes = chart["datasets"][line["data"]["name"]]
    assert [row["slope"] for row in slopes] == WINDOWS.slopes.tolist()
    assert [row["run"] for row in slopes] == [*range(1, len(WINDOWS.slopes) + 1)]


def test_slopes_by_window_lists_pairs_in_table():
    numbers = table(slopes_by_window(PATH.values, WINDOWS))[["before", "now"]].to_numpy()
    np.testing.assert_array_equal(numbers, np.stack([PATH.values[:-1], PATH.values[1:]], axis=1))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_slopes_by_window_translates_labels_and_description(lang):
    chart, text = spec(Style(lang=lang)), Text(lang)
    for layer in chart["layer"]:
        assert layer["encoding"]["x"]["title"] == text("figure.before_plain")
        assert layer["encoding"]["y"]["title"] == text("figure.now_plain")
    assert text("figure.first_pair", width=50) in chart["params"][0]["bind"]["name"]
    assert calculated(chart["layer"][3], "words").count("'") % 2 == 0
    low, high = WINDOWS.extremes
    alt = text("alt.slopes_by_window", n=199, width=50, low=low, high=high)
    assert chart["description"] == alt


def test_slopes_by_window_live_colors_use_role_scale():
    """Streamlit gives Vega the theme's ten colors as a range: the domain has their order."""
    chart = spec(Style(LIVE))
    roles = ("baseline", "truth", "prediction", "prediction")
    for layer, role in zip(chart["layer"], roles, strict=True):
        assert layer["encoding"]["color"]["scale"]["domain"] == list(ROLES)
        assert calculated(layer, "role") == f"'{role}'"
    assert "#0000" not in json.dumps(chart["layer"])


def test_slopes_by_window_is_drawn_by_vega():
    """Vega-Lite compiles the chart and writes the slope of the run that the slider chooses."""
    vega = pytest.importorskip("vl_convert")
    chart = spec()
    chart["params"][0]["value"] = 37
    chart["width"] = 500
    drawn = vega.vegalite_to_svg(chart)
    assert f"{WINDOWS.slopes[36]:#.3g}" in drawn
    assert f"{WINDOWS.slopes[0]:#.3g}" not in drawn
