"""The walk-through drawn: what is in the arrays is in the panels, lit where it was asked for."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest

from seqviz.compute.attention.walkthrough import STAGES, walk
from seqviz.figures.attention.steps import PARTS, walk_basic, walk_stage
from seqviz.figures.attention.walk_matrices import ABOVE, written
from seqviz.figures.grammar.style import LIGHT, Style
from seqviz.figures.grammar.table import table, tables
from seqviz.text import number

PLAIN = walk()
HEADS = walk(heads=8, d_k=4, causal=True)
LEAKY = walk(causal=True, operator="multiply")
WIDE = walk(heads=4, d_k=64, scale="none", temperature=0.5)
NARROW = walk(d_k=1, scale="d", temperature=2.0)
WALKS = {"plain": PLAIN, "heads": HEADS, "leaky": LEAKY, "wide": WIDE, "narrow": NARROW}
RESERVED = re.compile(r"#0000\d\d")
EVERY = pytest.mark.parametrize(("name", "stage"), list(itertools.product(WALKS, STAGES)))


def refuse(token: str):
    raise AssertionError(f"{token} in a figure")


def drawn(name: str, stage: str, query: int = 2, key: int = 3, style: Style = Style()):  # noqa: B008
    found = WALKS[name]
    return walk_stage(found, stage, found.heads - 1, query, key, style=style)


def maps(figure) -> list:
    return [trace for trace in figure.data if trace.type == "heatmap"]


def over(figure, trace) -> list:
    """What is drawn over a map: hatches and marks."""
    return [t for t in figure.data if t.type == "scatter" and t.xaxis == trace.xaxis]


def lit(figure, trace, color: str = LIGHT.highlight) -> list[tuple[float, ...]]:
    """Rectangles on the axes of a trace, as (left, right, top, bottom), whole lines only."""
    return [
        (shape.x0, shape.x1, shape.y0, shape.y1)
        for shape in figure.layout.shapes
        if shape.xref == (trace.xaxis or "x")
        and shape.line.color == color
        and shape.line.dash is None
    ]


def expected(name: str, stage: str) -> list[np.ndarray]:
    """The matrices of a stage from left to right."""
    w = WALKS[name]
    head, found = w.heads - 1, w.attention
    closed = ~np.tri(8, dtype=bool) if w.causal else np.zeros((8, 8), bool)
    mask = np.where(closed, -np.inf, 0.0) if w.operator == "add" else 1.0 - closed
    return {
        "embed": [w.ids[:, None], w.embeddings],
        "project": [w.embeddings, w.query_weight[head], w.queries[head]],
        "scores": [w.queries[head], w.keys[head], found.scores[head]],
        "scale": [found.scores[head], found.scaled[head]],
        "mask": [found.scaled[head], mask, found.masked[head]],
        "softmax": [found.masked[head], found.weights[head]],
        "sum": [found.weights[head], w.values[head], found.output[head]],
        "concat": [w.concatenated, w.output_weight, w.combined],
    }[stage]


@EVERY
def test_panels_hold_the_arrays_of_the_stage(name, stage):
    panels, arrays = maps(drawn(name, stage)), expected(name, stage)
    assert len(panels) == len(arrays) <= 3
    for panel, array in zip(panels, arrays, strict=True):
        np.testing.assert_array_equal(np.asarray(panel.z), array)
        assert list(panel.x) == list(range(1, array.shape[1] + 1))
        assert list(panel.y) == list(range(1, array.shape[0] + 1))


@EVERY
def test_what_goes_in_gives_what_comes_out(name, stage):
    """From the drawn numbers alone, in float32: 1e-3 is far above its rounding at this size."""
    panels = [np.asarray(trace.z, np.float64) for trace in maps(drawn(name, stage))]
    w = WALKS[name]
    made = {
        "project": lambda x, weight: x @ weight,
        "scores": lambda q, k: q @ k.T,
        "scale": lambda s: s / w.divide_by / w.temperature,
        "mask": lambda s, m: s + m if w.operator == "add" else s * m,
        "softmax": lambda s: (
            np.exp(s - s.max(axis=1, keepdims=True))
            / np.exp(s - s.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)
        ),
        "sum": lambda a, v: a @ v,
        "concat": lambda z, weight: z @ weight + w.output_bias,
    }
    if stage in made:
        np.testing.assert_allclose(made[stage](*panels[:-1]), panels[-1], rtol=1e-4, atol=1e-3)


@EVERY
def test_sound_named_and_described(name, stage):
    figure = drawn(name, stage)
    json.loads(figure.to_json(), parse_constant=refuse)
    for trace in maps(figure):
        assert trace.name
        for letter, axis in (("x", trace.xaxis), ("y", trace.yaxis)):
            assert figure.layout[f"{letter}axis{(axis or letter)[1:]}"].title.text
    said = figure.alt
    assert len(said) > 40
    assert not re.search(r"[<>{}]|nan|figure\.", said)
    assert figure.layout.title.text


@pytest.mark.parametrize(
    ("stage", "wanted"),
    [
        ("scores", "14.3667"),
        ("scale", "3.5917"),
        ("softmax", number(4.3696e-5)),
        ("sum", "0.856"),
    ],
)
def test_descriptions_say_the_printed_numbers(stage, wanted):
    assert wanted in drawn("plain", stage).alt


def test_the_softmax_says_that_rows_and_not_columns_sum_to_one():
    figure = drawn("plain", "softmax")
    weights = PLAIN.attention.weights[0]
    texts = [note.text for note in figure.layout.annotations]
    assert [f"{s:.2f}" for s in weights.sum(axis=1)] == ["1.00"] * 8
    assert texts.count("1.00") == 8
    for total in weights.sum(axis=0):
        assert f"{total:.2f}" in texts
    beside = [n for n in figure.layout.annotations if n.x == 9 and n.text != "Σ"]
    assert [n.y for n in beside] == list(range(1, 9))
    assert f"{weights[:, 2].sum():.2f}" in figure.layout.title.text


@EVERY
def test_a_click_on_words_against_words_names_key_and_query(name, stage):
    for trace, array in zip(maps(drawn(name, stage)), expected(name, stage), strict=True):
        words = array.shape == (8, 8) and stage not in ("embed", "project", "scores", "concat")
        words |= stage == "scores" and trace.name.startswith("S")
        words &= not trace.name.startswith(("V", "Z"))
        assert (trace.meta == "pick") == words, trace.name


@pytest.mark.parametrize(("query", "key"), [(1, 8), (5, 5), (8, 1)])
def test_row_and_column_are_lit(query, key):
    row, column = (0.5, 8.5, query - 0.5, query + 0.5), (key - 0.5, key + 0.5, 0.5, 8.5)
    for stage in ("scores", "scale", "mask", "softmax"):
        figure = drawn("plain", stage, query, key)
        for trace in maps(figure):
            if trace.meta == "pick":
                assert set(lit(figure, trace)) == {row, column}, (stage, trace.name)
    queries, keys, _ = maps(figure := drawn("plain", "scores", query, key))
    assert lit(figure, queries) == [(0.5, 16.5, query - 0.5, query + 0.5)]
    assert lit(figure, keys) == [(0.5, 16.5, key - 0.5, key + 0.5)]
    _, values, output = maps(figure := drawn("plain", "sum", query, key))
    assert lit(figure, values) == [(0.5, 16.5, key - 0.5, key + 0.5)]
    assert lit(figure, output) == [(0.5, 16.5, query - 0.5, query + 0.5)]


@pytest.mark.parametrize("part", PARTS)
def test_each_projection(part):
    figure = walk_stage(HEADS, "project", 3, 2, 5, part=part)
    x, weight, result = maps(figure)
    matrix, vectors = {
        "query": (HEADS.query_weight, HEADS.queries),
        "key": (HEADS.key_weight, HEADS.keys),
        "value": (HEADS.value_weight, HEADS.values),
    }[part]
    np.testing.assert_array_equal(np.asarray(weight.z), matrix[3])
    np.testing.assert_array_equal(np.asarray(result.z), vectors[3])
    row = 2 if part == "query" else 5
    assert lit(figure, x)[0][2:] == lit(figure, result)[0][2:] == (row - 0.5, row + 0.5)
    letter = {"query": "Q", "key": "K", "value": "V"}[part]
    assert result.name == f"{letter} = X W{letter}"


def test_forbidden_cells_are_hatched_and_have_minus_infinity_or_zero():
    later = {(c + 1, r + 1) for r, c in zip(*np.nonzero(~np.tri(8, dtype=bool)), strict=True)}
    for name, mark in (("heads", "−∞"), ("leaky", "0.00")):
        figure = drawn(name, "mask")
        result = maps(figure)[-1]
        texts = np.asarray(result.text)
        marks = [t for t in over(figure, result) if t.mode == "text"]
        if mark == "−∞":
            (marked,) = marks
            assert set(zip(marked.x, marked.y, strict=True)) == later
            assert set(marked.text) == {"−∞"}
            assert all(texts[y - 1, x - 1] == "" for x, y in later)  # not written twice
        else:
            assert not marks
            assert all(texts[y - 1, x - 1] == mark for x, y in later)
        (hatch,) = [t for t in over(figure, result) if t.fill == "toself"]
        assert hatch.fillpattern.shape == "/"
        corners = list(zip(hatch.x, hatch.y, strict=True))[::5]
        assert {(x + 0.5, y + 0.5) for x, y in corners} == later
    assert not [t for t in drawn("plain", "mask").data if t.type == "scatter"]


def test_hover_on_a_forbidden_cell_says_minus_infinity():
    result = maps(drawn("heads", "mask"))[-1]
    texts = np.asarray(result.hovertext)
    assert texts[0, 1] == "−∞"
    assert texts[1, 0] == written(HEADS.attention.masked[7, 1, 0], 4)
    assert "%{hovertext}" in result.hovertemplate


@EVERY
def test_signed_colors_are_symmetric_and_weights_run_from_zero_to_one(name, stage):
    for trace, array in zip(maps(drawn(name, stage)), expected(name, stage), strict=True):
        if trace.name.startswith("A"):
            assert (trace.zmin, trace.zmax) == (0, 1)
        elif len({color for _, color in trace.colorscale}) > 1:
            assert trace.zmin == -trace.zmax
            assert trace.zmax >= np.abs(array[np.isfinite(array)]).max()


def test_scaled_scores_have_the_colors_of_the_unscaled():
    before, after = maps(drawn("plain", "scale"))
    assert before.zmax == after.zmax


def test_numbers_in_cells_are_those_of_the_array():
    """Two decimals, one from 100 on; none where the cells are too narrow."""
    scores = np.asarray(maps(drawn("plain", "scores"))[-1].text)
    assert scores[1].tolist() == [
        "−25.16", "9.36", "14.37", "32.15", "53.90", "46.66", "−1.21", "−32.94",
    ]  # fmt: skip
    large = np.asarray(maps(drawn("wide", "scores"))[-1].text)
    assert all(re.fullmatch(r"−?\d+\.\d", cell) for cell in large.ravel())
    assert maps(drawn("plain", "sum"))[-1].texttemplate is None
    assert maps(drawn("heads", "sum"))[-1].texttemplate == "%{text}"


def test_written():
    assert written(-0.001, 2) == "0.00"  # no minus before a zero
    assert written(-1.25, 1) == "−1.2"  # half to even, as numpy rounds
    assert written(-np.inf, 3) == "−∞"
    assert written(np.array([1.0, -2.0]), 0).tolist() == ["1", "−2"]


def test_the_part_of_a_head_is_dashed_where_heads_are_joined():
    figure = walk_stage(HEADS, "concat", 5, 1, 1)
    joined, _, _ = maps(figure)
    dashed = {
        s.xref: (s.x0, s.x1, s.y0, s.y1) for s in figure.layout.shapes if s.line.dash == "dash"
    }
    assert dashed == {"x": (20.5, 24.5, 0.5, 8.5), "x2": (0.5, 16.5, 20.5, 24.5)}
    np.testing.assert_array_equal(np.asarray(joined.z)[:, 20:24], HEADS.attention.output[5])
    assert not [s for s in drawn("plain", "concat").layout.shapes if s.line.dash == "dash"]
    assert "Z<sub>7</sub>" in figure.layout.annotations[0].text


def test_panels_stand_side_by_side_for_the_script_that_stacks_them():
    """stack.js: each panel has axes of its own, all reach the same height, titles move along."""
    for name, stage in itertools.product(WALKS, STAGES):
        figure = drawn(name, stage)
        axes = [(t.xaxis or "x", t.yaxis or "y") for t in maps(figure)]
        assert len({x for x, _ in axes}) == len({y for _, y in axes}) == len(axes)
        spans = [figure.layout[f"xaxis{x[1:]}"].domain for x, _ in axes]
        assert spans[0][0] == 0
        assert all(a[1] < b[0] for a, b in itertools.pairwise(spans))
        assert spans[-1][1] <= 1
        assert all(figure.layout[f"yaxis{y[1:]}"].domain is None for _, y in axes)
        refs = {note.xref.split(" ")[0] for note in figure.layout.annotations}
        assert refs <= {x for x, _ in axes}
        barred = [t.showscale is not False for t in maps(figure)]
        assert barred == [False] * (len(axes) - 1) + [True]


def test_words_label_the_axes_and_the_table():
    figure = drawn("plain", "scores")
    assert list(figure.layout.xaxis3.ticktext) == list(PLAIN.words)
    assert list(figure.layout.yaxis.ticktext) == list(PLAIN.words)
    frames = tables(figure)
    scores = next(f for f in frames if any(c.startswith("S = ") for c in f.columns))
    row = scores[(scores["Query: name"] == "you") & (scores["Key: name"] == "help")]
    assert row["S = Q K⊤"].item() == pytest.approx(14.3667, abs=1e-4)
    assert len(table(figure)) == 8 * 16 * 2 + 64


def test_numbers_of_heads_count_from_zero():
    assert "Head 7" in drawn("heads", "scores").alt
    assert "Head" not in drawn("plain", "scores").alt


def test_basic_attention_is_nearly_the_identity():
    figure = walk_basic(PLAIN, 2, 3)
    x, scores, weights = maps(figure)
    np.testing.assert_array_equal(np.asarray(x.z), PLAIN.embeddings)
    np.testing.assert_array_equal(np.asarray(scores.z), PLAIN.basic.scores)
    np.testing.assert_array_equal(np.asarray(weights.z), PLAIN.basic.weights)
    assert scores.meta == weights.meta == "pick"
    assert "0.999" in figure.alt
    leaky = walk_basic(LEAKY, 1, 1)
    assert [over(leaky, trace)[0].fill for trace in maps(leaky)[1:]] == ["toself", "toself"]


def test_the_line_above_grows_in_the_lecture_hall():
    figure = drawn("plain", "scores", style=Style(scale=1.25))
    assert figure.layout.margin.t == ABOVE * 1.25


@pytest.mark.parametrize(
    "wrong",
    [("sums", 0, 1, 1), ("scores", 1, 1, 1), ("scores", -1, 1, 1), ("scores", 0, 0, 1),
     ("scores", 0, 1, 9)],
    ids=str,
)  # fmt: skip
def test_what_there_is_not(wrong):
    with pytest.raises(ValueError, match=r"^There is no .*\.$"):
        walk_stage(PLAIN, *wrong)


def test_parts_and_words_that_there_are_not():
    with pytest.raises(ValueError, match=r"part 'output'"):
        walk_stage(PLAIN, "project", 0, 1, 1, part="output")
    with pytest.raises(ValueError, match=r"no query 9"):
        walk_basic(PLAIN, 9, 1)
