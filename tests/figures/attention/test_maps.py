"""The mosaic, read back from its pixels, single maps, and what all figures do with any text."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest

from seqviz.core.i18n import LANGUAGES, number
from seqviz.figures.attention.changes import attention_mask, head_switches
from seqviz.figures.attention.heads import head_names, heads_by_measure
from seqviz.figures.attention.inside_head import query_key_products, scores_to_weights
from seqviz.figures.attention.maps import attention_map, head_mosaic, rollout_map
from seqviz.plotting.axes import NAMED_ROWS
from seqviz.plotting.style import Style
from seqviz.plotting.weights_color import picture
from testing.figure_examples.attention import (
    change_of,
    map_of,
    mosaic_of,
    parts_of,
    weights_of,
)
from tests.figures.markup_samples import HOSTILE, box, plainly, unpacked
from tests.figures.trace_helpers import said, sound

LANG = pytest.mark.parametrize("lang", LANGUAGES)

# --- mosaic ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("layers", "heads"), [(6, 12), (30, 9), (1, 1), (2, 3), (3, 2)])
def test_mosaic_tile_matches_clicked_head(layers, heads):
    """From the pixels: the picture is laid over the axes, and each place holds its own head."""
    result, deep = mosaic_of(layers, heads), layers > heads
    figure = head_mosaic(result, 0, 0)
    (laid,) = figure.layout.images
    image = unpacked(laid.source)
    columns, rows = (layers, heads) if deep else (heads, layers)
    assert (laid.sizex, laid.sizey) == (columns, rows)
    assert (laid.xanchor, laid.yanchor, laid.sizing) == ("left", "top", "stretch")
    for x, y in itertools.product(range(columns), range(rows)):
        layer, head = (x, y) if deep else (y, x)
        # the pixels of the picture between x - 1/2 and x + 1/2 on the axis
        ends = [(x - laid.x - 0.5) / columns, (x - laid.x + 0.5) / columns]
        left, right = (round(end * image.shape[1]) for end in ends)
        ends = [(y - laid.y - 0.5) / rows, (y - laid.y + 0.5) / rows]
        top, bottom = (round(end * image.shape[0]) for end in ends)
        tile = image[max(top, 0) : bottom, max(left, 0) : right]
        expected = unpacked(picture(result.tiles[layer, head][None, None], 0, 56)[0])
        solid = tile[tile[..., 3].any(1)][:, tile[..., 3].any(0)]
        np.testing.assert_array_equal(solid, expected)


def test_mosaic_tile_has_even_gap():
    (laid,) = head_mosaic(mosaic_of(2, 3), 0, 0).layout.images
    image = unpacked(laid.source)
    half = 1 / (image.shape[1] / 3)  # one of two pixels of the gap, in tiles
    assert (laid.x, laid.y) == pytest.approx((-0.5 + half, -0.5 + half))
    clear = ~image[..., 3].any(0)
    assert clear.sum() == 2 * 3
    assert clear[-2:].all()


@LANG
def test_mosaic_title_hover_and_alt_describe_heads(lang):
    result, style = mosaic_of(5, 3), Style(lang=lang)
    entropy, distance = result.habits.entropy, result.habits.distance
    figure = head_mosaic(result, 2, 1, style)
    (words,) = said(figure)
    assert words.startswith(style.text("figure.head_label", layer=2, head=1))
    bits = style.text("figure.bits", bits=float(entropy[2, 1]))
    assert words.endswith(bits)  # and nothing of a reduction
    grid = figure.data[0]
    assert grid.hovertemplate == "%{text}<extra></extra>"
    for layer, head in itertools.product(range(5), range(3)):
        over = grid.text[head][layer]  # layers across
        assert "%{" not in over
        for part in (layer, head, *(number(float(v[layer, head])) for v in (entropy, distance))):
            assert str(part) in over
    sharp, broad = (f"{flat // 3}.{flat % 3}" for flat in (entropy.argmin(), entropy.argmax()))
    ends = {"sharpest": sharp, "broadest": broad, "entropy": float(entropy[2, 1])}
    name = head_names(result.habits, style.text)[2][1]
    anchor = {"layers": 5, "heads": 3, "layer": 2, "head": 1}
    assert figure.alt == style.text("alt.mosaic", name=name, **anchor, **ends)
    long = head_mosaic(mosaic_of(2, 3, ("cat",) * 100), 0, 0, style)
    assert said(long)[0].endswith(style.text("figure.reduced", cells=100 / 51))


# --- one map --------------------------------------------------------------------------------------


def of(weights):
    """A map of these weights, all allowed."""
    return replace(map_of(("t",) * len(weights)), weights=weights)


@pytest.mark.parametrize("count", [1, 2, 12, 13, 64, 65])
def test_attention_map_cells_match_weights(count):
    weights = weights_of(count, count)
    figure = attention_map(of(weights), count, 1)
    (heat,) = figure.data
    np.testing.assert_array_equal(np.asarray(heat.z), weights)
    assert list(heat.x) == list(heat.y) == list(range(1, count + 1))
    assert list(figure.layout.yaxis.range) == [count + 0.5, 0.5]
    assert list(figure.layout.xaxis.range) == [0.5, count + 0.5]
    assert (heat.zmin, heat.zmax, heat.meta) == (0, 1, "pick")
    assert heat.hovertemplate == "“%{y}” → “%{x}”: %{z:.4f}<extra></extra>"
    assert (heat.texttemplate is not None) == (count <= 12)  # numbers where they find room
    assert bool(heat.xgap) == (count <= 64)
    row, cell = figure.layout.shapes
    assert box(row) == (0.5, count + 0.5, count - 0.5, count + 0.5)
    assert box(cell) == (0.5, 1.5, count - 0.5, count + 0.5)
    sound(figure)


def test_attention_map_has_keys_on_x_and_queries_on_y():
    weights = np.zeros((3, 3), np.float32)
    weights[0, 2] = 0.625  # the first query looks at the third key
    figure = attention_map(replace(map_of(tuple("abc")), weights=weights), 1, 3)
    titles = (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text)
    assert titles == (Style().text("figure.keys"), Style().text("figure.queries"))
    assert "“a” → “c”: <b>0.625</b>" in said(figure)[0]
    assert "“a” gives “c” the weight 0.625" in figure.alt
    assert "most at “c”, with 0.625" in figure.alt


@pytest.mark.parametrize(
    ("draw", "layer", "head", "title"),
    [
        (attention_map, 2, 3, "layer 2, head 3"),
        (attention_map, 0, 0, "layer 0, head 0"),
        (attention_map, 0, -1, "mean of the heads of layer 0"),
        (attention_map, -1, -1, "mean of all heads of all layers"),
        (rollout_map, 4, -1, "attention rollout up to layer 4"),
    ],
)
def test_attention_map_and_rollout_name_their_source(draw, layer, head, title):
    result = map_of(layer=layer, head=head)
    figure = draw(result, 3, 5)
    assert said(figure)[0].startswith(f"{title}<br>")
    assert figure.alt.startswith(title)
    np.testing.assert_array_equal(np.asarray(figure.data[0].z), result.weights)


def test_attention_map_leaves_masked_cells_blank():
    result = map_of(causal=True)
    figure = attention_map(result, 2, 5)
    (heat,) = figure.data
    np.testing.assert_array_equal(
        np.asarray(heat.z), np.where(np.tri(8, dtype=bool), result.weights, np.nan)
    )
    assert heat.hoverongaps is False
    assert np.isfinite(result.weights).all()  # the input is as it was
    assert ": <b>0</b>" in said(figure)[0]  # a cell that is not allowed has no weight


# --- every figure of a model's text ---------------------------------------------------------------

# Of some tokens: what is drawn, with a head, or with a query and a key.
FIGURES = {
    "mosaic": lambda of, *at: (head_mosaic, mosaic_of(3, 2, of), 2, 1),
    "ranked": lambda of, *at: (heads_by_measure, mosaic_of(3, 2, of), "previous", 2, 1),
    "map": lambda of, *at: (attention_map, map_of(of), *at),
    "rollout": lambda of, *at: (rollout_map, map_of(of), *at),
    "products": lambda of, *at: (query_key_products, parts_of(of), *at),
    "chain": lambda of, *at: (scores_to_weights, parts_of(of), *at),
    "switches": lambda of, *at: (head_switches, change_of(3, 2, of), ((2, 1),)),
    "next": lambda of, *at: (head_switches, replace(
        change_of(3, 2, of, decoder=True), candidates=of,
        probabilities=np.full((2, len(of)), 1 / len(of))), ((2, 1),)),
    "mask": lambda of, *at: (attention_mask, map_of(of)),
}  # fmt: skip
# Axes that have the tokens.
NAMED = {
    "map": ("xaxis", "yaxis"),
    "rollout": ("xaxis", "yaxis"),
    "products": ("yaxis", "yaxis2", "yaxis3", "yaxis4"),
    "chain": ("xaxis",),
    "switches": ("yaxis2",),
    "next": ("yaxis2",),
    "mask": ("xaxis", "yaxis", "xaxis2", "yaxis2"),
}
EVERY = pytest.mark.parametrize("name", FIGURES)
CHOSEN = pytest.mark.parametrize("name", ["map", "rollout", "products", "chain"])


def drawn(name, pieces, *at, style=Style()):  # noqa: B008
    draw, *args = FIGURES[name](tuple(pieces), *(at or (1, 1)))
    return draw(*args, style=style)


@EVERY
def test_figures_render_any_text_as_plain_text(name):
    for pieces, style in itertools.product(
        (("a",), ("a", "b"), HOSTILE), (Style(), Style(lang="zh"))
    ):
        figure = drawn(name, pieces, style=style)
        sound(figure)
        expected = [{"\n": "⏎"}.get(p, p) if name == "next" else p for p in pieces]
        for axis in (figure.layout[key] for key in NAMED.get(name, ())):
            assert not any("<" in t.removeprefix("<b>").replace("</b> q", "") or "%{" in t
                           for t in axis.ticktext)  # fmt: skip
            visible = [plainly(tick) for tick in axis.ticktext]
            assert visible[name == "products" :] == expected
        for words in said(figure):
            inside = words.replace("<b>", "", 1).replace("</b>", "", 1).replace("<br>", "", 1)
            # what Plotly would fill in or read as markup
            assert "%{" not in inside
            assert "<" not in inside.replace("<sub>", "").replace("</sub>", "")


@CHOSEN
def test_figures_quote_selected_tokens_verbatim(name):
    for at, piece in enumerate(HOSTILE, 1):
        figure = drawn(name, HOSTILE, at, at)
        assert f"“{piece}”" in figure.alt  # an attribute of HTML: not marked up
        there = figure.layout.yaxis.ticktext[0] if name == "products" else said(figure)[-1]
        quoted = f"<b>{piece}</b> q" if name == "products" else f"“{piece}”"
        assert quoted in plainly(there)


@CHOSEN
def test_figures_clamp_positions_beyond_text(name):
    assert drawn(name, HOSTILE, 99, 99).to_json() == drawn(name, HOSTILE, 11, 11).to_json()


@pytest.mark.parametrize("name", sorted(set(NAMED) - {"next"}))  # which has a dozen at most
def test_figures_show_tokens_on_hover_for_long_text(name):
    """A tick on a place itself would show its number on hover in place of its token."""
    for count in (NAMED_ROWS + 1, NAMED_ROWS + 50):
        pieces = [f"<{i}>" for i in range(count)]
        figure = drawn(name, pieces, 3, 5)
        for key in NAMED[name]:
            axis = figure.layout[key]
            if key.startswith("y"):
                named = {labelalia: plainly(word) for labelalia, word in axis.labelalias.items()}
                assert named == {str(i + 1): piece for i, piece in enumerate(pieces)}
                rows = axis.tickvals[name == "products" :]
                assert not np.isin(rows, np.arange(count + 1)).any()


@EVERY
def test_figures_render_512_tokens_fast_and_small(name):
    """Typed arrays in base64 (4/3): a weight is a float32, a permission a byte."""
    pieces = ("cat",) * (120 if name in ("mosaic", "ranked") else 512)
    draw, *args = FIGURES[name](pieces, 400, 300)
    if name == "mosaic":
        args[0] = replace(mosaic_of(30, 9, pieces, side=24), cells=512 / 24)  # as of 512 tokens
    start = time.process_time()
    written = draw(*args).to_json()
    assert time.process_time() - start < 1  # measured: 0.05 to 0.15 s
    bytes_a_cell = {"map": 4, "rollout": 4, "mask": 5}.get(name)
    assert len(written) < (1.4 * bytes_a_cell * 512 * 512 if bytes_a_cell else 1_000_000)
