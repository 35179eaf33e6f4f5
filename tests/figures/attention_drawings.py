"""Findings about attention made of seeded numbers, and every figure of the lesson drawn of them."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

from seqviz.compute.attention.findings import Change, Effects, Map, Mosaic, Parts, Text
from seqviz.compute.attention.patterns import entropy, habits, tiles
from seqviz.figures.attention import views

WORDS = ("[CLS]", "the", "cat", "sat", "on", "the", "mat", "[SEP]")
HOSTILE = ("<b>", "&", "%{x}", "</script>", "$x$", "שלום", "\n", "“é”", "&lt;", "{y}", "#000001")
CANDIDATES = ("␣Paris", "␣the", "<b>", "⏎")


def weights_of(*shape: int, seed: int = 0, causal: bool = False) -> np.ndarray:
    """Random float32 weights [..., query, key] whose rows sum to 1."""
    weights = np.random.RandomState(seed).gamma(0.4, size=shape) + 1e-6
    weights = np.tril(weights) if causal else weights
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def text_of(
    layers: int, heads: int, pieces: tuple[str, ...] = WORDS, decoder: bool = False
) -> Text:
    count = len(pieces)
    special = np.array([piece in ("[CLS]", "[SEP]") for piece in pieces])
    return Text("minilm", decoder, pieces, np.unique(pieces, return_inverse=True)[1], special,
                np.ones(count, bool), 0, 0, layers, heads, "cpu", "")  # fmt: skip


def mosaic_of(
    layers: int, heads: int, pieces: tuple[str, ...] = WORDS, side: int = 51, seed: int = 0
) -> Mosaic:
    text = text_of(layers, heads, pieces)
    weights = weights_of(layers, heads, len(pieces), len(pieces), seed=seed)
    found = habits(weights, text.ids, text.special)
    return Mosaic(text, tiles(weights, side), max(1.0, len(pieces) / side), found)


def map_of(
    pieces: tuple[str, ...] = WORDS, layer: int = 2, head: int = 3, causal: bool = False
) -> Map:
    count = len(pieces)
    weights = weights_of(count, count, causal=causal)
    allowed = np.tri(count, dtype=bool) if causal else np.ones((count, count), bool)
    return Map(text_of(6, 12, pieces, causal), weights, layer, head, entropy(weights), allowed)


def parts_of(pieces: tuple[str, ...] = WORDS, d_k: int = 8, causal: bool = False) -> Parts:
    """One head whose stages follow from its queries and keys."""
    count, draw = len(pieces), np.random.RandomState(0).standard_normal
    q, k, v = (draw((count, d_k)).astype(np.float32) for _ in range(3))
    allowed = np.tri(count, dtype=bool) if causal else np.ones((count, count), bool)
    scores = q @ k.T
    scaled = scores / np.float32(np.sqrt(d_k))
    e = np.where(allowed, np.exp(scaled), 0).astype(np.float32)
    weights = e / e.sum(-1, keepdims=True)
    return Parts(text_of(6, 12, pieces, causal), 2, 3, q, k, v, scores, scaled, weights,
                 weights @ v, allowed, float(np.sqrt(d_k)))  # fmt: skip


def change_of(
    layers: int = 6, heads: int = 12, pieces: tuple[str, ...] = WORDS, decoder: bool = False
) -> Change:
    random = np.random.RandomState(0)
    candidates = CANDIDATES if decoder else ()
    probabilities = random.dirichlet(np.ones(len(candidates) + 1), 2)[:, 1:]
    moved = random.uniform(0, 0.3, len(pieces))
    return Change(text_of(layers, heads, pieces, decoder), moved, 0.9, np.full(2, np.nan),
                  candidates, probabilities, 0.4 if decoder else np.nan, 1)  # fmt: skip


def effects_of(layers: int, heads: int, done: int, decoder: bool = True) -> Effects:
    """The effects of the heads of the first layers; the others are not known yet."""
    change = np.random.RandomState(0).gamma(0.3, size=(layers, heads))
    change[done:] = np.nan
    return Effects(change, decoder, done / layers)


def pixels(figure: Any) -> np.ndarray:
    """The picture of a figure, [row, column, red green blue alpha]."""
    (image,) = figure.layout.images
    written = image.source.removeprefix("data:image/png;base64,")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(written))).convert("RGBA"))


def plainly(text: str) -> str:
    """What Plotly shows of a label: the entities it decodes are letters again."""
    for name, letter in (("lt", "<"), ("gt", ">"), ("#123", "{"), ("amp", "&")):
        text = text.replace(f"&{name};", letter)
    return text


def attention_drawings() -> tuple[tuple[str, Callable[..., Any], tuple[Any, ...], float], ...]:
    """Every figure function of the lesson once or twice: name, function, arguments, key."""
    wide, deep = mosaic_of(3, 5), mosaic_of(5, 3)
    found, causal = map_of(), map_of(causal=True)
    parts, later = parts_of(), parts_of(causal=True)
    change, said = change_of(), change_of(decoder=True)
    known, some = effects_of(3, 5, 3), effects_of(5, 3, 2)
    return (
        ("mosaic", views.mosaic_view, (wide, 1, 4), float(wide.habits.entropy[1, 4])),
        ("mosaic, deep", views.mosaic_view, (deep, 4, 1), float(deep.habits.entropy[4, 1])),
        ("attention map", views.map_view, (found, 3, 5), float(found.weights[2, 4])),
        ("attention map, causal", views.map_view, (causal, 5, 2), float(causal.weights[4, 1])),
        ("rollout", views.rollout_view, (found, 3, 5), float(found.weights[2].max())),
        ("ranked heads", views.ranked_view, (wide, "previous", 1, 1),
         float(wide.habits.previous.max())),
        ("ranked heads, deep", views.ranked_view, (deep, "entropy", 1, 1),
         float(deep.habits.entropy.max())),
        ("products", views.products_view, (parts, 3, 5), float(parts.weights[2, 4])),
        ("products, causal", views.products_view, (later, 5, 2), float(later.scaled[4, 1])),
        ("chain", views.chain_view, (parts, 3, 5), float(parts.scores[2, 4])),
        ("chain, causal", views.chain_view, (later, 5, 2), float(later.weights[4, 1])),
        ("switches", views.switches_view, (change, ((1, 2), (5, 11))), float(change.moved.max())),
        ("switches of a decoder", views.switches_view, (said, ((1, 2),)),
         float(said.probabilities[1].max())),
        ("effects", views.effects_view, (known, 2, 2), float(np.nanmax(known.change))),
        ("effects, half done", views.effects_view, (some, 2, 2), float(np.nanmax(some.change))),
        ("permissions", views.permissions_view, (causal,), 8),
    )  # fmt: skip
