"""One head from the inside: products that sum to scores, and the way from scores to weights."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from seqviz.core.i18n import LANGUAGES
from seqviz.figures.attention.inside_head import query_key_products, scores_to_weights
from seqviz.plotting.style import LIGHT, Style
from testing.figure_examples.attention import WORDS, parts_of
from tests.figures.trace_helpers import said, sound

BOTH = pytest.mark.parametrize("draw", [query_key_products, scores_to_weights])


def array(values) -> np.ndarray:
    return np.asarray(values, np.float64)


def fits(values, low, high) -> bool:
    """Bars have room, those below zero as well."""
    finite = values[np.isfinite(values)]
    return low <= min(0, finite.min()) and high > max(0, finite.max())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("query", "key"), [(1, 1), (3, 5), (8, 2)])
def test_products_match_query_and_key_vectors(query, key, causal):
    head_parts = parts_of(causal=causal)
    figure = query_key_products(head_parts, query, key)
    sound(figure)
    stacked, products, scores, shares = figure.data
    np.testing.assert_array_equal(array(stacked.z)[0], head_parts.queries[query - 1])
    np.testing.assert_array_equal(array(stacked.z)[1:], head_parts.keys)
    assert list(stacked.y) == list(range(9))  # the query's own row is 0
    expected = head_parts.queries[query - 1].astype(float) * head_parts.keys.astype(float)
    np.testing.assert_array_equal(array(products.z), expected.astype(np.float32))
    # float32 entries of size 1: a row of products sums to the score
    np.testing.assert_allclose(array(products.z).sum(1), head_parts.scores[query - 1], 1e-5, 1e-5)
    for heat in (stacked, products):
        assert heat.zmax == -heat.zmin > 0
        # one entry that runs away does not take the others' color
        assert (np.abs(array(heat.z)) <= heat.zmax).mean() > 0.98
    for bars, values in ((scores, head_parts.scaled), (shares, head_parts.weights)):
        assert bars.orientation == "h"
        assert list(bars.y) == list(range(1, 9))
        expected = np.where(head_parts.allowed, values, np.nan)[query - 1]
        np.testing.assert_array_equal(array(bars.x), expected)
        assert [c == LIGHT.highlight for c in bars.marker.color] == [k == key for k in range(1, 9)]
        assert fits(array(bars.x), *figure.layout[f"xaxis{bars.xaxis[1:]}"].range)
    assert [trace.meta for trace in figure.data] == ["pick", "pick", None, None]
    assert products.hovertemplate.startswith("“%{y}”, entry %{x}: %{z:.4f}")


def test_products_outline_key_row_on_both_maps():
    figure = query_key_products(parts_of(), 3, 5)
    rows = [s for s in figure.layout.shapes if s.type == "rect"]
    assert [(s.xref, s.yref) for s in rows] == [("x domain", "y"), ("x2 domain", "y2")]
    assert all((s.y0, s.y1) == (4.5, 5.5) for s in rows)
    (line,) = [s for s in figure.layout.shapes if s.type == "line"]
    assert line.y0 == line.y1 == 0.5  # between the query and the keys
    for end in ("", "2", "3", "4"):
        assert list(figure.layout[f"yaxis{end}"].range) == [8.5, -0.5]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_products_and_chain_translate_titles_and_alt(lang):
    result, style = parts_of(), Style(lang=lang)
    score, scaled, weight, maximum = (
        float(value) for value in (result.scores[2, 4], result.scaled[2, 4],
                                           result.weights[2, 4], result.weights[2].max())
    )  # fmt: skip
    same = {"query": WORDS[2], "key": WORDS[4], "score": score, "scaled": scaled, "weight": weight}
    figure = query_key_products(result, 3, 5, style=style)
    names = [style.text(f"figure.parts_{p}") for p in ("keys", "products", "scaled", "weights")]
    assert said(figure) == names
    assert figure.alt == style.text("alt.products", d_k=8, **same)
    chain = scores_to_weights(result, 3, 5, style=style)
    stages = [style.text(f"figure.parts_{p}") for p in ("scores", "scaled", "masked", "weights")]
    assert said(chain) == [*stages, style.text("figure.of_query", query=WORDS[2], at=3)]
    best = WORDS[result.weights[2].argmax()]
    assert chain.alt == style.text("alt.chain", best=best, most=maximum, **same)


@pytest.mark.parametrize("causal", [False, True])
def test_chain_draws_scores_scaled_masked_and_weights(causal):
    head_parts = parts_of(causal=causal)
    figure = scores_to_weights(head_parts, 3, 2)
    sound(figure)
    scores, scaled, masked, weights = (array(trace.y) for trace in figure.data)
    np.testing.assert_array_equal(scores, head_parts.scores[2])
    np.testing.assert_array_equal(scaled, head_parts.scaled[2])
    np.testing.assert_array_equal(weights, head_parts.weights[2])
    np.testing.assert_array_equal(
        masked, np.where(head_parts.allowed, head_parts.scaled, np.nan)[2]
    )
    assert all(trace.meta == "pick" for trace in figure.data)
    assert [trace.yaxis or "y" for trace in figure.data] == ["y", "y2", "y3", "y4"]
    axes = [figure.layout[f"yaxis{end}"] for end in ("", "2", "3", "4")]
    assert all(upper.domain[0] > lower.domain[1] for upper, lower in itertools.pairwise(axes))
    for trace, axis in zip(figure.data, axes, strict=True):
        assert fits(array(trace.y), *axis.range)
        assert [c == LIGHT.highlight for c in trace.marker.color] == [k == 2 for k in range(1, 9)]
    forbidden = [note for note in figure.layout.annotations if note.text == "−∞"]
    assert [note.x for note in forbidden] == ([4, 5, 6, 7, 8] if causal else [])
    assert {note.yref for note in forbidden} <= {"y3"}


@BOTH
def test_products_and_chain_accept_masked_key(draw):
    figure = draw(parts_of(causal=True), 2, 7)
    sound(figure)
    assert "weight is –" in figure.alt or "weight 0" in figure.alt


@BOTH
@pytest.mark.parametrize(("count", "d_k"), [(1, 1), (1, 64), (2, 1), (16, 8), (17, 64)])
def test_products_and_chain_render_at_any_size(draw, count, d_k):
    figure = draw(parts_of(WORDS[:1] * count, d_k), 1, 1)
    sound(figure)
    assert (figure.data[-1].text is not None) == (count <= 16)  # numbers where they find room
    if draw is query_key_products:
        ticks = figure.layout.xaxis.tickvals
        assert (ticks[0], ticks[-1]) == (1, d_k)  # entries are counted from one
