"""Bits per character of n-gram models, recurrent networks and a decoder on the same sentences."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from seqviz.compute.gates.encoding import END
from seqviz.compute.gates.networks import log_probabilities, trace
from seqviz.compute.language_models.ngrams import ORDER, fit
from seqviz.compute.language_models.ruler import BitsPerCharacter
from seqviz.data import chinese, reviews
from seqviz.experiments.gpt.surprise import surprise
from seqviz.experiments.language_models.corpora import corpus, counts
from seqviz.jobs import Report, no_progress
from seqviz.models import checkpoints

SMOOTHINGS = ("witten_bell", "kneser_ney", "modified_kneser_ney")
NETWORKS = ("characters_gru", "characters_lstm")
END_ID = 1


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
    fitted = [("ngram1", "witten_bell", 1)] + [
        (f"{smoothing}{n}", smoothing, n) for smoothing in SMOOTHINGS for n in range(2, ORDER + 1)
    ]
    networks = NETWORKS if language == "en" else ()
    steps = 1 + len(fitted) + len(networks) + len(decoders)
    for name, smoothing, n in fitted:
        model = fit(counts(language, "letters"), smoothing, n)
        rows[name] = np.array([model.bits(ids, end).sum() for ids in held])
        report(len(rows) / steps, len(rows) / steps)
    texts = (chinese.reviews_split if language == "zh" else reviews.characters_split)()[1]
    for name in networks:
        rows[name] = np.array([_by_network(name, text) for text in texts])
        report(len(rows) / steps, len(rows) / steps)
    for name in decoders:
        rows[name] = np.array([_by_decoder(name, text) for text in texts])
        report(len(rows) / steps, len(rows) / steps)
    return BitsPerCharacter(tuple(rows), np.stack([*rows.values()]), lengths)


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
