"""Shannon's series: texts of n-gram models and of people under one meter of copying."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from seqviz.compute.gates.encoding import END
from seqviz.compute.gpt.draw import uniforms
from seqviz.compute.language_models import written
from seqviz.compute.language_models.ngrams import ORDER
from seqviz.compute.language_models.written import CopiedText, CopyingByOrder
from seqviz.data import chinese, reviews
from seqviz.experiments.language_models.corpora import corpus, model, tokens
from seqviz.jobs import Report, no_progress
from seqviz.models.texts import TokenizerText

MAX_CHARS = 120  # of a text
SMOOTHING = "kneser_ney"
END_ID = 1
UNKNOWN_SIGN = "□"


@dataclass(frozen=True)
class ShannonSeries:
    """A text of each n-gram model, samples with the same uniform numbers, and texts of people.

    Attributes:
        texts: texts for n = 1, 2, ...
        parted: characters before the first difference to the text of the n before; 0 for the first.
        people: held-out sentences, cut to the same number of characters.
    """

    texts: tuple[CopiedText, ...]
    parted: tuple[int, ...]
    people: tuple[CopiedText, ...]

    def of(self, n: int) -> CopiedText:
        """Return the text of one n."""
        return self.texts[n - 1]


def series(language: str, seed: int, temperature: float, n_people: int = 20) -> ShannonSeries:
    """Draw a text from the model of each n, one letter with each uniform number.

    Args:
        language: "en" or "zh".
        seed: seed of the uniform numbers.
        temperature: temperature of sampling; 0 takes the most probable letter.
        n_people: number of held-out sentences.
    """
    names = corpus(language, "letters").vocabulary.names
    samples = [_sample(language, n, temperature, seed, END_ID) for n in range(1, ORDER + 1)]
    texts = ["".join(names[k] if k else UNKNOWN_SIGN for k in ids) for ids in samples]
    people = [text[:MAX_CHARS] for text in _sentences(language)[1][:n_people]]
    pairs = zip(samples[1:], samples[:-1], strict=True)
    measured, human = (tuple(copying(text, language) for text in part) for part in (texts, people))
    return ShannonSeries(measured, (0, *(written.parted(a, b) for a, b in pairs)), human)


def copying_by_order(
    language: str, temperature: float, n_texts: int = 30, report: Report = no_progress
) -> CopyingByOrder:
    """Measure copying in texts of each n, and in as many held-out texts of people (a job).

    All texts have `MAX_CHARS` characters, with ends of sentences among them.

    Args:
        language: "en" or "zh".
        temperature: temperature of sampling.
        n_texts: number of texts of each n.
        report: receives the share done; may raise to stop.
    """
    names = corpus(language, "letters").vocabulary.names
    people = END.join(_sentences(language)[1])
    rows = []
    for n in range(1, ORDER + 2):
        texts = [people[k * MAX_CHARS : (k + 1) * MAX_CHARS] for k in range(n_texts)]
        if n <= ORDER:
            samples = [_sample(language, n, temperature, seed, -1) for seed in range(n_texts)]
            texts = ["".join(names[k] if k else UNKNOWN_SIGN for k in ids) for ids in samples]
        rows.append([copying(text, language) for text in texts])
        report(n / (ORDER + 1), n / (ORDER + 1))
    longest, words = (
        np.array([[getattr(item, part) for item in row] for row in rows])
        for part in ("longest", "share_of_words")
    )
    return CopyingByOrder(MAX_CHARS, longest, words)


def copying(text: TokenizerText, language: str) -> CopiedText:
    """Return what of a text stands in the bundled sentences for training, words of letters only.

    Args:
        text: the text.
        language: "en" or "zh".
    """
    training, vocabulary = _training(language)
    words = [word for word in tokens(text, language, "words") if word.isalpha()]
    return written.measure_copying(text, training, words, vocabulary)


def _sample(language: str, n: int, temperature: float, seed: int, stop: int) -> list[int]:
    """Return the letters of a text that begins a sentence; see `written.write`."""
    distribution = model(language, "letters", SMOOTHING, n).distribution
    return written.write(distribution, uniforms(seed, MAX_CHARS), temperature, [END_ID], stop)


def _sentences(language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (chinese.reviews_split if language == "zh" else reviews.characters_split)()


@cache
def _training(language: str) -> tuple[str, frozenset[str]]:
    """Return the sentences for training as one text, and their words."""
    sentences = _sentences(language)[0]
    words = {word for text in sentences for word in tokens(text, language, "words")}
    return END.join(sentences), frozenset(words)
