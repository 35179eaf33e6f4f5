"""Readings, paths and readouts, made of seeded numbers, and every figure drawn of them."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.states.readouts import ByReadout, Padded, StatePath
from seqviz.compute.recurrent.states.tying import tables
from seqviz.compute.recurrent.states.writing import ByStep, GeneratedText, LettersRead, summarized
from seqviz.figures.recurrent.states.readouts import accuracy_by_readout, pads_behind, state_path
from seqviz.figures.recurrent.states.writing import (
    bits_by_step,
    letters_read,
    own_letters,
    steps_so_far,
    tied_tables,
)
from testing.figure_examples import Example

TEXT = "a <b>bold</b> line"
NAMES = ("words", "last", "mean", "max", "both_concat")


def examples() -> tuple[Example, ...]:
    """Each figure function once or more, where its branches differ."""
    letters, steps, many = letters_of(TEXT), by_step_of(), by_readout_of()
    full, rest = path_of(6), path_of(5)
    own = Padded(np.linspace(0.62, 0.15, 41), np.linspace(0.62, 0.03, 41))
    counts = tables(30_522, 256, 32)
    written = GeneratedText(
        tuple(TEXT[:8]), tuple("lder <i>\n"), tuple(TEXT[8:]), letters.bits[8:],
        letters.bits[8:] + 3,
    )  # fmt: skip
    return (
        Example("letters", letters_read, (letters, 3), letters.mean_bits),
        Example("letters, long", letters_read, (letters_of(TEXT * 5), 44), 44),
        Example("own letters", own_letters, (written,), written.parted),
        Example("by step", bits_by_step, (steps, 0.0), steps.sentences),
        Example("by step, drawn", bits_by_step, (steps, 1.0), steps.sentences),
        Example("states so far", steps_so_far, ((0.2, 0.4),), 40),
        Example("tied tables", tied_tables, (counts,), counts.all_tied),
        Example("path", state_path, (full, rest, 3), len(full.pieces)),
        Example("path, nothing deleted", state_path, (full, None, 0), len(full.pieces)),
        Example("readouts", accuracy_by_readout, (many, NAMES, 10), many.reviews(10)),
        Example("pads", pads_behind, (own, many, "unknown", 10), 10),
    )


def letters_of(text: str) -> LettersRead:
    """A text as a network with no training reads it."""
    random = np.random.RandomState(0)
    symbols = ("<unk>", *sorted(set(text)))
    ids = np.array([symbols.index(item) for item in text])
    scores = random.normal(0, 2, (len(text), len(symbols)))
    log2 = scores - np.log2((2**scores).sum(-1, keepdims=True))
    alone, pairs = random.uniform(3, 6, (2, len(text)))
    return LettersRead(tuple(text), symbols, ids, log2, alone, pairs, pairs - 1, 0)


def by_step_of() -> ByStep:
    """Losses of 30 sentences over 12 steps."""
    random = np.random.RandomState(1)
    level = np.array([2.1, 8, 7.5, 8.2])[:, None, None]
    bits = summarized(level + random.normal(0, 1, (4, 12, 30)))
    judged = summarized(np.array([2.2, 1.2, 2.5])[:, None, None] + random.normal(0, 1, (3, 12, 30)))
    right = np.full((2, 12), 0.1)
    return ByStep(20, 30, (0.0, 1.0), bits, judged, right, judged[..., 0], 4.4)


def path_of(words: int) -> StatePath:
    """A path of some words."""
    random = np.random.RandomState(2)
    x, y = random.normal(0, 0.3, (2, words + 1)).cumsum(-1)
    pieces = ("not", "a", "<b>", "good", "%{x}", "film")[:words]
    return StatePath(pieces, x, y, 1 / (1 + np.exp(-3 * x)), 0)


def by_readout_of() -> ByReadout:
    """Verdicts of five readouts on 400 reviews."""
    random = np.random.RandomState(3)
    right = random.uniform(size=(5, 400)) < 0.8
    pads = np.array([0, 1, 10, 40])
    padded = np.array([[326, 324, 318, 300], [326, 322, 280, 203]])
    words = random.randint(3, 40, 400)
    return ByReadout(NAMES, right, words, random.uniform(size=400) < 0.5, True, pads, padded)
