"""Figures of one step, of wirings and of the collapse: what is drawn is what was computed."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.recurrent.wirings import influence
from seqviz.compute.recurrent.wirings.collapse import collapse
from seqviz.compute.recurrent.wirings.graph import WIRINGS, WiringGraph
from seqviz.compute.recurrent.wirings.notations import NOTATIONS, written
from seqviz.compute.recurrent.wirings.step import steps
from seqviz.figures.recurrent.wirings.collapse import network_beside_convolution
from seqviz.figures.recurrent.wirings.graph import wiring_lit, wirings_beside
from seqviz.figures.recurrent.wirings.step import notation_blocks, one_step
from seqviz.plotting import STYLE
from testing.figure_examples.recurrent import influence_of

SMALL = ("0.8 -0.6; 0.6 0.8", "1; 0", "0.1 0", "2 0; 0 2", "2 0 1", 6, "softmax")


def traces(chart, kind):
    return [trace for trace in chart.traces if trace["type"] == kind]


def test_one_step_bars_sum_to_state():
    result = steps(*SMALL)
    (bars,) = traces(one_step(result, 3, 2), "bar")
    ends = np.asarray(bars["base"]) + np.asarray(bars["x"])
    np.testing.assert_allclose(bars["base"][1:4], ends[:3], atol=1e-15)
    assert ends[-3] == pytest.approx(result.sum_of(3, 2))
    assert ends[-1] == pytest.approx(result.state_of(3, 2))


def test_one_step_heatmaps_match_all_steps_and_states_are_clickable():
    result = steps(*SMALL)
    y, h, x = traces(one_step(result, 3, 1), "heatmap")
    np.testing.assert_array_equal(h["z"], result.h.T)
    np.testing.assert_array_equal(y["z"], result.y.T)
    np.testing.assert_array_equal(x["z"], result.x.T)
    assert (h.get("meta"), y.get("meta"), x.get("meta")) == ("pick", None, None)
    assert (list(h["x"]), list(h["y"])) == (list(range(7)), [1, 2])


@pytest.mark.parametrize("name", NOTATIONS)
def test_notation_blocks_are_separate_and_contain_every_weight(name):
    result = steps(*SMALL)
    item = written(result.cell, result.h[2], result.x[2], name)
    chart = notation_blocks(item)
    blocks = traces(chart, "heatmap")
    columns = np.concatenate([block["x"] for block in blocks])
    assert (np.diff(columns) > 0.9).all()
    numbers = np.concatenate([np.ravel(block["z"]) for block in blocks])
    for weight in (*result.cell.recurrent.ravel(), *result.cell.inputs.ravel()):
        assert weight in numbers
    outlined = traces(chart, "scatter")
    assert len(outlined) == 4  # the part of the state and of the input, in matrix and vector


def test_wiring_lit_highlights_ancestors_and_blanks_zero_cells():
    result = influence_of(WiringGraph())
    chart = wiring_lit(result, 2)
    (heat,) = traces(chart, "heatmap")
    np.testing.assert_array_equal(np.isfinite(heat["z"]), result.norm > 0)
    bright, faint = (t for t in chart.traces if t.get("name") == "state h")
    assert (list(bright["x"]), list(faint["x"])) == ([1, 2], [3, 4, 5, 6])
    assert faint["marker"]["opacity"] < bright["marker"].get("opacity", 1)
    assert bright["showlegend"]
    assert not faint["showlegend"]


@pytest.mark.parametrize("read", ["last", "ends"])
def test_single_output_has_the_number_of_the_last_step(read):
    chart = wiring_lit(influence_of(WiringGraph(read=read, both=True)), 1)
    assert "y<sub>6</sub>" in [item.text for item in chart.layout.annotations]
    assert chart.layout.yaxis.ticktext == ("y<sub>6</sub>",)
    assert chart.layout.yaxis2.ticktext == ("left to right", "right to left")


def test_bands_are_as_wide_as_the_gradient_that_flows_back():
    result = influence.of_one("rnn", 1, False, "each", "each")
    chart = wiring_lit(result, 4)
    color = STYLE.palette.highlight
    bands = [t for t in chart.traces if t.get("mode") == "lines" and t["line"]["color"] == color]
    widths = {}
    for band in bands:
        pairs = list(zip(band["x"][::3], band["x"][1::3], band["y"][1::3], strict=True))
        widths |= dict.fromkeys(pairs, band["line"]["width"])
    across = [widths[t - 1.0, float(t), 1.0] for t in (2, 3, 4)]
    assert across == sorted(across)  # the later, the wider
    assert across[0] < across[-1] < widths[4.0, 4.0, 2.0]
    assert len(widths) == int((result.flow[3] > 0).sum())


@pytest.mark.parametrize(
    "wiring", [*WIRINGS.values(), WiringGraph("gru", 3, True, "first", "after")]
)
def test_wiring_lit_boxes_do_not_overlap_and_outputs_are_clickable(wiring):
    chart = wiring_lit(influence_of(wiring), 1)
    boxes = [t for t in chart.traces if t.get("mode") == "markers"]
    positions = [position for t in boxes for position in zip(t["x"], t["y"], strict=True)]
    assert len(set(positions)) == len(positions) == len(wiring.nodes())
    outputs = [t for t in boxes if t["name"] == "output y"]
    if wiring.outputs > 1:
        assert {output["meta"] for output in outputs} == {"pick"}
        there = sorted(x for output in outputs for x in output["x"])
        assert there == list(range(1, wiring.outputs + 1))


def test_wirings_beside_share_one_scale():
    result = tuple(influence_of(wiring) for wiring in WIRINGS.values())
    maps = traces(wirings_beside(result), "heatmap")
    assert len(maps) == 7
    assert {(item["zmin"], item["zmax"]) for item in maps} == {(-3, 0)}


def test_network_beside_convolution_draws_zero_error():
    result = collapse(0.0, 1.0, 1, "float64", 0)
    chart = network_beside_convolution(result)
    here = next(t for t in chart.traces if t.get("name") == "this network")
    assert here["y"][0] >= 1e-17
