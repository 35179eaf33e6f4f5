"""The walk-through drawn: what is in the arrays is in the panels, lit where it was asked for."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from seqviz.compute.attention.hand_set import FEATURES, walk_features
from seqviz.compute.attention.walkthrough import STAGES, walk
from seqviz.core.i18n import number
from seqviz.core.units import unbroken
from seqviz.figures.attention.steps import PROJECTIONS, walk_basic, walk_stage
from seqviz.figures.attention.walk_matrices import ABOVE, written
from seqviz.plotting.style import LIGHT, Style
from seqviz.plotting.table import table, tables
from tests.figures.markup_samples import box
from tests.figures.trace_helpers import said, sound

PLAIN = walk()
HEADS = walk(heads=8, d_k=4, causal=True)
LEAKY = walk(causal=True, operator="multiply")
WIDE = walk(heads=4, d_k=64, scale="none", temperature=0.5)
NARROW = walk(d_k=1, scale="d", temperature=2.0)
WALKS = {"plain": PLAIN, "heads": HEADS, "leaky": LEAKY, "wide": WIDE, "narrow": NARROW}
EVERY = pytest.mark.parametrize(("name", "stage"), list(itertools.product(WALKS, STAGES)))


def drawn(name: str, stage: str, query: int = 2, key: int = 3, style: Style = Style()):  # noqa: B008
    result = WALKS[name]
    return walk_stage(result, stage, result.heads - 1, query, key, style=style)


def maps(figure) -> list:
    return [trace for trace in figure.data if trace.type == "heatmap"]


def over(figure, trace) -> list:
    """What is drawn over a map: hatches and marks."""
    return [t for t in figure.data if t.type == "scatter" and t.xaxis == trace.xaxis]


def lit(figure, trace) -> list[tuple[float, ...]]:
    """Highlighted rectangles on the axes of a trace, whole lines only."""
    return [
        box(shape)
        for shape in figure.layout.shapes
        if shape.xref == (trace.xaxis or "x")
        and (shape.line.color, shape.line.dash) == (LIGHT.highlight, None)
    ]


def expected(name: str, stage: str) -> list[tuple[str, np.ndarray]]:
    """The matrices of a stage from left to right: "weights", "pairs" of words, or "vectors"."""
    w = WALKS[name]
    head, result = w.heads - 1, w.attention
    closed = ~np.tri(8, dtype=bool) if w.causal else np.zeros((8, 8), bool)
    mask = np.where(closed, -np.inf, 0.0) if w.operator == "add" else 1.0 - closed
    scores, scaled, masked = (("pairs", z[head]) for z in (result.scores, result.scaled,
                                                           result.masked))  # fmt: skip
    weights = "weights", result.weights[head]
    vectors = {
        "embed": [w.ids[:, None], w.embeddings],
        "project": [w.embeddings, w.weights.query[head], w.vectors.query[head]],
        "scores": [w.vectors.query[head], w.vectors.key[head]],
        "sum": [w.vectors.value[head], result.output[head]],
        "concat": [w.concatenated, w.output_weight, w.combined],
    }
    others = {
        "scores": [scores],
        "scale": [scores, scaled],
        "mask": [scaled, ("pairs", mask), masked],
        "softmax": [masked, weights],
    }
    plain = [("vectors", z) for z in vectors.get(stage, ())]
    return [weights, *plain] if stage == "sum" else [*plain, *others.get(stage, ())]


@EVERY
def test_walk_stage_panels_match_stage_arrays(name, stage):
    """A click on words against words gives key and query."""
    figure = drawn(name, stage)
    sound(figure)
    assert not re.search(r"[<>{}]|figure\.", figure.alt)
    panels = expected(name, stage)
    for trace, (kind, array) in zip(maps(figure), panels, strict=True):
        np.testing.assert_array_equal(np.asarray(trace.z), array)
        assert list(trace.x) == list(range(1, array.shape[1] + 1))
        assert list(trace.y) == list(range(1, array.shape[0] + 1))
        assert (trace.meta == "pick") == (kind != "vectors"), trace.name
        if kind == "weights":
            assert (trace.zmin, trace.zmax) == (0, 1)
        elif len({color for _, color in trace.colorscale}) > 1:
            assert trace.zmin == -trace.zmax
            assert trace.zmax >= np.abs(array[np.isfinite(array)]).max()


@EVERY
def test_walk_stage_panels_have_own_axes_side_by_side(name, stage):
    """responsive_panels.js: each panel has axes of its own, all one height, titles move along."""
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


@pytest.mark.parametrize(
    ("name", "stage", "wanted"),
    [
        ("plain", "embed", "Word 2, “you”, has the id 7; its vector is x2"),
        ("plain", "project", unbroken("q2 = x2 WQ: 16 entries in, 16 out")),
        ("plain", "scores", unbroken("q2 · k3 = 14.3667")),
        ("plain", "scale", unbroken("14.3667 / 4 = 3.5917")),
        ("narrow", "scale", unbroken("3.6018 / (4 × 2) = 0.4502")),
        ("plain", "mask", "No mask"),
        ("heads", "mask", "“you” may not see “help”: "),
        ("leaky", "mask", unbroken("“you” may not see “help”: 3.59 × 0 = 0.00")),
        (
            "plain",
            "softmax",
            unbroken(f"α2,3 = {number(4.3696e-5)}; row 2 sums to 1.00, column 3 to "),
        ),
        ("plain", "sum", unbroken("z2 = 0.856 v5 + 0.140 v6 + 0.00372 v4 + …")),
        ("heads", "sum", unbroken("Head 7: z2 = 0.990 v2")),
        ("heads", "concat", unbroken("8 × 4 = 32 entries in, 16 out")),
    ],
)
def test_walk_stage_alt_states_expected_numbers(name, stage, wanted):
    assert wanted in drawn(name, stage).alt
    assert ("Head 7" in drawn(name, stage).alt) == (name == "heads")


def test_walk_stage_softmax_shows_row_and_column_sums():
    figure = drawn("plain", "softmax")
    weights = PLAIN.attention.weights[0]
    notes = {(n.x, n.y): n.text for n in figure.layout.annotations}
    assert [notes[9, row] for row in range(1, 9)] == ["1.00"] * 8
    columns = [f"{total:.2f}" for total in weights.sum(axis=0)]
    assert [notes[column, 9] for column in range(1, 9)] == columns
    assert notes[9, 9] == "Σ"
    assert columns[2] in figure.layout.title.text


@pytest.mark.parametrize(("query", "key"), [(1, 8), (5, 5), (8, 1)])
def test_walk_stage_highlights_row_and_column(query, key):
    row, column = (0.5, 8.5, query - 0.5, query + 0.5), (key - 0.5, key + 0.5, 0.5, 8.5)
    of_query, of_key = ((0.5, 16.5, position - 0.5, position + 0.5) for position in (query, key))
    expected = {
        "scores": [{of_query}, {of_key}, {row, column}],
        "scale": 2 * [{row, column}],
        "mask": 3 * [{row, column}],
        "softmax": 2 * [{row, column}],
        "sum": [{row, column}, {of_key}, {of_query}],
    }
    for stage, positions in expected.items():
        figure = drawn("plain", stage, query, key)
        assert [set(lit(figure, trace)) for trace in maps(figure)] == positions, stage


@pytest.mark.parametrize("part", PROJECTIONS)
def test_walk_stage_draws_each_projection(part):
    figure = walk_stage(HEADS, "project", 3, 2, 5, part=part)
    x, weight, result = maps(figure)
    np.testing.assert_array_equal(np.asarray(weight.z), getattr(HEADS.weights, part)[3])
    vectors = getattr(HEADS.vectors, part)
    np.testing.assert_array_equal(np.asarray(result.z), vectors[3])
    row = 2 if part == "query" else 5
    assert lit(figure, x)[0][2:] == lit(figure, result)[0][2:] == (row - 0.5, row + 0.5)
    letter = {"query": "Q", "key": "K", "value": "V"}[part]
    assert result.name == unbroken(f"{letter} = X W{letter}")


def test_walk_stage_hatches_masked_cells():
    later = {(c + 1, r + 1) for r, c in zip(*np.nonzero(~np.tri(8, dtype=bool)), strict=True)}
    for name, written_in_cell in (("heads", ""), ("leaky", "0.00")):
        figure = drawn(name, "mask")
        result = maps(figure)[-1]
        assert {result.text[y - 1][x - 1] for x, y in later} == {written_in_cell}
        marks = [t for t in over(figure, result) if t.mode == "text"]
        assert len(marks) == (name == "heads")  # −∞ is not written twice
        for marked in marks:
            assert set(zip(marked.x, marked.y, strict=True)) == later
            assert set(marked.text) == {"−∞"}
        (hatch,) = [t for t in over(figure, result) if t.fill == "toself"]
        assert hatch.fillpattern.shape == "/"
        corners = list(zip(hatch.x, hatch.y, strict=True))[::5]
        assert {(x + 0.5, y + 0.5) for x, y in corners} == later
    assert not [t for t in drawn("plain", "mask").data if t.type == "scatter"]


def test_walk_stage_hover_shows_minus_infinity_on_masked_cell():
    result = maps(drawn("heads", "mask"))[-1]
    assert result.hovertext[0][1] == "−∞"
    assert result.hovertext[1][0] == written(HEADS.attention.masked[7, 1, 0], 4)
    assert "%{hovertext}" in result.hovertemplate


def test_walk_stage_scaled_scores_share_color_range_with_unscaled():
    before, after = maps(drawn("plain", "scale"))
    assert before.zmax == after.zmax


def test_walk_stage_cell_numbers_match_array():
    """Two decimals, one from 100 on; none where the cells are too narrow."""
    scores = maps(drawn("plain", "scores"))[-1].text
    assert list(scores[1]) == [
        "−25.16", "9.36", "14.37", "32.15", "53.90", "46.66", "−1.21", "−32.94",
    ]  # fmt: skip
    large = np.asarray(maps(drawn("wide", "scores"))[-1].text)
    assert all(re.fullmatch(r"−?\d+\.\d", cell) for cell in large.ravel())
    assert maps(drawn("plain", "sum"))[-1].texttemplate is None
    assert maps(drawn("heads", "sum"))[-1].texttemplate == "%{text}"


def test_written_formats_numbers():
    assert written(-0.001, 2) == "0.00"  # no minus before a zero
    assert written(-1.25, 1) == "−1.2"  # half to even, as numpy rounds
    assert written(-np.inf, 3) == "−∞"
    assert written(np.array([1.0, -2.0]), 0).tolist() == ["1", "−2"]


def test_walk_stage_concat_outlines_head_part_with_dashes():
    figure = walk_stage(HEADS, "concat", 5, 1, 1)
    joined, _, _ = maps(figure)
    dashed = {s.xref: box(s) for s in figure.layout.shapes if s.line.dash == "dash"}
    assert dashed == {"x": (20.5, 24.5, 0.5, 8.5), "x2": (0.5, 16.5, 20.5, 24.5)}
    np.testing.assert_array_equal(np.asarray(joined.z)[:, 20:24], HEADS.attention.output[5])
    assert not [s for s in drawn("plain", "concat").layout.shapes if s.line.dash == "dash"]
    assert said(figure)[0] == "[Z<sub>0</sub> … Z<sub>7</sub>]"


def test_walk_stage_labels_axes_and_table_with_words():
    figure = drawn("plain", "scores")
    assert list(figure.layout.xaxis3.ticktext) == list(PLAIN.words)
    assert list(figure.layout.yaxis.ticktext) == list(PLAIN.words)
    scores = next(f for f in tables(figure) if any(c.startswith("S = ") for c in f.columns))
    row = scores[(scores["Query: name"] == "you") & (scores["Key: name"] == "help")]
    assert row["S = Q K⊤"].item() == pytest.approx(14.3667, abs=1e-4)
    assert len(table(figure)) == 8 * 16 * 2 + 64


def test_walk_basic_weights_are_nearly_identity():
    result, figure = PLAIN.basic, walk_basic(PLAIN, 2, 3)
    for trace, array in zip(
        maps(figure), (PLAIN.embeddings, result.scores, result.weights), strict=True
    ):
        np.testing.assert_array_equal(np.asarray(trace.z), array)
    assert [trace.meta for trace in maps(figure)] == [None, "pick", "pick"]
    assert "“you” gives itself the weight 0.999" in figure.alt
    leaky = walk_basic(LEAKY, 1, 1)
    assert [over(leaky, trace)[0].fill for trace in maps(leaky)[1:]] == ["toself", "toself"]


def test_walk_stage_title_margin_scales_with_style():
    figure = drawn("plain", "scores", style=Style(scale=1.25))
    assert figure.layout.margin.t == ABOVE * 1.25


@pytest.mark.parametrize(
    ("draw", "wrong"),
    [
        (walk_stage, ("sums", 0, 1, 1)),
        (walk_stage, ("scores", 1, 1, 1)),
        (walk_stage, ("scores", -1, 1, 1)),
        (walk_stage, ("scores", 0, 0, 1)),
        (walk_stage, ("scores", 0, 1, 9)),
        (walk_stage, ("project", 0, 1, 1, "output")),
        (walk_basic, (9, 1)),
        (walk_basic, (1, 0)),
    ],
)
def test_walk_stage_and_basic_reject_invalid_arguments(draw, wrong):
    with pytest.raises(ValueError, match=r"^There is no .*\.$"):
        draw(PLAIN, *wrong)


# --- readable features ---------------------------------------------------------------------------


def test_features_name_axes_and_fill_cells_with_whole_numbers():
    names = [Style().text(f"figure.walk_feature_{name}") for name in FEATURES]
    figure = walk_stage(walk_features(), "project", 0, 7, 2)
    sound(figure)
    vectors, weights, queries = maps(figure)
    for trace in (vectors, weights, queries):
        axis = figure.layout[f"xaxis{(trace.xaxis or 'x')[1:]}"]
        assert list(axis.ticktext) == names
        assert {text for row in trace.text for text in row} <= {"0", "1", "2", "6"}


def test_scores_of_features_slide_a_row_over_columns():
    """Row of Q, column of K⊤, their products, and the score: each is outlined and adds up."""
    result = walk_features()
    for query, key in ((7, 2), (7, 5), (3, 7)):
        head = 0 if query == 7 else 1
        figure = walk_stage(result, "scores", head, query, key)
        sound(figure)
        q, k, products, scores = maps(figure)
        assert lit(figure, q) == [(0.5, 4.5, query - 0.5, query + 0.5)]
        assert lit(figure, k) == [(key - 0.5, key + 0.5, 0.5, 4.5)]
        row, column = np.asarray(q.z)[query - 1], np.asarray(k.z)[:, key - 1]
        np.testing.assert_array_equal(np.asarray(products.z).ravel(), row * column)
        score = np.asarray(scores.z)[query - 1, key - 1]
        assert np.asarray(products.z).sum() == score > 0
        assert figure.alt.endswith(f"=\N{NO-BREAK SPACE}{score:g}.")


def test_wide_matrices_of_trained_layer_have_no_numbers_in_cells():
    import dataclasses

    wide = dataclasses.replace(walk_features(), features=(), origin="trained")
    wide = dataclasses.replace(wide, words=wide.words * 2, attention=type(wide.attention)(
        *(np.tile(z, (1, 2, 2)) if z.shape[-1] == 8 else np.tile(z, (1, 2, 1))
          for z in vars(wide.attention).values())))  # fmt: skip
    (_, scaled) = maps(walk_stage(wide, "scale", 0, 7, 2))
    assert scaled.text is None
