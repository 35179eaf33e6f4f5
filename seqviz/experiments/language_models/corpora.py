"""Bundled sentences as tokens, letters or words, and n-gram models of them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from jaxtyping import Int

from seqviz.compute.gates import encoding
from seqviz.compute.gates.encoding import END, UNKNOWN
from seqviz.compute.language_models.ngrams import ORDER, NgramCounts, NgramModel, count, fit
from seqviz.compute.text.windows.vocabulary import Vocabulary, vocabulary
from seqviz.core.cached_once import cached_once
from seqviz.core.errors import UserError
from seqviz.data import chinese, reviews
from seqviz.experiments.text.tokenization.vocabularies import dictionary
from seqviz.models.texts import TokenizerText

LEVELS = ("letters", "words")
MAX_CORPUS_CHARS = 2_000  # of a user's text
END_ID = 1  # of the end of a sentence; 0 is an unknown token
_ENDS = re.compile(r"(?<=[.!?。！？])|\n")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True)
class Corpus:
    """Sentences for training and held-out ones, as ids of tokens.

    Attributes:
        language: language of the sentences, which decides what a word is.
        level: one of `LEVELS`.
        vocabulary: the tokens; 0 is an unknown one, 1 the end of a sentence.
        train: the sentences for training in one row, an end before the first and after each.
        held: the held-out sentences, without ends.
        n_characters: characters of each held-out sentence.
    """

    language: str
    level: str
    vocabulary: Vocabulary
    train: Int[np.ndarray, "time"]
    held: tuple[Int[np.ndarray, "_"], ...]
    n_characters: Int[np.ndarray, "sentence"]

    @property
    def unknown(self) -> float:
        """Share of the held-out tokens outside the vocabulary."""
        return float((np.concatenate(self.held) == 0).mean())

    def ids(self, text: str) -> Int[np.ndarray, "time"]:
        """Return the tokens of a text."""
        return self.vocabulary.ids(tokens(text, self.language, self.level))


def tokens(text: TokenizerText, language: str, level: str) -> list[str]:
    """Split a sentence into letters, spaces included, or words in lower case.

    Chinese words are those of the dictionary.

    Args:
        text: the sentence.
        language: "en" or "zh".
        level: one of `LEVELS`.
    """
    if level == "letters":
        return list(encoding.normalized(text))
    if language == "zh":
        return [word for word in dictionary().words(encoding.normalized(text)) if word.strip()]
    return encoding.split_words(text)


def sentences(text: TokenizerText) -> tuple[str, ...]:
    """Split the first `MAX_CORPUS_CHARS` characters of a user's text after marks and line ends."""
    parts = (part.strip() for part in _ENDS.split(text[:MAX_CORPUS_CHARS]))
    return tuple(part for part in parts if part)


def language_of(text: TokenizerText) -> str:
    """Return "zh" for a text with a Chinese character, else "en"."""
    return "zh" if _CHINESE.search(text) else "en"


def corpus_of(train: tuple[str, ...], held: tuple[str, ...], language: str, level: str) -> Corpus:
    """Return the tokens of sentences as ids; all tokens of the sentences for training have one.

    Args:
        train: sentences for training.
        held: held-out sentences.
        language: "en" or "zh".
        level: one of `LEVELS`.
    """
    cut = [tokens(sentence, language, level) for sentence in train]
    frequency = Counter(token for sentence in cut for token in sentence)
    names = vocabulary(frequency, reserved=(END,))
    row = names.ids([END, *(token for sentence in cut for token in (*sentence, END))])
    row = row.astype(np.min_scalar_type(-len(names)))  # held for all students
    rest = tuple(names.ids(tokens(text, language, level)).astype(row.dtype) for text in held)
    return Corpus(language, level, names, row, rest, np.array([len(text) for text in held], int))


def bundled(language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the bundled sentences, those for training and those held out.

    Args:
        language: "en" or "zh".
    """
    return chinese.reviews_split() if language == "zh" else reviews.characters_split()


@cached_once
def corpus(language: str, level: str, size: int = 0) -> Corpus:
    """Return the bundled sentences: reviews and editorials in English, reviews in Chinese.

    Args:
        language: "en" or "zh".
        level: one of `LEVELS`.
        size: size of the vocabulary; 0 for all tokens.
    """
    if not size:
        return corpus_of(*bundled(language), language, level)
    full = corpus(language, level)
    names = Vocabulary(full.vocabulary.names[:size], full.vocabulary.count[:size])
    train, *held = (np.where(ids < size, ids, 0) for ids in (full.train, *full.held))
    return replace(full, vocabulary=names, train=train, held=tuple(held))


@lru_cache(maxsize=32)
def user_corpus(text: TokenizerText, language: str, level: str) -> Corpus:
    """Return the sentences of a user's text; see `sentences`.

    Args:
        text: the text.
        language: "en" or "zh".
        level: one of `LEVELS`.

    Raises:
        UserError: "no_text" for a text without tokens.
    """
    result = corpus_of(sentences(text), (), language, level)
    if len(result.vocabulary) == len((UNKNOWN, END)):
        raise UserError("no_text", "There is nothing to count. Type a text.")
    return result


@cached_once
def counts(language: str, level: str) -> NgramCounts:
    """Return the n-grams of the bundled sentences for training.

    Args:
        language: "en" or "zh".
        level: one of `LEVELS`.
    """
    sentences = corpus(language, level)
    return count(sentences.train, len(sentences.vocabulary), ORDER)


@lru_cache(maxsize=32)  # a model is its counts and a few discounts, unless it reads a text
def model(language: str, level: str, smoothing: str, order: int) -> NgramModel:
    """Return an n-gram model of the bundled sentences.

    Args:
        language: "en" or "zh".
        level: one of `LEVELS`.
        smoothing: one of `ngrams.SMOOTHINGS`.
        order: n.
    """
    return fit(counts(language, level), smoothing, order)
