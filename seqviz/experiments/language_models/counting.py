"""N-gram models of bundled sentences or of a user's text: orders, followers, impossible texts."""

from __future__ import annotations

from functools import cache

from seqviz.compute.language_models import unseen
from seqviz.compute.language_models.ngrams import ORDER, count, fit
from seqviz.compute.language_models.unseen import Continuations, Followers, ImpossibleTexts
from seqviz.compute.language_models.word_orders import WordOrders, word_orders
from seqviz.experiments.language_models.corpora import (
    MAX_CORPUS_CHARS,
    corpus,
    counts,
    model,
    tokens,
    user_corpus,
)
from seqviz.models.texts import TokenizerText

END_ID = 1


def orders(
    text: TokenizerText, sentence: TokenizerText, language: str, n: int, smoothing: str
) -> WordOrders:
    """Rank all orders of the words of a sentence under an n-gram model of a user's text.

    Args:
        text: the corpus, a sentence on each line.
        sentence: the sentence.
        language: "en" or "zh".
        n: words of the longest n-gram.
        smoothing: one of `ngrams.SMOOTHINGS`.

    Raises:
        UserError: "no_text" for a corpus or a sentence without words.
    """
    lines = [tokens(line, language, "words") for line in text[:MAX_CORPUS_CHARS].splitlines()]
    return word_orders(lines, tokens(sentence, language, "words"), n, smoothing)


def followers(
    text: TokenizerText, context: TokenizerText, language: str, level: str, n: int, smoothing: str
) -> Followers:
    """Return what follows a context in a corpus, before and after smoothing.

    Args:
        text: the corpus, a sentence on each line; empty for the bundled sentences.
        context: the text before; the last n - 1 tokens are read, after the end of a sentence.
        language: "en" or "zh".
        level: one of `corpora.LEVELS`.
        n: length of the n-grams.
        smoothing: one of `ngrams.SMOOTHINGS`.

    Raises:
        UserError: "no_text" for a text without tokens.
    """
    if text.strip():
        sentences = user_corpus(text, language, level)
        fitted = fit(count(sentences.train, len(sentences.vocabulary), ORDER), smoothing, n)
    else:
        sentences = corpus(language, level)
        fitted = model(language, level, smoothing, n)
    before = [END_ID, *sentences.ids(context).tolist()]
    return unseen.followers(fitted, sentences.vocabulary.names, before)


@cache
def impossible_texts(language: str, level: str) -> ImpossibleTexts:
    """Return the share of held-out sentences with probability 0 without smoothing, for each n.

    Args:
        language: "en" or "zh".
        level: one of `corpora.LEVELS`.
    """
    return unseen.impossible_texts(counts(language, level), corpus(language, level).held, END_ID)


@cache
def by_continuation(language: str) -> Continuations:
    """Return the words of the bundled sentences that Kneser-Ney makes rarest.

    Args:
        language: "en" or "zh".
    """
    names = corpus(language, "words").vocabulary.names
    return unseen.by_continuation(counts(language, "words"), names)
