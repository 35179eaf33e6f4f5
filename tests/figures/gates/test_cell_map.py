"""The cell as a map: its parts, their numbers at the step, and each at every step."""

from __future__ import annotations

import json

import numpy as np
import pytest

from seqviz.compute.gates.observation import N_QUANTITIES, one_step, unit_flow
from seqviz.core.i18n import number
from seqviz.figures.gates.cell_diagram import cell_map
from testing.figure_examples.gates import observed

CELLS = ("lstm", "gru")


def drawn(cell: str, step: int = 9, part: int = 2):
    figure = cell_map(unit_flow(observed(cell), 3), step, part)
    return figure, json.loads(figure.to_json())


@pytest.mark.parametrize("cell", CELLS)
def test_flow_has_the_numbers_of_each_step(cell):
    seen = observed(cell)
    flow = unit_flow(seen, 3)
    assert len(flow.at(1).quantities) == N_QUANTITIES[cell]
    for step in (1, 9, len(seen.pieces)):
        assert flow.at(step) == one_step(seen, 3, step)
    state = seen.trace.cell_state if cell == "lstm" else seen.trace.hidden
    old, new = ("c(t−1)", "c(t)") if cell == "lstm" else ("h(t−1)", "h(t)")
    names = [flow.name(part) for part in range(1, N_QUANTITIES[cell] + 1)]
    assert np.array_equal(flow.values(names.index(old) + 1), state[:-1, 2].astype(float))
    assert np.array_equal(flow.values(names.index(new) + 1), state[1:, 2].astype(float))
    # What is kept and what is written add up to the new state, at every step.
    kept, written = (flow.values(names.index(name) + 1) for name in (
        ("f c(t−1)", "i g") if cell == "lstm" else ("z h(t−1)", "(1 − z) n")))  # fmt: skip
    np.testing.assert_allclose(kept + written, state[1:, 2], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("cell", CELLS)
def test_map_has_each_quantity_with_its_number_at_the_step(cell):
    _, figure = drawn(cell)
    parts = figure["layout"]["meta"]["map"]["parts"]
    values = list(unit_flow(observed(cell), 3).at(9).quantities.values())
    assert sorted(map(int, parts)) == list(range(1, N_QUANTITIES[cell] + 1))
    for part, value in enumerate(values, 1):
        assert parts[str(part)]["label"].endswith(f": {number(value)}")
        left, right, low, high = parts[str(part)]["box"]
        assert right > left
        assert high > low
    assert parts["2"]["label"].startswith("forget gate f" if cell == "lstm" else "update gate z")


@pytest.mark.parametrize("cell", CELLS)
def test_map_lights_the_chosen_part_only(cell):
    for part in (1, N_QUANTITIES[cell]):
        _, figure = drawn(cell, part=part)
        shapes, chosen = figure["layout"]["shapes"], figure["layout"]["meta"]["map"]
        lit = [number for number, item in chosen["parts"].items()
               if shapes[item["shape"]]["line"] == chosen["line"]]  # fmt: skip
        assert lit == [str(part)]


@pytest.mark.parametrize("cell", CELLS)
def test_view_of_a_part_is_what_the_map_shows_when_it_is_chosen(cell):
    """The browser puts the view beside the map at once; the server's figure is the same."""
    _, first = drawn(cell)
    layout = first["layout"]
    counts = layout["meta"]["map"]["counts"]
    for part in range(1, N_QUANTITIES[cell] + 1):
        figure, then = drawn(cell, part=part)
        view = layout["meta"]["map"]["parts"][str(part)]["view"]
        assert view["trace"] == then["data"][-1]
        assert view["annotations"] == then["layout"]["annotations"][counts["annotations"] :]
        assert view["shapes"] == then["layout"]["shapes"][counts["shapes"] :]
        for name, axis in view["axes"].items():
            assert axis == then["layout"][name]
        bars = np.asarray(figure.data[-1].y, float)
        assert np.allclose(bars, unit_flow(observed(cell), 3).values(part))
