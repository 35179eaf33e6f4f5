"""What switching heads off does; masks and one head under them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.core.i18n import LANGUAGES, number
from seqviz.figures.attention.changes import attention_mask, head_switches
from seqviz.plotting.style import LIGHT, Style
from testing.figure_examples.attention import CANDIDATES, WORDS, change_of, map_of, weights_of
from tests.figures.markup_samples import plainly
from tests.figures.trace_helpers import said, sound

LANG = pytest.mark.parametrize("lang", LANGUAGES)


def under(allowed, weights=None):
    """One head under this mask."""
    count = len(allowed)
    weights = weights_of(count, count) if weights is None else weights
    return replace(map_of(("t",) * count), allowed=allowed, weights=weights)


# --- heads ----------------------------------------------------------------------------------------


def test_head_switches_draw_vector_changes_of_encoder():
    change = change_of()
    figure = head_switches(change, ())
    _, bars = figure.data
    np.testing.assert_array_equal(bars.x, change.moved)
    assert list(bars.y) == list(range(1, 9))
    assert list(figure.layout.yaxis2.ticktext) == list(WORDS)
    assert list(figure.layout.yaxis2.range) == [8.5, 0.5]
    assert figure.layout.xaxis2.range[1] > change.moved.max()
    assert f"“{WORDS[change.moved.argmax()]}” moved furthest" in figure.alt
    assert bars.hovertemplate == "%{y}: %{x:.4f}<extra></extra>"
    still = head_switches(replace(change, moved=np.zeros(8)), ())
    assert list(still.layout.xaxis2.range) == [0, pytest.approx(0.0105)]


@LANG
def test_head_switches_draw_next_token_of_decoder(lang):
    result, style = change_of(decoder=True), Style(lang=lang)
    figure = head_switches(result, ((1, 2),), style=style)
    for bars, row, name in zip(
        figure.data[1:], result.probabilities, ("heads_all_on", "heads_now"), strict=True
    ):
        np.testing.assert_array_equal(bars.x, row)
        assert bars.name == style.text(f"figure.{name}")
        assert list(bars.text) == [number(float(p)) for p in row]
        assert number(row.max()) in figure.alt
        assert CANDIDATES[row.argmax()] in figure.alt
    assert [plainly(t) for t in figure.layout.yaxis2.ticktext] == list(CANDIDATES)


def test_head_switches_label_small_probabilities_as_below_limit():
    probabilities = np.array([[1 - 1e-9, 1e-9], [0.001, 0.00099]])
    change = replace(change_of(decoder=True), candidates=("x", "y"), probabilities=probabilities)
    _, before, now = head_switches(change, ()).data
    assert list(before.text) == ["1.00", "< 0.001"]
    assert list(now.text) == [number(0.001), "< 0.001"]


# --- masks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 16, 17, 64, 65])
def test_attention_mask_draws_mask_and_masked_head(count):
    allowed = np.random.RandomState(0).uniform(size=(count, count)) < 0.6
    weights = weights_of(count, count)
    figure = attention_mask(under(allowed, weights))
    sound(figure)
    mask, heat = figure.data
    np.testing.assert_array_equal(np.asarray(mask.z), allowed)
    np.testing.assert_array_equal(np.asarray(heat.z), np.where(allowed, weights, np.nan))
    assert (mask.meta, heat.meta) == ("pick", None)  # a click in the mask, not in the head
    assert (mask.zmin, mask.zmax, heat.zmin, heat.zmax) == (0, 1, 0, 1)
    assert [color for _, color in mask.colorscale] == [LIGHT.baseline, LIGHT.band]
    if count <= 16:
        np.testing.assert_array_equal(np.asarray(mask.text) == "×", ~allowed)
    assert (mask.text is not None) == (count <= 16)
    assert (mask.xgap, mask.ygap) == ((1, 1) if count <= 64 else (0, 0))
    assert heat.texttemplate is None
    for axis in (figure.layout.yaxis, figure.layout.yaxis2):
        assert list(axis.range) == [count + 0.5, 0.5]
    assert figure.layout.xaxis.domain[1] < figure.layout.xaxis2.domain[0]
    names = [figure.layout[key].title.text for key in ("xaxis", "xaxis2", "yaxis")]
    assert names == [Style().text(f"figure.{name}") for name in ("keys", "keys", "queries")]
    assert mask.hovertemplate.startswith("“%{y}” → “%{x}”")


@LANG
def test_attention_mask_translates_titles_and_alt(lang):
    style = Style(lang=lang)
    figure = attention_mask(map_of(causal=True), style)
    expected = [style.text("figure.who_may"), style.text("figure.head_label", layer=2, head=3)]
    assert said(figure) == expected
    assert figure.alt == style.text("alt.permissions", tokens=8, share=36 / 64, blind=0)
    allowed = np.ones((4, 4), bool)
    allowed[[1, 3]] = False
    figure = attention_mask(under(allowed, np.where(allowed, weights_of(4, 4), 0)), style)
    sound(figure)
    assert figure.alt == style.text("alt.permissions", tokens=4, share=0.5, blind=2)
