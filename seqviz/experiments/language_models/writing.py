"""Shannon's series: texts of n-gram models and of people under one meter of copying."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from seqviz.compute.gates.encoding import END
from seqviz.compute.gpt.draw import uniforms
from seqviz.compute.language_models import written
from seqviz.compute.language_models.ngrams import ORDER
from seqviz.compute.language_models.written import CopiedText
from seqviz.data import chinese, reviews
from seqviz.experiments.language_models.corpora import corpus, model, tokens

MAX_CHARS = 120  # of a text
SMOOTHING = "kneser_ney"
END_ID = 1


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


def series(language: str, seed: int, temperature: float, n_people: int = 20) -> ShannonSeries:
    """Draw a text from the model of each n, one letter with each uniform number.

    Args:
        language: "en" or "zh".
        seed: seed of the uniform numbers.
        temperature: temperature of sampling; 0 takes the most probable letter.
        n_people: number of held-out sentences.
    """
    names = corpus(language, "letters").vocabulary.names
    samples = [
        written.write(
            model(language, "letters", SMOOTHING, n).distribution, uniforms(seed, MAX_CHARS),
            temperature, [END_ID], END_ID,
        )
        for n in range(1, ORDER + 1)
    ]  # fmt: skip
    texts = ["".join(names[k] if k else "□" for k in ids) for ids in samples]
    people = [text[:MAX_CHARS] for text in _sentences(language)[1][:n_people]]
    pairs = zip(samples[1:], samples[:-1], strict=True)
    measured, human = (tuple(copying(text, language) for text in part) for part in (texts, people))
    return ShannonSeries(measured, (0, *(written.parted(a, b) for a, b in pairs)), human)


def copying(text: str, language: str) -> CopiedText:
    """Return what of a text stands in the bundled sentences for training, words of letters only.

    Args:
        text: the text.
        language: "en" or "zh".
    """
    training, vocabulary = _training(language)
    words = [word for word in tokens(text, language, "words") if word.isalpha()]
    return written.measure_copying(text, training, words, vocabulary)


def _sentences(language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (chinese.reviews_split if language == "zh" else reviews.characters_split)()


@cache
def _training(language: str) -> tuple[str, frozenset[str]]:
    """Return the sentences for training as one text, and their words."""
    sentences = _sentences(language)[0]
    words = {word for text in sentences for word in tokens(text, language, "words")}
    return END.join(sentences), frozenset(words)
