"""Matrices about positions: the cells are the numbers, at every size, and 0 stands on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from seqviz.compute.positions import offsets, relative, sinusoidal
from seqviz.compute.positions.orders import SCHEMES, compare_orders
from seqviz.compute.positions.results import VARIANTS
from seqviz.core.units import unbroken
from seqviz.figures.positions.biases import alibi, t5_buckets
from seqviz.figures.positions.effects import both_orders
from seqviz.figures.positions.encoder import encoder_maps
from seqviz.figures.positions.encodings import dot_products, encoding_map, rotation_matrices
from seqviz.figures.positions.tables import table_similarity
from seqviz.plotting.figure import Figure
from testing.figure_examples.positions import FIRST, PIECES, SECOND, reordered, wandering_table
from tests.figures.trace_helpers import said, sound

ODD, WIDE = sinusoidal.encoding(8, 7, 1.5), sinusoidal.encoding(10_000, 128)
FOUND = offsets.similarity(sinusoidal.encoding(40, 64).table)
SIGNED = replace(FOUND, dot=FOUND.dot - 20)
MANY = offsets.similarity(sinusoidal.encoding(1100, 2).table)
OWN, LONG = offsets.similarity(wandering_table()), offsets.similarity(wandering_table(512))
ORDERS, UNLIKE = compare_orders(FIRST, SECOND), compare_orders("one", "three more words")
ENCODER = reordered()
SLOPES, BUCKETS = relative.alibi_slopes(8), relative.t5_map(2048)
CAUSAL, BOTH = (relative.alibi_bias(8, 16, causal) for causal in (True, False))
SOLVED = sinusoidal.fit_rotation(sinusoidal.encoding(64, 8).table, 3)
TURN = sinusoidal.rotation(3, 8)


def rotated(width: int) -> Figure:
    """The drawing where least squares finds just the matrix of the formula."""
    matrix = sinusoidal.rotation(1, width)
    return rotation_matrices(matrix, replace(SOLVED, matrix=matrix), 1)


class Case(NamedTuple):
    """limits: of the colors; None where they follow from the numbers. step: every how manyth is
    shown, across and up. first: where the axes begin."""

    figure: Figure
    matrices: Sequence[np.ndarray]
    limits: tuple[float | None, float | None] = (-1, 1)
    step: tuple[int, int] = (1, 1)
    pick: bool = False
    first: int = 0


def cases() -> dict[str, Case]:
    """Every figure with a matrix."""
    by_scheme = {
        f"orders, {scheme}": Case(both_orders(ORDERS, scheme), maps, (0, 1), first=1)
        for scheme, *maps in zip(SCHEMES, ORDERS.first, ORDERS.second, strict=True)
    }
    own, *others = ENCODER.weights
    by_variant = {
        f"encoder, {name}": Case(encoder_maps(ENCODER, name), [own, other], (0, 1), first=1)
        for name, other in zip(VARIANTS[1:], others, strict=True)
    }
    few = np.where(np.isfinite(CAUSAL[3]), CAUSAL[3], np.nan)
    spare = [UNLIKE.first[2], UNLIKE.second[2]]
    wide = [sinusoidal.rotation(1, 512)] * 2
    halves, thirds = [LONG.cosine[::2, ::2]] * 2, [MANY.dot[::3, ::3]]
    return {
        "table": Case(encoding_map(ODD), [ODD.table.T]),
        "large table": Case(encoding_map(WIDE), [WIDE.table[::5].T], step=(5, 1)),
        "dots": Case(dot_products(FOUND), [FOUND.dot], (None, None), pick=True),
        "signed dots": Case(dot_products(SIGNED), [SIGNED.dot], (-12, 12), pick=True),
        "many dots": Case(dot_products(MANY), thirds, step=(3, 3), pick=True),
        "two tables": Case(table_similarity(OWN, FOUND), [OWN.cosine, FOUND.cosine], pick=True),
        "two long ones": Case(table_similarity(LONG, LONG), halves, step=(2, 2), pick=True),
        # Room at both ends of the colors, where numbers are read in the cells.
        "rotation": Case(rotation_matrices(TURN, SOLVED, 3), [TURN, SOLVED.matrix], (-1.25, 1.25)),
        "wide rotation": Case(rotated(512), wide),
        **by_scheme,
        "other lengths": Case(both_orders(UNLIKE, "learned"), spare, (0, 1), first=1),
        **by_variant,
        "ALiBi": Case(alibi(SLOPES, CAUSAL, 3), [few], (-15 / 16, 0)),
        "ALiBi both ways": Case(alibi(SLOPES, BOTH, 0), [BOTH[0]], (-15 / 2, 0)),
        "T5": Case(t5_buckets(BUCKETS), [BUCKETS[::4, ::4]], (-0.5, 31.5), step=(4, 4)),
    }


CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_matrix_figure_cells_match_values(name):
    figure, matrices, limits, step, pick, first = CASES[name]
    heats = [trace for trace in figure.data if trace.type == "heatmap"]
    for heat, matrix in zip(heats, matrices, strict=True):
        np.testing.assert_array_equal(heat.z, matrix.astype(np.float32))
        np.testing.assert_array_equal(heat.x, first + step[0] * np.arange(matrix.shape[1]))
        np.testing.assert_array_equal(heat.y, first + step[1] * np.arange(matrix.shape[0]))
        # A cosine may exceed 1 by its rounding; that of the slowest pair's angle is near to 1.
        for result, expected in zip((heat.zmin, heat.zmax), limits, strict=True):
            assert result == (None if expected is None else pytest.approx(expected, abs=1e-5))
        assert heat.meta == ("pick" if pick else None)
        x, y = (figure.layout[f"{n[0]}axis{n[1:]}"] for n in (heat.xaxis or "x", heat.yaxis or "y"))
        assert x.range[0] < first <= heat.x[-1] < x.range[1]
        assert y.range[1] < first <= heat.y[-1] < y.range[0]  # 0 on top
    # One color for one number on both sides, and one bar that says so.
    assert len({str(heat.colorscale) for heat in heats}) == 1
    assert [heat.showscale for heat in heats[:-1]] == [False] * (len(heats) - 1)
    sound(figure)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("table", ["base 1.5"]),
        ("large table", ["base 10,000 · 1 of 5 positions shown"]),
        ("many dots", ["dot product of positions i and j · 1 of 3 positions shown"]),
        ("two long ones", [f"{n} · 1 of 2 positions shown" for n in ("learned", "sinusoidal")]),
        ("wide rotation", [unbroken("by the formula, k = 1"), "by least squares, off by 0"]),
        ("encoder, shuffled", ["its own", "rows shuffled"]),
        ("ALiBi", ["slope of each head", unbroken("head 3, s = 1/16")]),
        ("T5", ["31 buckets: blue before, orange after"]),
    ],
)
def test_matrix_figure_titles_match_expected_text(name, words):
    assert said(CASES[name].figure) == words


ONE = (
    lambda: dot_products(offsets.similarity(np.zeros((3, 2)))),
    lambda: dot_products(offsets.similarity(np.full((3, 3), np.nan))),
    lambda: dot_products(offsets.similarity(np.ones((1, 1)))),
    lambda: table_similarity(*[offsets.similarity(np.ones((1, 2)))] * 2),
    lambda: both_orders(compare_orders("a", "a"), "none"),
    lambda: t5_buckets(relative.t5_map(1)),
)


@pytest.mark.parametrize("place", range(len(ONE)))
def test_matrix_figures_render_degenerate_input(place):
    sound(ONE[place]())


def test_alibi_bias_is_zero_for_one_position():
    figure = alibi(relative.alibi_slopes(1), relative.alibi_bias(1, 1))
    assert figure.data[1].z.tolist() == [[0]]
    assert "down to 0" in figure.alt


@pytest.mark.parametrize(
    ("draw", "most"),
    [
        (lambda n: rotated(n + n % 2), 8),
        (lambda n: both_orders(compare_orders(*[" ".join("abcdefghij"[:n])] * 2), "none"), 9),
        (lambda n: t5_buckets(relative.t5_map(n)), 16),
    ],
)
def test_matrix_figures_write_numbers_only_if_small(draw, most):
    assert all(heat.texttemplate is not None for heat in draw(most).data)
    assert all(heat.texttemplate is None for heat in draw(most + 1).data)


def test_rotation_matrices_format_minus_and_zero():
    for heat in CASES["rotation"].figure.data:
        assert heat.text[0][1] == "0.14"  # sin 3
        assert heat.text[1][0] == "−0.14"
        assert heat.text[0][5] == "0.00"


# --- colors of buckets ----------------------------------------------------------------------------


def color_at(heat, bucket: int) -> str:
    """The color of the middle of a bucket, read from the scale as a browser does."""
    share = (bucket - heat.zmin) / (heat.zmax - heat.zmin)
    below = max(index for index, (at, _) in enumerate(heat.colorscale) if at <= share)
    return heat.colorscale[below][1]


@pytest.mark.parametrize("bidirectional", [True, False])
def test_t5_buckets_have_distinct_colors(bidirectional):
    buckets = relative.t5_map(256, bidirectional)
    (heat,) = t5_buckets(buckets).data
    used = np.unique(buckets).tolist()
    colors = [color_at(heat, bucket) for bucket in used]
    assert len(set(colors)) == len(used)
    blue = {bucket for bucket, color in zip(used, colors, strict=True) if "43,108,196" in color}
    assert blue == set(np.unique(np.tril(buckets)).tolist())
    shares = [at for at, _ in heat.colorscale]
    assert (shares[0], shares[-1]) == (0, 1)
    assert shares == sorted(shares)


# --- words ----------------------------------------------------------------------------------------


def test_both_orders_and_encoder_maps_escape_axis_words():
    orders, encoder = both_orders(ORDERS, "none").layout, encoder_maps(ENCODER, "zero").layout
    mary = ["&lt;b&gt;Mary&lt;/b&gt;", "gave", "John&amp;co", "a", "flower"]
    for axis in ("xaxis", "yaxis"):
        assert list(orders[axis].ticktext) == mary
        assert list(orders[axis + "2"].ticktext) == [mary[i] for i in (2, 1, 0, 3, 4)]
        assert list(encoder[axis].ticktext)[1:3] == ["&lt;b&gt;mary&lt;/b&gt;", "%&#123;x}"]
    for layout, words in ((orders, ORDERS.others), (encoder, PIECES)):  # as typed, for the table
        assert layout.meta["names"]["x2"] == layout.meta["names"]["y2"] == list(words)


def test_both_orders_widen_gap_for_long_words():
    def room(text: str) -> float:
        layout = both_orders(compare_orders(text, text), "none").layout
        assert layout.xaxis2.domain[1] == 0.93
        return layout.xaxis2.domain[0] - layout.xaxis.domain[1]

    assert 0.05 < room("a b") < room("我 你") < room("longer words") < room("incomprehensibilities")
    assert room("x" * 100) < 0.4
