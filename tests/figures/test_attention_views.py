"""Findings as figures: the right arrays reach the right figure, named and clamped."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from attention_drawings import (
    HOSTILE,
    WORDS,
    attention_drawings,
    change_of,
    map_of,
    mosaic_of,
    parts_of,
    plainly,
)
from gate_drawings import labels, sound

from seqviz.compute.attention.patterns import HABITS
from seqviz.figures.attention import views
from seqviz.figures.grammar.style import DARK, LIVE, Style
from seqviz.text import LANGUAGES, Text, number

LANG = pytest.mark.parametrize("lang", LANGUAGES)
DRAWINGS = pytest.mark.parametrize("drawing", attention_drawings(), ids=lambda d: d[0])


@DRAWINGS
@pytest.mark.parametrize("style", [Style(LIVE, "zh"), Style(DARK, scale=1.25)], ids=["zh", "large"])
def test_every_figure_is_sound(drawing, style):
    _, draw, args, _ = drawing
    figure = draw(*args, style=style)
    sound(figure)
    said = figure.alt
    assert (re.search(r"[\u4e00-\u9fff]", said) is not None) == (style.lang == "zh")
    assert not re.search(r"figure\.|\{\w*\}", said)


@DRAWINGS
def test_read_only_findings_can_be_drawn(drawing):
    """Readings are shared by a whole class."""
    _, draw, args, _ = drawing

    def freeze(found):
        for value in vars(found).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            elif hasattr(value, "__dataclass_fields__"):
                freeze(value)

    freeze(args[0])
    sound(draw(*args))


@pytest.mark.parametrize(
    ("layer", "head", "title"),
    [
        (2, 3, "layer 2, head 3"),
        (2, -1, "mean of the heads of layer 2"),
        (-1, -1, "mean of all heads of all layers"),
    ],
)
def test_a_map_is_named_after_what_it_is(layer, head, title):
    found = map_of(layer=layer, head=head)
    figure = views.map_view(found, 3, 5)
    assert labels(figure)[0].startswith(f"{title} · ")
    assert figure.alt.startswith(title)
    np.testing.assert_array_equal(np.asarray(figure.data[0].z), found.weights)


def test_rollout_says_up_to_which_layer():
    found = map_of(layer=4, head=-1)
    figure = views.rollout_view(found, 3, 5)
    assert labels(figure)[0].startswith("attention rollout up to layer 4")
    np.testing.assert_array_equal(np.asarray(figure.data[0].z), found.weights)


def test_a_causal_map_is_blank_above_the_diagonal():
    z = np.asarray(views.map_view(map_of(causal=True), 1, 1).data[0].z)
    np.testing.assert_array_equal(np.isnan(z), ~np.tri(8, dtype=bool))


def test_places_beyond_the_text_are_the_last():
    found, parts = map_of(), parts_of()
    for draw, what in (
        (views.map_view, found),
        (views.rollout_view, found),
        (views.products_view, parts),
        (views.chain_view, parts),
    ):
        assert draw(what, 99, 99).to_json() == draw(what, 8, 8).to_json()


@pytest.mark.parametrize("pieces", [("a",), ("a", "b"), HOSTILE], ids=len)
@LANG
def test_every_figure_of_short_and_hostile_texts(pieces, lang):
    style = Style(lang=lang)
    mosaic, found, parts = mosaic_of(3, 2, pieces), map_of(pieces), parts_of(pieces)
    for figure in (
        views.mosaic_view(mosaic, 2, 1, style),
        views.map_view(found, 1, 1, style),
        views.rollout_view(found, 1, 1, style),
        views.ranked_view(mosaic, "previous", 2, 1, style),
        views.products_view(parts, 1, 1, style),
        views.chain_view(parts, 1, 1, style),
        views.switches_view(change_of(3, 2, pieces), ((2, 1),), style),
        views.switches_view(change_of(3, 2, pieces, decoder=True), ((2, 1),), style),
        views.permissions_view(found, style),
    ):
        sound(figure)


def test_switches_know_layer_from_head():
    board = views.switches_view(change_of(6, 12), ((1, 11),)).data[0]
    assert np.argwhere(np.asarray(board.z) == 0).tolist() == [[1, 11]]


@LANG
def test_names_of_heads(lang):
    text = Text(lang)
    found = mosaic_of(2, 3)
    zero = {habit: np.zeros((2, 3)) for habit in HABITS}
    habits = replace(found.habits, **zero, spread=np.array([[0.95, 0.5, 0.0], [0, 0, 0]]))
    habits.previous[0, 2] = 0.731
    habits.separator[1, 1] = 1.0
    wanted = [
        [text("figure.name_broad"), text("figure.name_mixed"),
         f"{text('figure.name_previous')} {number(0.731, 2)}"],
        [text("figure.name_mixed"), f"{text('figure.name_separator')} {number(1.0, 2)}",
         text("figure.name_mixed")],
    ]  # fmt: skip
    assert views.names(habits, text) == wanted
    assert views.names(habits, text, shares=False)[0][2] == text("figure.name_previous")
    hover = np.asarray(views.mosaic_view(replace(found, habits=habits), 0, 2, Style(lang=lang))
                       .data[0].text)  # fmt: skip
    assert wanted[0][2] in hover[0, 2]


def test_bars_beside_the_grid_do_not_repeat_the_share():
    found = mosaic_of(2, 3)
    bars = views.ranked_view(found, "previous", 0, 0).data[1]
    names = views.names(found.habits, Text("en"), shares=False)
    for words, rank in zip(bars.text, np.argsort(-found.habits.previous, axis=None), strict=True):
        assert words.endswith(names[rank // 3][rank % 3])


def test_no_word_of_a_text_is_markup():
    figure = views.map_view(map_of(HOSTILE), 1, 1)
    assert [plainly(tick) for tick in figure.layout.xaxis.ticktext] == list(HOSTILE)
    assert list(figure.layout.meta["names"]["x"]) == list(HOSTILE)  # as it is, in the table
    assert WORDS[0] not in figure.to_json()
