"""N-gram models of bundled sentences or of a user's text: orders, followers, impossible texts."""

from __future__ import annotations

from functools import cache

from seqviz.compute.language_models import unseen
from seqviz.compute.language_models.ngrams import ORDER, count, fit
from seqviz.compute.language_models.unseen import Continuations, Followers, ImpossibleTexts
from seqviz.compute.language_models.word_orders import WordOrders, word_orders
from seqviz.experiments.language_models.corpora import (
    corpus,
    counts,
    model,
    sentences,
    tokens,
    user_corpus,
)
from seqviz.jobs import Report, no_progress
from seqviz.models.texts import TokenizerText

END_ID = 1


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
    if text.strip():
        source = user_corpus(text, language, level)
        fitted = fit(count(source.train, len(source.vocabulary), ORDER), smoothing, n)
    else:
        source = corpus(language, level)
        fitted = model(language, level, smoothing, n)
    before = [END_ID, *source.ids(context).tolist()]
    return unseen.followers(fitted, source.vocabulary.names, before)


def impossible_texts(language: str, level: str, report: Report = no_progress) -> ImpossibleTexts:
    """Return the share of held-out sentences with probability 0 without smoothing (a job).

    Args:
        language: "en" or "zh".
        level: one of `corpora.LEVELS`.
        report: receives the share done.
    """
    report(0.0, 0.0)
    return unseen.impossible_texts(counts(language, level), corpus(language, level).held, END_ID)


@cache
def by_continuation(language: str) -> Continuations:
    """Return the words of the bundled sentences that Kneser-Ney makes rarest.

    Args:
        language: "en" or "zh".
    """
    names = corpus(language, "words").vocabulary.names
    return unseen.by_continuation(counts(language, "words"), names)
