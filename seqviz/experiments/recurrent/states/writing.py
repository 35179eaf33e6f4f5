"""Runs of the bundled character models on a user's text and on held-out sentences."""

from __future__ import annotations

from functools import cache

import numpy as np

from seqviz.compute.gates.encoding import END, UNKNOWN
from seqviz.compute.gates.observation import symbols_read
from seqviz.compute.gpt.draw import uniforms
from seqviz.compute.language_models.ngrams import NgramModel, count, fit
from seqviz.compute.recurrent.states import writing
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
BEFORE, STEPS = 20, 40  # letters read, and letters after them
ROOM = 60  # letters written after a user's text
ORDER = 5  # letters of the longest n-gram, the predicted one included


@cache
def frequencies(network: str) -> LetterFrequencies:
    """Return the frequencies of letters and letter pairs in the networks' training text."""
    return writing.frequencies(grams(network).counts)


@cache
def grams(network: str) -> NgramModel:
    """Return the model that counts up to five letters of the networks' training text."""
    symbols = load(network).symbols
    ids = _ids(symbols, END.join(characters_split()[0]))
    return fit(count(ids, len(symbols), ORDER), "witten_bell")


def read(network: str, text: Symbols) -> LettersRead:
    """Run `writing.read` on a bundled network, with the counts of its training text.

    Args:
        network: name of the network.
        text: the text.
    """
    return writing.read(load(network), frequencies(network), grams(network), text)


def write(network: str, text: Symbols, index: int, temperature: float, seed: int) -> GeneratedText:
    """Run `writing.write` on a bundled network; equal seeds give equal letters on every machine.

    Args:
        network: name of the network.
        text: the text.
        index: number of letters to read before writing.
        temperature: temperature of sampling.
        seed: random seed.
    """
    result = read(network, text)
    index = min(index, len(result.ids))
    return writing.write(load(network), result, index, ROOM, temperature, uniforms(seed, ROOM))


def count_letters(network: str, text: TokenizerText) -> int:
    """Return the number of letters of a text that are read, from 1 to `writing.MAX_LETTERS`.

    Args:
        network: name of the network.
        text: the text.
    """
    return min(writing.MAX_LETTERS, max(1, symbols_read(load(network), text)))


def run_on(network: str, judge: str, seed: int = 0, report: Report = no_progress) -> ByStep:
    """Measure a model on held-out sentences with teacher forcing and in free running (a job).

    Bits are measured after a sentence's own letters, after those of another sentence and after the
    model's own. The sentences have at least `BEFORE` + `STEPS` letters.

    Args:
        network: name of the model.
        judge: name of a second model, which reads what the first one wrote.
        seed: random seed.
        report: progress callback; receives the share done.
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
