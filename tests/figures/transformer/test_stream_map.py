"""The map of a Transformer: marked row, colors, numbers of the heads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seqviz.compute.transformer import components
from seqviz.figures.transformer.stream_map import stream_map
from testing.figure_examples import transformer as examples


def single() -> components.TransformerParts:
    return next(e.args[0] for e in examples.examples() if e.args and hasattr(e.args[0], "parts")
                and getattr(e.args[0], "form", "") == "decoder")  # fmt: skip


def test_map_marks_the_row_whose_norms_are_drawn():
    for token in (1, 3):
        figure = stream_map(single(), 1, 4, token)
        row = len(single().read_by(4)) - token + 1
        rows = [(s["y0"], s["y1"]) for s in figure.page["shapes"] if s.get("yref") == "y2"]
        assert (row - 0.5, row + 0.5) in rows


def test_map_colors_end_at_the_values_of_a_usual_row():
    """One token with values a hundred times the others does not make their rows pale."""
    parts = single()
    number = 4
    before = stream_map(parts, 1, number).traces[-1]["zmax"]
    part = parts.parts[number - 1]
    values = part.values.copy()
    values[:, 0] *= 100
    listed = list(parts.parts)
    listed[number - 1] = replace(part, values=values)
    after = stream_map(replace(parts, parts=tuple(listed)), 1, number).traces[-1]["zmax"]
    assert after < 2 * before


def test_map_numbers_each_head_in_its_middle():
    parts = single()
    axis = stream_map(parts, 1, 3).axis("x2")
    columns = parts.parts[2].values.shape[-1]
    assert axis["ticktext"] == [str(head) for head in range(parts.heads)]
    width = columns / parts.heads
    np.testing.assert_allclose(axis["tickvals"], [(h + 0.5) * width - 0.5
                                                  for h in range(parts.heads)])  # fmt: skip
