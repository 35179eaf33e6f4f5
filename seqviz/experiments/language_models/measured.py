"""Bits per character of n-gram models, recurrent networks and a decoder on the same sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from seqviz.compute.gates import encoding
from seqviz.compute.gates.encoding import END
from seqviz.compute.gates.networks import log_probabilities, trace
from seqviz.compute.language_models.amounts import SHARES, BitsByAmount, bits_of_orders, spaced
from seqviz.compute.language_models.ngrams import ORDER, fit
from seqviz.compute.language_models.ruler import BitsPerCharacter
from seqviz.core.errors import UserError
from seqviz.data import chinese, reviews
from seqviz.experiments.gpt.surprise import surprise
from seqviz.experiments.language_models.corpora import END_ID, corpus, counts, model
from seqviz.jobs import Report, no_progress
from seqviz.models import checkpoints
from seqviz.models.texts import TokenizerText
from seqviz.stats.estimate import Estimate, stack

SMOOTHINGS = ("witten_bell", "kneser_ney", "modified_kneser_ney")
SMOOTHING = "modified_kneser_ney"  # of a user's text
NETWORKS = ("characters_gru", "characters_lstm")


def bits_per_character(
    language: str, decoders: tuple[str, ...] = (), report: Report = no_progress
) -> BitsPerCharacter:
    """Measure all models of a language on its held-out sentences (a job).

    The models are the uniform distribution, letters by frequency, n-grams of 2 to `ORDER` letters
    with each smoothing, and in English the shipped networks and decoders.

    Args:
        language: "en" or "zh".
        decoders: names of pretrained decoders.
        report: receives the share done; may raise to stop.
    """
    sentences = corpus(language, "letters")
    held = [np.append(ids, END_ID) for ids in sentences.held]
    end = np.array([END_ID])
    lengths = np.array([len(ids) for ids in held])
    rows = {"uniform": math.log2(len(sentences.vocabulary)) * lengths}
    fitted = _ngrams(SMOOTHINGS)
    networks = _networks(language)
    steps = 1 + len(fitted) + len(networks) + len(decoders)
    for name, smoothing, n in fitted:
        fitted_model = fit(counts(language, "letters"), smoothing, n)
        rows[name] = fitted_model.total_bits(held, end)
        report(len(rows) / steps, len(rows) / steps)
    texts = (chinese.reviews_split if language == "zh" else reviews.characters_split)()[1]
    for name in networks:
        rows[name] = np.array([_by_network(name, text) for text in texts])
        report(len(rows) / steps, len(rows) / steps)
    for name in decoders:
        rows[name] = np.array([_by_decoder(name, text) for text in texts])
        report(len(rows) / steps, len(rows) / steps)
    return BitsPerCharacter(tuple(rows), np.stack([*rows.values()]), lengths)


def bits_of_text(
    text: TokenizerText, language: str, decoders: tuple[str, ...] = ()
) -> BitsPerCharacter:
    """Measure a user's text as one sentence, with n-grams of `SMOOTHING` only.

    Args:
        text: the text.
        language: "en" or "zh"; decides which models read it, as in `bits_per_character`.
        decoders: names of pretrained decoders.

    Raises:
        UserError: "no_text" for an empty text.
    """
    text = " ".join(text.split())
    if not text:
        raise UserError("no_text", "There is nothing to count. Type a text.")
    letters = corpus(language, "letters")
    ids = np.append(letters.ids(text), END_ID).tolist()
    rows = {"uniform": math.log2(len(letters.vocabulary)) * len(ids)}
    for name, smoothing, n in _ngrams((SMOOTHING,)):
        after = model(language, "letters", smoothing, n).distribution
        p = [after([END_ID, *ids[:k]])[symbol] for k, symbol in enumerate(ids)]
        rows[name] = float(-np.log2(p).sum())
    rows |= {name: _by_network(name, text) for name in _networks(language)}
    rows |= {name: _by_decoder(name, text) for name in decoders}
    return BitsPerCharacter(tuple(rows), np.array([*rows.values()])[:, None], np.array([len(ids)]))


def unknown_signs(text: TokenizerText, language: str) -> tuple[str, ...]:
    """Return the characters of a text that a model of characters does not know.

    Args:
        text: the text.
        language: "en" or "zh".
    """
    alphabets = [corpus(language, "letters").vocabulary.names]
    alphabets += [checkpoints.load(name).symbols for name in _networks(language)]
    text = encoding.normalized(" ".join(text.split()))
    return tuple(
        sign for sign in dict.fromkeys(text) if not all(sign in alphabet for alphabet in alphabets)
    )


def _ngrams(smoothings: Sequence[str]) -> list[tuple[str, str, int]]:
    """Return name, smoothing and n of the n-grams; n = 1 has one smoothing for all."""
    orders = range(2, ORDER + 1)
    longer = [(f"{smoothing}{n}", smoothing, n) for smoothing in smoothings for n in orders]
    return [("ngram1", "witten_bell", 1), *longer]


def _networks(language: str) -> tuple[str, ...]:
    return NETWORKS if language == "en" else ()


def bits_by_amount(language: str, smoothing: str, report: Report = no_progress) -> BitsByAmount:
    """Measure n-grams of letters that have counted a share of the training text (a job).

    The alphabet is that of the whole text, so that all models predict among the same characters.

    Args:
        language: "en" or "zh".
        smoothing: one of `SMOOTHINGS`.
        report: receives the share done; may raise to stop.
    """
    sentences = corpus(language, "letters")
    ends = np.flatnonzero(sentences.train == END_ID)
    lines = [sentences.train[low + 1 : high] for low, high in pairwise(ends)]
    rows: list[np.ndarray] = []
    held: list[Estimate] = []
    train: list[Estimate] = []
    for share in SHARES:
        counted = [lines[k] for k in spaced(len(lines), share)]
        rows.append(np.concatenate([[END_ID], *(np.append(ids, END_ID) for ids in counted)]))
        few = tuple(counted[:: -(-len(counted) // len(sentences.held))])
        for texts, results in ((sentences.held, held), (few, train)):
            symbols = len(sentences.vocabulary)
            read = bits_of_orders(rows[-1], texts, symbols, smoothing, ORDER, END_ID)
            results.append(read.all)
        report(len(rows) / len(SHARES), len(rows) / len(SHARES))
    characters = np.array([len(row) - 1 for row in rows])
    return BitsByAmount(characters, stack(held), np.stack([item.mean for item in train]))


def _by_network(name: str, text: str) -> float:
    """Return the bits of a sentence and its end under a character network, after an end."""
    network = checkpoints.load(name)
    ids = np.append(network.encode(text).ids, network.symbols.index(END))
    log = log_probabilities(network, trace(network, ids[:-1]).hidden)
    return float(-log[np.arange(len(ids)), ids].sum() / math.log(2))


def _by_decoder(name: str, text: str) -> float:
    """Return the bits of the tokens of a sentence and of its end, after an end."""
    bits: Float[np.ndarray, "token"] = surprise(name, f"{END}{text}{END}").bits
    return float(bits.sum())
