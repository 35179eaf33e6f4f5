"""N-gram models of bundled sentences or of a user's text: orders, followers, impossible texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from seqviz.compute.language_models import unseen
from seqviz.compute.language_models.ngrams import ORDER, count, fit
from seqviz.compute.language_models.unseen import (
    Continuations,
    Followers,
    HeldOutTexts,
)
from seqviz.compute.language_models.word_orders import WordOrders, word_orders
from seqviz.experiments.language_models.corpora import (
    END_ID,
    Corpus,
    bundled,
    corpus,
    counts,
    model,
    sentences,
    tokens,
    user_corpus,
)
from seqviz.jobs import Report, no_progress
from seqviz.models.texts import TokenizerText

MAX_LISTED = 5  # sentences


@dataclass(frozen=True)
class CountedSentences:
    """Training sentences that gave an n-gram its count.

    Attributes:
        count: occurrences of the n-gram.
        sentences: number of sentences that contain it.
        listed: the first of them, as they stand in the text.
    """

    count: int
    sentences: int
    listed: tuple[str, ...]


def orders(
    text: TokenizerText, sentence: TokenizerText, language: str, n: int, smoothing: str
) -> WordOrders:
    """Rank all orders of the words of a sentence under an n-gram model of a user's text.

    Args:
        text: the corpus; see `corpora.sentences`. Marks are left out.
        sentence: the sentence.
        language: "en" or "zh".
        n: words of the longest n-gram.
        smoothing: one of `ngrams.SMOOTHINGS`.

    Raises:
        UserError: "no_text" for a corpus or a sentence without words.
    """
    *lines, words = (
        [word for word in tokens(part, language, "words") if any(map(str.isalnum, word))]
        for part in (*sentences(text), sentence)
    )
    return word_orders(lines, words, n, smoothing)


def followers(
    text: TokenizerText, context: TokenizerText, language: str, level: str, n: int, smoothing: str
) -> Followers:
    """Return what follows a context in a corpus, before and after smoothing.

    Args:
        text: the corpus; empty for the bundled sentences.
        context: the text before; the last n - 1 tokens are read, after the end of a sentence.
        language: "en" or "zh".
        level: one of `corpora.LEVELS`.
        n: length of the n-grams.
        smoothing: one of `ngrams.SMOOTHINGS`.

    Raises:
        UserError: "no_text" for a text without tokens.
    """
    source = _counted(text, language, level)
    if text.strip():
        fitted = fit(count(source.train, len(source.vocabulary), ORDER), smoothing, n)
    else:
        fitted = model(language, level, smoothing, n)
    before = [END_ID, *source.ids(context).tolist()]
    return unseen.followers(fitted, source.vocabulary.names, before)


def counted_sentences(
    text: TokenizerText, ngram: tuple[str, ...], language: str, level: str
) -> CountedSentences:
    """Return the sentences of a corpus that contain an n-gram.

    Args:
        text: the corpus; empty for the bundled sentences.
        ngram: symbols of the corpus: a context and what follows it.
        language: "en" or "zh".
        level: one of `corpora.LEVELS`.

    Raises:
        UserError: "no_text" for a text without tokens.
    """
    source = _counted(text, language, level)
    lines = sentences(text) if text.strip() else bundled(language)[0]
    result = unseen.occurrences(source.train, source.vocabulary.ids(ngram).tolist(), END_ID)
    listed = tuple(lines[k] for k in result.sentences[:MAX_LISTED])
    return CountedSentences(result.count, len(result.sentences), listed)


def longest(text: TokenizerText, language: str, level: str) -> int:
    """Return the n of the longest n-grams that are counted: short texts have no longer ones.

    Args:
        text: the corpus; empty for the bundled sentences.
        language: "en" or "zh".
        level: one of `corpora.LEVELS`.

    Raises:
        UserError: "no_text" for a text without tokens.
    """
    return min(ORDER, len(_counted(text, language, level).train))


def _counted(text: TokenizerText, language: str, level: str) -> Corpus:
    """Return the corpus of a user's text, or of the bundled sentences for an empty one."""
    return user_corpus(text, language, level) if text.strip() else corpus(language, level)


def held_out_texts(language: str, level: str, report: Report = no_progress) -> HeldOutTexts:
    """Return what held-out sentences cost under each smoothing and n (a job).

    Args:
        language: "en" or "zh".
        level: one of `corpora.LEVELS`.
        report: receives the share done.
    """
    report(0.0, 0.0)
    return unseen.held_out_texts(counts(language, level), corpus(language, level).held, END_ID)


@cache
def by_continuation(language: str) -> Continuations:
    """Return the words of the bundled sentences that Kneser-Ney makes rarest.

    Args:
        language: "en" or "zh".
    """
    names = corpus(language, "words").vocabulary.names
    return unseen.by_continuation(counts(language, "words"), names)
