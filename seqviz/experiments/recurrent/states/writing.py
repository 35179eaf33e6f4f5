"""The bundled character models at work: on a student's text, and on held-out sentences."""

from __future__ import annotations

from functools import cache

import numpy as np

from seqviz.compute.gates.encoding import END, UNKNOWN
from seqviz.compute.gates.observation import symbols_read
from seqviz.compute.gpt.draw import uniforms
from seqviz.compute.recurrent.states import ngrams, writing
from seqviz.compute.recurrent.states.writing import (
    ByStep,
    GeneratedText,
    LetterFrequencies,
    LettersRead,
)
from seqviz.data.reviews import characters_split
from seqviz.experiments.gates import Symbols
from seqviz.jobs import Report, no_progress
from seqviz.models.checkpoints import load
from seqviz.models.texts import TokenizerText

TEMPERATURES = (0.0, 0.5, 1.0, 1.5)
BEFORE, STEPS = 20, 40  # letters that are read, and that come after
ROOM = 60  # letters that are written after a student's text


@cache
def frequencies(network: str) -> LetterFrequencies:
    """Of letters and of pairs in the text that the bundled networks were trained on."""
    symbols = load(network).symbols
    return writing.frequencies(_ids(symbols, END.join(characters_split()[0])), len(symbols))


@cache
def grams(network: str) -> ngrams.Grams:
    """Rows of up to five letters in that text."""
    symbols = load(network).symbols
    return ngrams.counted(_ids(symbols, END.join(characters_split()[0])), len(symbols))


def read(network: str, text: Symbols) -> LettersRead:
    """`writing.read` of a bundled network beside the counts of its training text."""
    return writing.read(load(network), frequencies(network), grams(network), text)


def write(network: str, text: Symbols, index: int, temperature: float, seed: int) -> GeneratedText:
    """`writing.write` of a bundled network: the same seed, the same letters, on every machine."""
    result = read(network, text)
    index = min(index, len(result.ids))
    return writing.write(load(network), result, index, ROOM, temperature, uniforms(seed, ROOM))


def count_letters(network: str, text: TokenizerText) -> int:
    """How many letters of a text are read."""
    return min(writing.MAX_LETTERS, max(1, symbols_read(load(network), text)))


def run_on(network: str, judge: str, seed: int = 0, report: Report = no_progress) -> ByStep:
    """A job: held-out sentences of `BEFORE` + `STEPS` letters or more, with and without the text.

    judge: a second network, which reads what the first has written.
    """
    result, second = load(network), load(judge)
    texts = [item[: BEFORE + STEPS] for item in characters_split()[1]]
    ids = np.stack([_ids(result.symbols, text) for text in texts if len(text) == BEFORE + STEPS], 1)
    targets = ids[BEFORE:]
    others = ids.copy()
    others[BEFORE:] = np.roll(targets, 1, axis=1)
    bits = [writing.bits_of(result, ids, BEFORE), writing.bits_of(result, ids, BEFORE, others)]
    judged, right = [writing.bits_of(second, ids, BEFORE)], []
    samples = np.array(uniforms(seed, targets.size)).reshape(targets.shape)
    for k, temperature in enumerate(TEMPERATURES, 1):
        own, log2 = writing.run_free(result, ids[:BEFORE], STEPS, temperature, samples)
        bits.append(-np.take_along_axis(log2, targets[..., None], -1)[..., 0])
        right.append((own == targets).mean(1))
        judged.append(writing.bits_of(second, np.vstack([ids[:BEFORE], own]), BEFORE))
        report(k / len(TEMPERATURES), k / len(TEMPERATURES))
    by_case = np.stack(judged)
    return ByStep(
        BEFORE, ids.shape[1], TEMPERATURES, writing.summarized(np.stack(bits)),
        writing.summarized(by_case), np.round(right, 4).astype(np.float32),
        writing.trends(by_case), float(-frequencies(network).alone[targets].mean()),
    )  # fmt: skip


def _ids(symbols: tuple[str, ...], text: str) -> np.ndarray:
    anchor = {symbol: k for k, symbol in enumerate(symbols)}
    return np.array([anchor.get(item, anchor[UNKNOWN]) for item in text])
