"""What the figures of the block show is what was computed: areas, frames, cells, lines."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.transformer import cost, flow, masking, normalization
from seqviz.compute.transformer.depth_signal import depth
from seqviz.compute.transformer.interpretability.account import LogitAttribution, Split
from seqviz.experiments.transformer.architectures import NAMES, architecture
from seqviz.figures.transformer.cost import cache_lines, operation_lines, parameter_map
from seqviz.figures.transformer.depth import norms_by_depth
from seqviz.figures.transformer.flow import step_tensor, two_operators
from seqviz.figures.transformer.interpretability.account import logit_account
from seqviz.figures.transformer.norms import three_norms


@pytest.mark.parametrize("name", NAMES)
def test_parameter_map_areas_match_counts(name):
    model = architecture(name)
    figure = parameter_map(model)
    areas = np.zeros(len(cost.COST_PARTS))
    for trace in figure.traces:
        width, height = np.asarray(trace["width"]), np.asarray(trace["y"])
        assert (np.asarray(trace["base"]) + height <= 100 + 1e-9).all()
        sizes = model.counts.sum(axis=0) / 1e6
        at = int(np.argmin(abs(sizes - (width * height).sum() / 100)))
        areas[at] += (width * height).sum() / 100
    np.testing.assert_allclose(areas, model.counts.sum(axis=0) / 1e6)
    assert figure.axis("x")["range"][1] == pytest.approx(model.total / 1e6)


def outlines(result) -> list[tuple[str, float, float, float, float]]:
    return [
        (shape["xref"], shape["x0"], shape["x1"], shape["y0"], shape["y1"])
        for shape in result.page["shapes"]
    ]


def test_three_norms_frame_values_sharing_mean():
    norms = normalization.compare()
    figure = three_norms(norms, 3, 2)
    marks = outlines(figure)
    assert marks[:4] == [(x, 1.5, 2.5, 2.5, 3.5) for x in ("x", "x2", "x3", "x4")]
    row, column = (0, 1, 2.5, 3.5), (1.5, 2.5, 0, 1)
    assert [mark[1:] for mark in marks[4:]] == [row, column, row]  # as the order of KINDS
    assert normalization.NORM_KINDS == ("layer", "batch", "rms")
    for trace, values in zip(figure.traces[1:], norms.normalized, strict=True):
        np.testing.assert_array_equal(trace["z"], values.values.reshape(4, 3))


def test_three_norms_keep_row_numbers_of_part():
    for part, row, rows in (("sentence", 3, [3, 4]), ("word", 4, [4])):
        norms = normalization.compare(sentence=1, word=row - 3, part=part)
        figure = three_norms(norms, row, 1)
        assert list(figure.traces[0]["y"]) == rows
        assert list(figure.axis("y")["ticktext"]) == ["w[1, 0]", "w[1, 1]"][-len(rows) :]


@pytest.mark.parametrize("kind", masking.MASK_KINDS)
def test_two_operators_frame_every_masked_cell(kind):
    masked = masking.masked(kind=kind)
    figure = two_operators(masked)
    closed = {(column + 1, row + 1) for row, column in np.argwhere(~masked.allowed).tolist()}
    marks = [] if not closed else outlines(figure)
    framed = [(mark[1] + 0.5, mark[3] + 0.5) for mark in marks]
    assert len(framed) == 3 * len(closed)
    assert set(framed) == closed


def test_step_tensor_draws_values_and_head_separators():
    result = flow.flow("a b c", d_model=16, heads=4, d_ff=8, layers=1)
    for step in range(1, 11):
        figure = step_tensor(result, step)
        np.testing.assert_array_equal(figure.traces[0]["z"], result.steps[step - 1].values)
        assert len(figure.page.get("shapes", ())) == (3 if step in (4, 5) else 0)


def test_account_hover_states_what_a_part_adds_and_the_running_sum():
    """The text of a bar has its own height, not the end of the bar."""
    parts = np.array([-3.0, -0.5, 0.25, 3.02, 0.5])
    none = np.zeros(1, bool)
    tokens = Tokens(("a",), np.zeros(1, int), np.zeros(1, int), none, ~none, 0)
    result = LogitAttribution(tokens, "␣Paris", "", parts, float(parts.sum()), 0.5, 1, 1.0)
    split = Split(3, "attention", np.arange(2), np.array([3.0, 0.02]), 0.0, 0)
    figure = logit_account(result, split)
    attention = next(trace for trace in figure.traces if trace["name"] == "attention")
    assert attention["hovertemplate"].startswith("%{customdata}")
    assert attention["customdata"][1] == "attention of layer 1: +3.020<br>sum so far: −0.230"
    assert list(attention["y"]) == [-0.5, 3.02]


def test_cost_and_depth_lines_match_values():
    model = architecture("smollm2")
    work = cost.operations(model)
    quadratic, linear, full = operation_lines(work, 64).traces
    np.testing.assert_allclose(np.asarray(linear["y"]) + quadratic["y"], full["y"])
    own, shared = cache_lines((model,), 64).traces[1], cache_lines((model,), 64).traces[0]
    np.testing.assert_allclose(np.asarray(own["y"]), 3 * np.asarray(shared["y"]))
    result = depth(3)
    for quantity, end in (("signal", -1), ("gradient", 0)):
        figure = norms_by_depth(result, quantity)
        lines = [trace for trace in figure.traces if trace.get("name")]
        for name, trace in zip(result.arrangements, lines, strict=True):
            at = result.at(quantity, name, 3 if end == -1 else 0)
            assert np.log10(trace["y"][end]) == pytest.approx(at, abs=1e-9)
