"""Network that reads a window of words: training, held-out loss, and agreement at a distance."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gates import encoding
from seqviz.compute.gates.encoding import END
from seqviz.compute.gates.networks import log_probabilities, trace
from seqviz.compute.gpt.draw import probabilities
from seqviz.compute.language_models import window
from seqviz.compute.language_models.agreement import AgreementByDistance
from seqviz.compute.language_models.blocks import TrainedBlocks, WindowRecord
from seqviz.compute.language_models.ngrams import count, fit
from seqviz.compute.language_models.window import BlockSimilarity, NextWords, WindowNetwork
from seqviz.compute.language_models.window_training import WindowSettings, train
from seqviz.core.errors import UserError
from seqviz.data.word_lists import agreement
from seqviz.experiments.gpt.continuation import next_token
from seqviz.experiments.language_models.corpora import END_ID, Corpus, corpus, model
from seqviz.jobs import Report, no_progress
from seqviz.models import checkpoints
from seqviz.models.pretrained import decoder
from seqviz.models.texts import TokenizerText, tokens
from seqviz.stats.estimate import Estimate, ratio_ci

VERBS = ("were", "was")
ORDER = 3  # words of the n-gram that is compared with the window
LIVE = WindowSettings(words=2_000, updates=1_000)  # 28 s of processor time on a busy machine
SEEDS = 5
SHOWN = 10  # likely words


@dataclass(frozen=True)
class TrainedWindow:
    """Network trained on the bundled sentences, with its loss on held-out ones.

    Attributes:
        records: training loss over the updates.
        bits: bits per word of the network on held-out sentences, their ends included.
        alone: bits per word by the frequencies of single words.
        unknown: share of held-out words outside the vocabulary.
        seconds: processor time of the training.
    """

    network: WindowNetwork
    records: tuple[WindowRecord, ...]
    bits: Estimate
    alone: Estimate
    unknown: float
    seconds: float


def pairs(size: int) -> tuple[Int[np.ndarray, "window position"], Int[np.ndarray, "window"]]:
    """Return the windows of the sentences for training, and the word after each.

    Args:
        size: size of the vocabulary.
    """
    ids = corpus("en", "words", size).train[1:].astype(np.int64)  # as PyTorch needs them
    cuts = np.flatnonzero(ids == END_ID) + 1
    sentences = np.split(ids, cuts[:-1])
    return np.concatenate([window.windows_of(row, window.WINDOW) for row in sentences]), ids


def held_out(sentences: Corpus, bits: Callable[[np.ndarray], np.ndarray]) -> Estimate:
    """Return bits per word of a model on held-out sentences, with their ends.

    Args:
        sentences: the corpus.
        bits: returns the bits of each word of a sentence.
    """
    rows = [bits(np.append(ids, END_ID)) for ids in sentences.held]
    sums, lengths = (np.array([f(row) for row in rows], float) for f in (np.sum, len))
    return ratio_ci(sums, lengths, "sentences")


def train_window(settings: WindowSettings, report: Report = no_progress) -> TrainedWindow:
    """Train a network on the bundled sentences and measure it on held-out ones (a job).

    Args:
        settings: the settings.
        report: receives each record; may raise to stop the training.
    """
    sentences = corpus("en", "words", settings.words)
    started = time.process_time()
    windows, targets = pairs(settings.words)
    network, records = train(windows, targets, sentences.vocabulary.names, settings, report)
    spent = time.process_time() - started
    alone = np.bincount(targets, minlength=len(network.words)) + 1.0
    log2 = np.log2(alone / alone.sum())
    return TrainedWindow(
        network, records, held_out(sentences, network.bits),
        held_out(sentences, lambda ids: -log2[ids]), sentences.unknown, spent,
    )  # fmt: skip


def compare_blocks(seeds: int = SEEDS, report: Report = no_progress) -> TrainedBlocks:
    """Train networks with a block for each position and with one, for each seed (a job).

    The vocabulary is the `LIVE.words` commonest words. What is counted reads the same words.

    Args:
        seeds: number of seeds.
        report: receives each record; may raise to stop the training.
    """
    sentences = corpus("en", "words", LIVE.words)
    windows, targets = pairs(LIVE.words)
    held = [np.append(ids, END_ID) for ids in sentences.held]
    bits = np.zeros((2, seeds, len(held)))
    parameters = np.zeros(2, int)

    def report_part(done: int) -> Callable[[WindowRecord], None]:
        return lambda record: report(record, (done + record.fraction) / (2 * seeds))

    for done, (seed, tied) in enumerate(np.ndindex(seeds, 2)):
        network, _ = train(
            windows, targets, sentences.vocabulary.names,
            replace(LIVE, tied=bool(tied), seed=seed),
            report_part(done),
        )  # fmt: skip
        bits[tied, seed] = [network.bits(ids).sum() for ids in held]
        parameters[tied] = network.parameters
    counts, end = count(sentences.train, LIVE.words, ORDER), np.array([END_ID])
    models = [fit(counts, "kneser_ney", n) for n in (1, ORDER)]
    counted = [model.total_bits(held, end) for model in models]
    lengths = np.array([len(ids) for ids in held])
    return TrainedBlocks(parameters, bits, np.array(counted), lengths, sentences.unknown)


def words_read(text: TokenizerText) -> int:
    """Return the number of words and marks of a text."""
    return len(encoding.words(text, ()))


def next_words(text: TokenizerText, position: int, n_likely: int = SHOWN) -> NextWords:
    """Return what the shipped network expects after the first words of a text.

    Args:
        text: the text.
        position: number of these words, at most all.
        n_likely: number of likely words.

    Raises:
        UserError: "no_text" for a text without words.
    """
    network = checkpoints.load_window()
    read = encoding.words(text, network.words)
    if not len(read):
        raise UserError("no_text", "There is nothing to count. Type a text.")
    position = min(position, len(read))
    before = np.append(np.full(network.window, END_ID), read.ids[:position])[-network.window :]
    p = 2 ** network.log2_probabilities(before[None])[0]
    order = np.argsort(-p, kind="stable")
    following = int([*read.ids, END_ID][position])
    return NextWords(
        read.pieces, read.ids == 0, position, tuple(network.words[k] for k in order[:n_likely]),
        p[order[:n_likely]], [*read.pieces, END][position], 1 + int((p > p[following]).sum()),
        float(p[following]),
    )  # fmt: skip


def block_similarity(first: int, second: int, n_words: int) -> BlockSimilarity:
    """Compare what two positions of the shipped network make of the commonest words.

    Args:
        first: a position, from 1; the last is the word before the predicted one.
        second: the other position.
        n_words: number of words.
    """
    return checkpoints.load_window().similarity(first - 1, second - 1, n_words)


def agreement_by_distance(
    decoders: tuple[str, ...] = (), limit: int | None = None, report: Report = no_progress
) -> AgreementByDistance:
    """Measure P(were) - P(was) after beginnings of sentences, by the words inserted (a job).

    The models are the word trigram with Kneser-Ney smoothing, the shipped window network, the
    shipped GRU, which predicts the letters of both verbs up to the space behind them, and decoders.

    Args:
        decoders: names of pretrained decoders.
        limit: number of sentences; by default all.
        report: receives the share done; may raise to stop.

    Raises:
        UserError: errors of `next_token`.
    """
    sentences = agreement()[:limit]
    lengths = range(len(sentences[0].between) + 1)
    models: dict[str, Callable[[str], float]] = {
        "ngram": _by_ngram, "window": _by_window, "gru": _by_characters,
        **{name: partial(_by_decoder, name) for name in decoders},
    }  # fmt: skip
    values = np.zeros((2, len(models), len(lengths), len(sentences)))
    for row, prefer in enumerate(models.values()):
        for (k, plural), n in product(enumerate((True, False)), lengths):
            values[k, row, n] = [prefer(item.beginning(plural, n)) for item in sentences]
        report((row + 1) / len(models), (row + 1) / len(models))
    inserted = np.array([len(" ".join(sentences[0].between[:n]).split()) for n in lengths])
    return AgreementByDistance(tuple(models), inserted, values[0], values[1])


def _by_ngram(text: str) -> float:
    sentences = corpus("en", "words")
    p = model("en", "words", "kneser_ney", ORDER).distribution(
        np.append(END_ID, sentences.ids(text)).tolist()
    )
    return _difference(p, sentences.vocabulary.ids(VERBS).tolist())


def _by_window(text: str) -> float:
    network = checkpoints.load_window()
    ids = encoding.words(text, network.words).ids
    before = np.append(np.full(network.window, END_ID), ids)[-network.window :]
    p = 2 ** network.log2_probabilities(before[None])[0]
    return _difference(p, [network.words.index(verb) for verb in VERBS])


def _by_characters(text: str) -> float:
    network = checkpoints.load("characters_gru")
    values = []
    for verb in VERBS:
        ids = encoding.characters(f"{text} {verb}", network.symbols).ids
        ids = np.append(ids, network.symbols.index(" "))
        log = log_probabilities(network, trace(network, ids).hidden[:-1])
        first = len(text) + 1  # the space in front of the verb is given
        values.append(np.exp(log[np.arange(first, len(ids)), ids[first:]].sum()))
    return float(values[0] - values[1])


def _by_decoder(name: str, text: str) -> float:
    p = probabilities(next_token(name, text).scores)
    return _difference(p, [int(tokens(decoder(name), f" {verb}").ids[0]) for verb in VERBS])


def _difference(p: Float[np.ndarray, "word"], verbs: Sequence[int]) -> float:
    return float(p[verbs[0]] - p[verbs[1]])
