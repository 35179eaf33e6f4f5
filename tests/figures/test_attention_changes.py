"""The switchboard and what it does; masks and one head under them."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from attention_drawings import HOSTILE, plainly
from gate_drawings import labels, sound

from seqviz.compute.attention.findings import Change, Map
from seqviz.figures.attention.changes import attention_mask, head_switches
from seqviz.figures.attention.examples import CANDIDATES, WORDS, change_of, map_of, weights_of
from seqviz.figures.grammar.style import LIGHT, Style
from seqviz.text import LANGUAGES, number

LANG = pytest.mark.parametrize("lang", LANGUAGES)


def said_of(candidates, probabilities) -> Change:
    """A decoder with two layers of two heads that might say these next."""
    found = change_of(2, 2, decoder=True)
    return replace(found, candidates=candidates, probabilities=probabilities)


def under(allowed, weights=None, pieces=None) -> Map:
    """One head under this mask."""
    count = len(allowed)
    weights = weights_of(count, count) if weights is None else weights
    found = map_of(tuple(pieces or ["t"] * count))
    return replace(found, allowed=allowed, weights=weights)


# --- heads ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("decoder", [False, True])
@pytest.mark.parametrize(("layers", "heads"), [(6, 12), (30, 9), (12, 12), (1, 1)])
def test_the_board_shows_who_is_off_where_a_click_meets_it(layers, heads, decoder):
    off = ((layers - 1, 0), (0, heads - 1))
    figure = head_switches(change_of(layers, heads, decoder=decoder), off)
    sound(figure)
    board = figure.data[0]
    across = layers > heads
    on = np.ones((layers, heads))
    for place in off:
        on[place] = 0
    z = np.asarray(board.z)
    np.testing.assert_array_equal(z.T if across else z, on)
    crosses = np.asarray(board.text)
    np.testing.assert_array_equal((crosses.T if across else crosses) == "×", on == 0)
    assert (board.meta, board.zmin, board.zmax) == ("pick", 0, 1)
    assert [color for _, color in board.colorscale] == [LIGHT.highlight, LIGHT.band]
    titles = (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text)
    assert titles == (("layer", "head") if across else ("head", "layer"))
    order = "layer %{x}, head %{y}" if across else "layer %{y}, head %{x}"
    assert board.hovertemplate.startswith(order)
    assert list(figure.layout.yaxis.range)[1] == -0.5
    assert f"{len(set(off))} of {layers * heads} heads" in figure.alt


def test_an_encoders_vectors():
    found = change_of()
    figure = head_switches(found, ())
    _, bars = figure.data
    np.testing.assert_array_equal(bars.x, found.moved)
    assert list(bars.y) == list(range(1, 9))
    assert list(figure.layout.yaxis2.ticktext) == list(WORDS)
    assert list(figure.layout.yaxis2.range) == [8.5, 0.5]
    assert figure.layout.xaxis2.range[1] > found.moved.max()
    assert WORDS[found.moved.argmax()] in figure.alt
    assert bars.hovertemplate == "%{y}: %{x:.4f}<extra></extra>"


@LANG
def test_a_decoders_next_token(lang):
    found, style = change_of(decoder=True), Style(lang=lang)
    figure = head_switches(found, ((1, 2),), style)
    _, before, now = figure.data
    np.testing.assert_array_equal(before.x, found.probabilities[0])
    np.testing.assert_array_equal(now.x, found.probabilities[1])
    assert (before.name, now.name) == (
        style.text("figure.heads_all_on"),
        style.text("figure.heads_now"),
    )
    assert before.marker.color != now.marker.color
    assert [plainly(t) for t in figure.layout.yaxis2.ticktext] == list(CANDIDATES)
    assert list(now.text) == [number(float(p)) for p in found.probabilities[1]]
    said = figure.alt
    for row in found.probabilities:
        assert number(row.max()) in said
        assert CANDIDATES[row.argmax()] in said


def test_small_probabilities_are_said_to_be_small():
    probabilities = np.array([[1 - 1e-9, 1e-9], [0.001, 0.00099]])
    figure = head_switches(said_of(("x", "y"), probabilities), ())
    assert list(figure.data[1].text) == ["1.00", "< 0.001"]
    assert list(figure.data[2].text) == [number(0.001), "< 0.001"]


def test_nothing_is_off_and_nothing_moves():
    figure = head_switches(replace(change_of(2, 3, ("a", "b")), moved=np.zeros(2)), ())
    sound(figure)
    low, high = figure.layout.xaxis2.range
    assert (low, high) == (0, pytest.approx(0.0105))
    assert "0 of 6" in figure.alt


def test_tokens_are_plain_text():
    count = len(HOSTILE)
    encoder = head_switches(change_of(2, 3, HOSTILE), ())
    assert [plainly(t) for t in encoder.layout.yaxis2.ticktext] == list(HOSTILE)
    decoder = head_switches(said_of(HOSTILE, np.full((2, count), 1 / count)), ())
    shown = [plainly(t) for t in decoder.layout.yaxis2.ticktext]
    assert shown == ["⏎" if piece == "\n" else piece for piece in HOSTILE]
    mask = attention_mask(under(np.ones((count, count), bool), pieces=HOSTILE))
    for figure in (encoder, decoder, mask):
        sound(figure)
        axes = (figure.layout.xaxis, figure.layout.yaxis, figure.layout.yaxis2)
        ticks = [t for axis in axes for t in axis.ticktext or ()]
        assert not any("<" in tick or "%{" in tick for tick in ticks)
    for axis in (mask.layout.xaxis, mask.layout.yaxis, mask.layout.xaxis2, mask.layout.yaxis2):
        assert [plainly(t) for t in axis.ticktext] == list(HOSTILE)


def test_hover_on_a_long_text_has_its_tokens():
    pieces = tuple(f"<{i}>" for i in range(60))
    names = head_switches(change_of(2, 3, pieces), ()).layout.yaxis2.labelalias
    assert {k: plainly(v) for k, v in names.items()} == {
        str(i + 1): piece for i, piece in enumerate(pieces)
    }


# --- masks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 8, 16, 17, 64, 65])
def test_the_mask_and_the_head_under_it(count):
    allowed = np.random.RandomState(0).uniform(size=(count, count)) < 0.6
    weights = weights_of(count, count)
    figure = attention_mask(under(allowed, weights))
    sound(figure)
    mask, heat = figure.data
    np.testing.assert_array_equal(np.asarray(mask.z), allowed)
    z = np.asarray(heat.z)
    np.testing.assert_array_equal(np.isnan(z), ~allowed)
    np.testing.assert_array_equal(z[allowed], weights[allowed])
    assert (mask.meta, heat.meta) == ("pick", None)  # a click in the mask, not in the head
    assert (mask.zmin, mask.zmax, heat.zmin, heat.zmax) == (0, 1, 0, 1)
    assert [color for _, color in mask.colorscale] == [LIGHT.baseline, LIGHT.band]
    if count <= 16:
        np.testing.assert_array_equal(np.asarray(mask.text) == "×", ~allowed)
    assert (mask.text is not None) == (count <= 16)
    assert heat.texttemplate is None
    for axis in (figure.layout.yaxis, figure.layout.yaxis2):
        assert list(axis.range) == [count + 0.5, 0.5]
    assert figure.layout.xaxis.domain[1] < figure.layout.xaxis2.domain[0]


def test_x_is_the_key_and_y_the_query():
    allowed = np.ones((3, 3), bool)
    allowed[0, 2] = False  # the first query may not look at the third key
    figure = attention_mask(under(allowed))
    assert figure.data[0].z[0][2] == 0
    assert np.isnan(np.asarray(figure.data[1].z)[0, 2])
    keys, queries = (Style().text(f"figure.{name}") for name in ("keys", "queries"))
    assert figure.layout.xaxis.title.text == figure.layout.xaxis2.title.text == keys
    assert figure.layout.yaxis.title.text == queries
    assert figure.data[0].hovertemplate.startswith("“%{y}” → “%{x}”")


@LANG
def test_titles_and_description(lang):
    style = Style(lang=lang)
    figure = attention_mask(map_of(causal=True), style)
    wanted = [style.text("figure.who_may"), style.text("figure.head_label", layer=2, head=3)]
    assert labels(figure) == wanted
    assert "56" in figure.alt  # 36 of 64 cells


def test_queries_that_may_look_nowhere_are_counted():
    allowed = np.ones((4, 4), bool)
    allowed[[1, 3]] = False
    figure = attention_mask(under(allowed, np.where(allowed, weights_of(4, 4), 0)))
    sound(figure)
    assert "2 queries" in figure.alt


def test_512_tokens_are_quick_and_typed():
    pieces = ("cat",) * 512
    allowed, weights = np.tri(512, dtype=bool), weights_of(512, 512)
    found = under(allowed, weights, pieces)
    start = time.process_time()
    written = attention_mask(found).to_json()
    board = head_switches(change_of(30, 9, pieces), ((29, 8),)).to_json()
    assert time.process_time() - start < 1  # measured: 0.1 s
    # a byte and a float32 a cell, in base64 (4/3)
    assert len(written) < 1.4 * 5 * 512 * 512
    assert len(board) < 100_000
