"""Findings about accuracy under masks made of seeded numbers, and every figure drawn of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from gate_drawings import refuse

from seqviz.compute.accuracy.findings import (
    DIRECTIONS,
    ORDERS,
    TREATMENTS,
    Direction,
    FillIn,
    FillSettings,
    Guesses,
    Knife,
    OwnKnife,
    OwnPadding,
    Padding,
)
from seqviz.compute.proportions import of
from seqviz.figures.accuracy import direction, fill, ids, padding
from seqviz.figures.accuracy import word_masking as knife

BASELINE = of(1003, 2000)
WORDS = ("a", "<b>warm</b>", ",", "funny", "&", "engaging", "film", "touching", "50 %", ".")
PIECES = ("[CLS]", *WORDS, "[SEP]")
LENGTHS = np.array([32, 45, 64, 91, 128, 181, 256, 362, 512])
LONG = 200


def probabilities(positive: np.ndarray, accuracy: np.ndarray, seed: int) -> np.ndarray:
    """Answers [..., sentence] of which about this share is right, the same luck in every row."""
    luck = np.random.RandomState(seed).uniform(size=len(positive))
    right = luck < np.asarray(accuracy)[..., None]
    return np.where(right == positive, 0.9, 0.2)


def knife_of(sentences: int = 2000, shares: int = 21, orders: tuple[str, ...] = ORDERS) -> Knife:
    """Accuracy falls from 79 % to a coin's, fastest where content words go first."""
    x = np.linspace(0, 1, shares) if shares > 1 else np.zeros(1)
    positive = np.random.RandomState(1).uniform(size=sentences) < 0.5
    bends = {"random": 0.7, "attention": 0.6, "gradient": 0.4, "content": 0.5, "function": 2.5}
    wanted = np.array([0.79 - 0.29 * x ** bends[order] for order in orders])
    return Knife(orders, x, probabilities(positive, wanted, 2), positive)


def own_knife_of(words: tuple[str, ...] = WORDS, orders: tuple[str, ...] = ORDERS) -> OwnKnife:
    draw = np.random.RandomState(3)
    turns = np.array([draw.permutation(len(words)) for _ in orders])
    turns = turns.reshape(len(orders), len(words)).astype(int)
    steps = draw.normal(-0.25, 0.5, (len(orders), len(words) + 1)).cumsum(axis=1)
    chance = 1 / (1 + np.exp(-2.5 - steps))
    chance[:, 0], chance[:, -1] = 0.93, 0.38
    return OwnKnife(words, orders, turns, chance)


def fill_of(places: int = 9000, share: float = 0.15, mask: float = 0.8) -> FillIn:
    """Ranks of the truth that are low where it is left alone."""
    draw = np.random.RandomState(4)
    rest = (1 - mask) / 2
    treatment = draw.choice(3, size=places, p=[mask, rest, rest])
    scale = np.array([4.0 + 9 * share, 5.5, 0.15])[treatment]
    rank = 1 + np.floor(np.expm1(draw.exponential(scale / 2))).clip(max=30000).astype(int)
    frequency = 1 + np.floor(np.expm1(draw.exponential(4, places))).clip(max=30000).astype(int)
    return FillIn(FillSettings(share, mask, rest, 2000), treatment, rank, frequency)


def fills(count: int = 7) -> tuple[FillIn, ...]:
    return tuple(fill_of(3000, float(share)) for share in np.linspace(0.05, 0.65, count))


def guesses_of(conditions: tuple[str, ...] = TREATMENTS, candidates: int = 8) -> Guesses:
    """The truth is second, first, and far behind, in turn."""
    truth = "<b>warm</b>"
    words = ("funny", "and", "%{x}", "extraordinarily-long", "the", "&amp;", "##ly", "a", "1999")
    rows, ranks, chances = [], [], []
    probability = np.array([0.34 / 2**k for k in range(candidates)])
    for row, _ in enumerate(conditions):
        rank = (2, 1, 4211)[row % 3]
        best = list(words[:candidates])
        if rank <= candidates:
            best = [*best[: rank - 1], truth, *best[rank - 1 :]][:candidates]
        rows.append(tuple(best))
        ranks.append(rank)
        chances.append(probability[rank - 1] if rank <= candidates else 0.00002)
    pieces = tuple(("[CLS]", "a", "[MASK]", "film", "[SEP]") for _ in conditions)
    return Guesses(conditions, pieces, 2, truth, tuple(rows), np.tile(probability, (len(rows), 1)),
                   np.array(ranks), np.array(chances))  # fmt: skip


def padding_of(sentences: int = 2000, lengths: np.ndarray = LENGTHS, few: int = 400) -> Padding:
    """Told, little happens; untold the more, the longer. Few sentences are made very long."""
    positive = np.random.RandomState(1).uniform(size=sentences) < 0.5
    far = np.log2(np.maximum(lengths, 32) / 28) / 4.2
    zero = np.zeros(len(lengths))
    harm = np.array([[zero, 0.03 * far], [0.29 * far, 0.31 * far]])
    spread = np.random.RandomState(5).gamma(4, 0.25, sentences)
    plain = probabilities(positive, np.array(0.79), 2)
    probability = probabilities(positive, 0.79 - harm, 2)
    drift = (harm * 0.6)[..., None] * spread
    on_pads = np.array([[zero, zero], [far, far * 0.96]])[..., None] * np.clip(spread, 0, 1.0)
    for values in (probability, drift, on_pads):
        values[:, :, lengths > LONG, few:] = np.nan
    return Padding(lengths, plain, probability, drift, on_pads, positive)


def own_padding_of(
    words: tuple[str, ...] = PIECES, pads: int = 8, lengths: np.ndarray = LENGTHS
) -> OwnPadding:
    far = np.log2(np.maximum(lengths, 16) / 12) / 5.5
    zero = np.zeros(len(lengths))
    real = np.arange(len(words) + pads) < len(words)
    return OwnPadding(
        (*words, *["[PAD]"] * pads),
        np.where(real, 1000 + 2317 * np.arange(len(real)) % 28000, 0),
        real,
        lengths,
        0.912,
        0.912 - np.array([[zero, 0.02 + zero], [0.7 * far, 0.66 * far]]),
        np.array([[zero, 0.01 * far], [0.3 * far, 0.28 * far]]),
        np.array([[zero, zero], [far, 0.95 * far]]),
    )


def direction_of(sentences: int = 2000, directions: tuple[str, ...] = DIRECTIONS) -> Direction:
    positive = np.random.RandomState(1).uniform(size=sentences) < 0.5
    wanted = np.array([0.79, 0.75, 0.71])[: len(directions)]
    draw = np.random.RandomState(6).uniform(size=(len(directions), sentences))
    rank = np.where(draw < wanted[:, None] - 0.5, 1, 40)
    return Direction(directions, probabilities(positive, wanted, 2),
                     probabilities(positive, wanted + 0.02, 7), rank, positive)  # fmt: skip


def at(found: Knife, order: str, share: float) -> float:
    """Accuracy in percent, from the answers themselves."""
    row = found.probability[found.orders.index(order)]
    right = ((row >= 0.5) == found.positive).mean(axis=-1)
    return 100 * float(np.interp(share, 100 * found.shares, right))


def accuracy_drawings() -> tuple[tuple[str, Callable[..., Any], tuple[Any, ...], float], ...]:
    """Every figure of masking, padding and direction: name, function, arguments, key."""
    cut, own, filled, many = knife_of(), own_knife_of(), fill_of(), fills()
    padded, mine, ways = padding_of(), own_padding_of(), direction_of()
    told = 100 * float(((padded.probability[1, 0, 2] >= 0.5) == padded.positive).mean())
    flipped = (padded.probability[1, 1, 6, :400] >= 0.5) != (padded.plain[:400] >= 0.5)
    masked = filled.rank[filled.treatment == 0]
    return (
        ("knife", knife.knife_view, (cut, "attention", 35.0, BASELINE),
         at(cut, "attention", 35)),
        ("knife, between", knife.knife_view, (cut, "random", 13.0, BASELINE),
         at(cut, "random", 13)),
        ("own knife", knife.own_knife_view, (own, "gradient", 4),
         100 * float(own.probability[2, 4])),
        ("fill-in", fill.fill_view, (filled,), 100 * float((masked == 1).mean())),
        ("fill-in by share", fill.fill_curves_view, (many, 15.0),
         100 * float((many[1].rank[many[1].treatment == 0] == 1).mean())),
        ("guesses", fill.guesses_view, (guesses_of(),), 17.0),
        ("guesses by direction", fill.guesses_view, (guesses_of(DIRECTIONS),), 4211.0),
        ("padding, accuracy", padding.padding_view, (padded, "accuracy", 64, "right"), told),
        ("padding, flipped", padding.padding_view, (padded, "flipped", 256, "left"),
         100 * float(flipped.mean())),
        ("padding, drift", padding.padding_view, (padded, "drift", 128, "right"),
         float(np.median(padded.drift[1, 0, 4]))),
        ("padding, on pads", padding.padding_view, (padded, "on_pads", 128, "left"),
         100 * float(np.median(padded.on_pads[1, 1, 4]))),
        ("own padding", padding.own_padding_view, (mine, 128),
         100 * float(mine.probability[1, 0, 4])),
        ("ids", ids.ids_view, (mine,), len(PIECES)),
        ("direction", direction.direction_view, (ways, BASELINE),
         100 * float(((ways.probability[1] >= 0.5) == ways.positive).mean())),
    )  # fmt: skip


def sound(figure) -> None:
    """A browser can read it: JSON knows neither NaN nor Infinity; and the words know no nan."""
    json.loads(figure.to_json(), parse_constant=refuse)
    assert "nan" not in figure.alt
    assert not [mark.text for mark in figure.layout.annotations if "nan" in mark.text]


def named(figure, name: str, axis: str | None = None):
    (found,) = [t for t in figure.data if t.name == name and axis in (None, t.xaxis or "x")]
    return found


def bands(figure) -> list:
    return [trace for trace in figure.data if trace.fill == "toself"]


def notes(figure) -> list[str]:
    return [mark.text for mark in figure.layout.annotations]
