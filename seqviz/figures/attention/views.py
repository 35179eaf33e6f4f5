"""What a model's attention was found to be, as the figures of the attention lesson."""

from __future__ import annotations

import numpy as np

from seqviz.compute.attention.findings import Change, Effects, Map, Mosaic, Parts
from seqviz.compute.attention.patterns import HABITS, NAMED_FROM, Habits
from seqviz.figures.attention import changes, maps, parts
from seqviz.figures.attention import heads as attention_heads
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style
from seqviz.text import Text, number

_STYLE = Style()


def mosaic_view(found: Mosaic, layer: int, head: int, style: Style = _STYLE) -> Figure:
    """All heads as one picture."""
    return maps.mosaic(
        found.tiles,
        names(found.habits, style.text),
        found.habits.entropy,
        found.habits.distance,
        min(layer, found.text.layers - 1),
        min(head, found.text.heads - 1),
        found.cells,
        style=style,
    )


def map_view(found: Map, query: int, key: int, style: Style = _STYLE) -> Figure:
    """One matrix of weights; query and key from 1, the last token where there are fewer."""
    text, last = style.text, len(found.text.pieces)
    if found.head >= 0:
        title = text("figure.head_label", layer=found.layer, head=found.head)
    elif found.layer >= 0:
        title = text("figure.mean_of_layer", layer=found.layer)
    else:
        title = text("figure.mean_of_all")
    return maps.attention_map(
        found.weights,
        found.text.pieces,
        title,
        min(query, last),
        min(key, last),
        found.allowed,
        style=style,
    )


def rollout_view(found: Map, query: int, key: int, style: Style = _STYLE) -> Figure:
    """Attention rollout up to one layer."""
    last = len(found.text.pieces)
    return maps.attention_map(
        found.weights,
        found.text.pieces,
        style.text("figure.rollout_to", layer=found.layer),
        min(query, last),
        min(key, last),
        found.allowed,
        style=style,
    )


def ranked_view(
    found: Mosaic, measure: str, layer: int, head: int, style: Style = _STYLE
) -> Figure:
    """Heads in the order of one of the measures of `Habits`."""
    return attention_heads.ranked_heads(
        getattr(found.habits, measure),
        names(found.habits, style.text, shares=False),
        style.text(f"figure.habit_{measure}"),
        min(layer, found.text.layers - 1),
        min(head, found.text.heads - 1),
        share=measure in (*HABITS, "spread"),
        named_from=NAMED_FROM if measure in HABITS else None,
        style=style,
    )


def products_view(found: Parts, query: int, key: int, style: Style = _STYLE) -> Figure:
    """Query times key, entry by entry."""
    last = len(found.text.pieces)
    return parts.products(
        found.queries,
        found.keys,
        found.text.pieces,
        found.scaled,
        found.weights,
        found.allowed,
        min(query, last),
        min(key, last),
        style=style,
    )


def chain_view(found: Parts, query: int, key: int, style: Style = _STYLE) -> Figure:
    """Score, divided score, masked score, weight."""
    last = len(found.text.pieces)
    return parts.chain(
        found.scores,
        found.scaled,
        found.weights,
        found.allowed,
        found.text.pieces,
        min(query, last),
        min(key, last),
        style=style,
    )


def switches_view(found: Change, off: tuple[tuple[int, int], ...], style: Style = _STYLE) -> Figure:
    """The switchboard and what it does."""
    on = np.ones((found.text.layers, found.text.heads), bool)
    for layer, head in off:
        on[layer, head] = False
    return changes.switches(
        on, found.moved, found.text.pieces, found.candidates, found.probabilities, style=style
    )


def effects_view(found: Effects, layer: int, head: int, style: Style = _STYLE) -> Figure:
    """What each head alone is worth for this text."""
    layers, heads = found.change.shape
    none = [[""] * heads for _ in range(layers)]
    return attention_heads.ranked_heads(
        found.change,
        none,
        style.text("figure.lost_bits" if found.decoder else "figure.lost_cosine"),
        min(layer, layers - 1),
        min(head, heads - 1),
        share=False,
        style=style,
    )


def permissions_view(found: Map, style: Style = _STYLE) -> Figure:
    """The mask and one head under it."""
    return changes.permissions(
        found.allowed, found.weights, found.text.pieces, found.layer, found.head, style=style
    )


def names(habits: Habits, text: Text, shares: bool = True) -> list[list[str]]:
    """What each head does, in the reader's words, perhaps with the share that says so."""
    layers, heads = habits.entropy.shape

    def called(layer: int, head: int) -> str:
        name = habits.name(layer, head)
        word = text(f"figure.name_{name}")
        if name not in HABITS or not shares:
            return word
        return f"{word} {number(float(getattr(habits, name)[layer, head]), 2)}"

    return [[called(layer, head) for head in range(heads)] for layer in range(layers)]
