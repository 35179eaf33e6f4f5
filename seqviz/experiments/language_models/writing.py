"""Shannon's series: texts of n-gram models and of people under one meter of copying."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from seqviz.compute.gates.encoding import END
from seqviz.compute.gpt.draw import uniforms
from seqviz.compute.language_models import written
from seqviz.compute.language_models.ngrams import ORDER
from seqviz.compute.language_models.written import CopiedText, CopyingByOrder, TextIndex
from seqviz.core.cached_once import cached_once
from seqviz.experiments.language_models.corpora import END_ID, bundled, corpus, model, tokens
from seqviz.jobs import Report, no_progress
from seqviz.models.texts import TokenizerText

MAX_CHARS = 120  # of a text
SMOOTHING = "kneser_ney"
UNKNOWN_SIGN = "□"


@dataclass(frozen=True)
class ShannonSeries:
    """A text of each n-gram model, samples with the same uniform numbers.

    Attributes:
        texts: texts for n = 1, 2, ...
        parted: characters before the first difference to the text of the n before; 0 for the first.
    """

    texts: tuple[CopiedText, ...]
    parted: tuple[int, ...]

    def of(self, n: int) -> CopiedText:
        """Return the text of one n."""
        return self.texts[n - 1]


def series(language: str, seed: int, temperature: float) -> ShannonSeries:
    """Draw a text from the model of each n, one letter with each uniform number.

    Args:
        language: "en" or "zh".
        seed: seed of the uniform numbers.
        temperature: temperature of sampling; 0 takes the most probable letter.
    """
    samples = [_sample(language, n, temperature, seed, END_ID) for n in range(1, ORDER + 1)]
    texts = tuple(copying(_written(ids, language), language) for ids in samples)
    return ShannonSeries(texts, (0, *(written.parted(a, b) for a, b in pairwise(samples))))


def copying_by_order(
    language: str, temperature: float, n_texts: int = 30, report: Report = no_progress
) -> CopyingByOrder:
    """Measure copying in texts of each n, and in as many held-out texts of people (a job).

    All texts have `MAX_CHARS` characters, with ends of sentences among them. Held-out sentences
    that the training text repeats are left out: they would count as copied from end to end.

    Args:
        language: "en" or "zh".
        temperature: temperature of sampling.
        n_texts: number of texts of each n.
        report: receives the share done; may raise to stop.
    """
    train, held = bundled(language)
    repeated = frozenset(train)
    people = END.join(text for text in held if text not in repeated)
    rows = []
    for n in range(1, ORDER + 2):
        texts = [people[k * MAX_CHARS : (k + 1) * MAX_CHARS] for k in range(n_texts)]
        if n <= ORDER:
            samples = [_sample(language, n, temperature, seed, -1) for seed in range(n_texts)]
            texts = [_written(ids, language) for ids in samples]
        rows.append([copying(text, language) for text in texts])
        report(n / (ORDER + 1), n / (ORDER + 1))
    longest, words = (
        np.array([[getattr(item, part) for item in row] for row in rows])
        for part in ("longest", "share_of_words")
    )
    return CopyingByOrder(MAX_CHARS, longest, words)


def longest_spans(language: str, n: int, temperature: float, seeds: Sequence[int]) -> list[float]:
    """Return the longest copied span of a text drawn with each seed.

    Args:
        language: "en" or "zh".
        n: n of the model.
        temperature: temperature of sampling.
        seeds: seeds of the uniform numbers.
    """
    samples = (_sample(language, n, temperature, seed, END_ID) for seed in seeds)
    return [float(copying(_written(ids, language), language).longest) for ids in samples]


def copying(text: TokenizerText, language: str) -> CopiedText:
    """Return what of a text stands in the bundled sentences for training, words of letters only.

    Args:
        text: the text.
        language: "en" or "zh".
    """
    words = [word for word in tokens(text, language, "words") if word.isalpha()]
    vocabulary = corpus(language, "words").vocabulary
    return written.measure_copying(text, _training(language), words, vocabulary)


def _sample(language: str, n: int, temperature: float, seed: int, stop: int) -> list[int]:
    """Return the letters of a text that begins a sentence; see `written.write`."""
    distribution = model(language, "letters", SMOOTHING, n).distribution
    return written.write(distribution, uniforms(seed, MAX_CHARS), temperature, [END_ID], stop)


def _written(ids: Sequence[int], language: str) -> str:
    """Return letters as a text, a sign for unknown ones."""
    names = corpus(language, "letters").vocabulary.names
    return "".join(names[k] if k else UNKNOWN_SIGN for k in ids)


@cached_once
def _training(language: str) -> TextIndex:
    """Return the index of the sentences for training."""
    return written.index_of(END.join(bundled(language)[0]))
