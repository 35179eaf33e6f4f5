"""One head from the inside: products that sum to scores, and the way from scores to weights."""

from __future__ import annotations

import itertools
import json
import time

import numpy as np
import pytest
from attention_drawings import HOSTILE, plainly
from gate_drawings import labels, sound

from seqviz.figures.attention.examples import WORDS, parts_of
from seqviz.figures.attention.parts import query_key_products, scores_to_weights
from seqviz.figures.grammar.style import LIGHT, Style
from seqviz.text import LANGUAGES, number

LANG = pytest.mark.parametrize("lang", LANGUAGES)
BOTH = pytest.mark.parametrize("draw", [query_key_products, scores_to_weights])


def array(values) -> np.ndarray:
    return np.asarray(values, np.float64)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("query", "key"), [(1, 1), (3, 5), (8, 2)])
def test_products_are_those_of_the_vectors(query, key, causal):
    found = parts_of(causal=causal)
    figure = query_key_products(found, query, key)
    sound(figure)
    stacked, products, scores, shares = figure.data
    np.testing.assert_array_equal(array(stacked.z)[0], found.queries[query - 1])
    np.testing.assert_array_equal(array(stacked.z)[1:], found.keys)
    assert list(stacked.y) == list(range(9))  # the query's own row is 0
    wanted = found.queries[query - 1].astype(float) * found.keys.astype(float)
    np.testing.assert_array_equal(array(products.z), wanted.astype(np.float32))
    # float32 entries of size 1: a row of products sums to the score
    np.testing.assert_allclose(array(products.z).sum(1), found.scores[query - 1], 1e-5, 1e-5)
    open_to = found.allowed[query - 1]
    for bars, values in ((scores, found.scaled), (shares, found.weights)):
        assert bars.orientation == "h"
        assert list(bars.y) == list(range(1, 9))
        np.testing.assert_array_equal(array(bars.x)[open_to], values[query - 1][open_to])
        assert np.isnan(array(bars.x)[~open_to]).all()
        assert [c == LIGHT.highlight for c in bars.marker.color] == [k == key for k in range(1, 9)]
    assert [trace.meta for trace in figure.data] == ["pick", "pick", None, None]


def test_signed_colors_are_symmetric_about_zero():
    stacked, products, *_ = query_key_products(parts_of(), 3, 5).data
    for heat in (stacked, products):
        assert heat.zmax == -heat.zmin > 0
        inside = np.abs(array(heat.z)) <= heat.zmax
        assert inside.mean() > 0.98  # one entry that runs away does not take the others' color


def test_the_row_of_the_key_is_outlined_on_both_maps():
    figure = query_key_products(parts_of(), 3, 5)
    rows = [s for s in figure.layout.shapes if s.type == "rect"]
    assert [(s.xref, s.yref) for s in rows] == [("x domain", "y"), ("x2 domain", "y2")]
    assert all((s.y0, s.y1) == (4.5, 5.5) for s in rows)
    (line,) = [s for s in figure.layout.shapes if s.type == "line"]
    assert line.y0 == line.y1 == 0.5  # between the query and the keys
    for end in ("", "2", "3", "4"):
        assert list(figure.layout[f"yaxis{end}"].range) == [8.5, -0.5]


@LANG
def test_panels_have_titles_and_descriptions_the_numbers(lang):
    found, style = parts_of(), Style(lang=lang)
    figure = query_key_products(found, 3, 5, style)
    names = [style.text(f"figure.parts_{p}") for p in ("keys", "products", "scaled", "weights")]
    assert labels(figure) == names
    said = figure.alt
    for value in (found.scores[2, 4], found.scaled[2, 4], found.weights[2, 4]):
        assert number(float(value)) in said
    chain = scores_to_weights(found, 3, 5, style)
    stages = [style.text(f"figure.parts_{p}") for p in ("scores", "scaled", "masked", "weights")]
    assert [words for words in labels(chain) if words in stages] == stages
    assert number(float(found.scores[2, 4])) in chain.alt
    assert number(float(found.weights[2].max())) in chain.alt


@pytest.mark.parametrize("causal", [False, True])
def test_the_chain_from_scores_to_weights(causal):
    found = parts_of(causal=causal)
    figure = scores_to_weights(found, 3, 2)
    sound(figure)
    scores, scaled, masked, weights = (array(trace.y) for trace in figure.data)
    np.testing.assert_array_equal(scores, found.scores[2])
    np.testing.assert_array_equal(scaled, found.scaled[2])
    np.testing.assert_array_equal(weights, found.weights[2])
    np.testing.assert_array_equal(np.isnan(masked), ~found.allowed[2])
    np.testing.assert_array_equal(masked[found.allowed[2]], scaled[found.allowed[2]])
    # from the drawn numbers alone: float32 in, so 1e-6
    np.testing.assert_allclose(scaled, scores / np.sqrt(8), 0, 1e-6)
    e = np.where(np.isnan(masked), 0, np.exp(np.nan_to_num(masked)))
    np.testing.assert_allclose(weights, e / e.sum(), 0, 1e-6)
    assert all(trace.meta == "pick" for trace in figure.data)
    assert [trace.yaxis or "y" for trace in figure.data] == ["y", "y2", "y3", "y4"]
    tops = [figure.layout[f"yaxis{end}"].domain for end in ("", "2", "3", "4")]
    assert all(upper[0] > lower[1] for upper, lower in itertools.pairwise(tops))
    forbidden = [note for note in figure.layout.annotations if note.text == "−∞"]
    assert [note.x for note in forbidden] == ([4, 5, 6, 7, 8] if causal else [])
    assert {note.yref for note in forbidden} <= {"y3"}


def test_bars_fit_into_their_panels():
    figure = scores_to_weights(parts_of(causal=True), 6, 2)
    for trace in figure.data:
        end = (trace.yaxis or "y")[1:]
        low, high = figure.layout[f"yaxis{end}"].range
        values = array(trace.y)[np.isfinite(array(trace.y))]
        assert low <= min(0, values.min())
        assert high > max(0, values.max())
    figure = query_key_products(parts_of(), 6, 2)
    for trace in figure.data[2:]:
        low, high = figure.layout[f"xaxis{trace.xaxis[1:]}"].range
        assert low <= min(0, array(trace.x).min())
        assert high > max(0, array(trace.x).max())


@BOTH
def test_a_key_that_is_not_allowed(draw):
    figure = draw(parts_of(causal=True), 2, 7)
    sound(figure)
    assert "–" in figure.alt or "weight 0" in figure.alt


def test_tokens_are_plain_text():
    found = parts_of(pieces=HOSTILE)
    for query in range(1, len(HOSTILE) + 1):
        figure = query_key_products(found, query, 1)
        first, *others = figure.layout.yaxis.ticktext
        assert plainly(first.removeprefix("<b>").removesuffix("</b> q")) == HOSTILE[query - 1]
        assert [plainly(words) for words in others] == list(HOSTILE)
        assert not any("<" in words or "%{" in words for words in others)
        chain = scores_to_weights(found, query, 1)
        assert [plainly(words) for words in chain.layout.xaxis.ticktext] == list(HOSTILE)
        headline = labels(chain)[-1]
        assert "<" not in headline
        assert "%{" not in headline
        assert f"“{HOSTILE[query - 1]}”" in plainly(headline)
        sound(chain)


def test_hover_has_the_token_in_short_and_in_long_texts():
    for count in (24, 25, 60):
        pieces = tuple(f"<{i}>" for i in range(count))
        figure = query_key_products(parts_of(pieces=pieces), 3, 5)
        axis = figure.layout.yaxis2
        if count <= 24:
            shown = dict(zip(axis.tickvals, axis.ticktext, strict=True))
            assert [plainly(shown[place]) for place in range(1, count + 1)] == list(pieces)
            continue
        named = {place: plainly(name) for place, name in axis.labelalias.items()}
        assert named == {str(i + 1): piece for i, piece in enumerate(pieces)}
        # A tick on a row itself would show its number on hover in place of its token.
        assert not np.isin(axis.tickvals[1:], np.arange(count + 1)).any()
        assert plainly(axis.ticktext[0]) == "<b><2></b> q"
    assert figure.data[1].hovertemplate.startswith("“%{y}”, entry %{x}: %{z:.4f}")


@BOTH
@pytest.mark.parametrize(("count", "d_k"), [(1, 1), (1, 64), (2, 1), (2, 8), (17, 64)])
def test_any_size(draw, count, d_k):
    found = parts_of(pieces=WORDS[:1] * count, d_k=d_k)
    sound(draw(found, 99, 99))  # beyond the last is the last


def test_entries_are_counted_from_one():
    for d_k in (1, 2, 3, 64):
        ticks = query_key_products(parts_of(d_k=d_k), 1, 1).layout.xaxis.tickvals
        assert all(1 <= tick <= d_k for tick in ticks)
        assert {1, d_k} <= set(ticks)


@BOTH
def test_512_tokens_are_quick_and_small(draw):
    found = parts_of(pieces=("cat",) * 512, d_k=64, causal=True)
    start = time.process_time()
    written = draw(found, 400, 300).to_json()
    assert time.process_time() - start < 1  # measured: 0.1 s
    assert len(written) < 600_000
    json.loads(written)
