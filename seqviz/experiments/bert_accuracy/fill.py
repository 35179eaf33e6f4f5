"""Fill-in accuracy for masked, replaced and unchanged tokens (Devlin et al. 2019)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Int

from seqviz.compute.bert_accuracy import corruption
from seqviz.compute.bert_accuracy.results import (
    DIRECTIONS,
    TREATMENTS,
    FillIn,
    FillSettings,
    Guesses,
)
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy.encoding import (
    Looks,
    SentenceBatch,
    buckets,
    hidden,
    pad,
    tokenize,
)
from seqviz.experiments.bert_accuracy.fill_head import head
from seqviz.jobs import Report, no_progress, scale_report
from seqviz.models import attention_hook as taps
from seqviz.models import texts
from seqviz.models.pretrained import Pretrained, load
from seqviz.models.texts import ModelText

CANDIDATES = 8
_BATCH = 32  # sentences: a quarter of a second
_CHUNK = 256  # positions whose scores are in memory at once: 31 MB


def fill_in(settings: FillSettings, report: Report = no_progress, model: str = "minilm") -> FillIn:
    """Corrupt the first test sentences as in BERT's training and rank the true tokens (a job).

    Each sentence has its own seed, (settings.seed, its number), so the first 200 are the same in a
    run of 200 and in one of 2,000.

    Args:
        settings: number of sentences, shares and seed.
        report: progress callback; receives the share done.
        model: name of the model.

    Raises:
        ValueError: shares out of range.
        UserError: errors of `head`.
    """
    guesser = head(model)
    ids = tokenize(guesser, sentiment_split()[1].texts[: settings.sentences])
    tokenizer, vocabulary = guesser.tokenizer, guesser.network.config.vocab_size
    first = _first_word(guesser)
    result = [
        corruption.select(
            item,
            special(guesser, item),
            settings,
            vocabulary,
            (settings.seed, number),
            tokenizer.mask_token_id,
            first,
        )
        for number, item in enumerate(ids)
    ]
    truth = [item[changed.positions] for item, changed in zip(ids, result, strict=True)]
    observed, positions = (
        [changed.ids for changed in result],
        [changed.positions for changed in result],
    )
    rank = ranked(guesser, observed, positions, truth, report=lambda share: report(share, share))
    treatment = np.concatenate([changed.treatment for changed in result])
    return FillIn(settings, treatment, rank, frequency(model)[np.concatenate(truth)])


def fill_in_by_share(
    settings: FillSettings,
    shares: Sequence[float],
    report: Report = no_progress,
    model: str = "minilm",
) -> tuple[FillIn, ...]:
    """Run `fill_in` for several shares of selected tokens (a job).

    Args:
        settings: the other settings.
        shares: shares that replace that of `settings`.
        report: progress callback; receives the share done.
        model: name of the model.
    """
    n = len(shares)
    return tuple(
        fill_in(replace(settings, share=share), scale_report(report, k / n, (k + 1) / n), model)
        for k, share in enumerate(shares)
    )


def ranked(
    guesser: Pretrained,
    ids: Sequence[np.ndarray],
    positions: Sequence[np.ndarray],
    truth: Sequence[np.ndarray],
    visibility: Looks | None = None,
    report: Callable[[float], object] = lambda share: None,
) -> Int[np.ndarray, "place"]:
    """Return the ranks of the true tokens at the given positions, sentence by sentence.

    Args:
        guesser: model with a fill-in head, of `head`.
        ids: token ids of each sentence as the network reads them.
        positions: positions to predict, for each sentence.
        truth: true token ids at these positions.
        visibility: see `encoding.hidden`.
        report: called with the share done after each batch.
    """
    results: list[np.ndarray] = [np.zeros(0, int)] * len(ids)
    done = 0
    for numbers in buckets([len(item) for item in ids], _BATCH):
        batch = pad([ids[n] for n in numbers], guesser.tokenizer.pad_token_id)
        counts = [len(positions[n]) for n in numbers]
        rows = np.repeat(np.arange(len(numbers)), counts)
        columns = np.concatenate([positions[n] for n in numbers])
        targets = np.concatenate([truth[n] for n in numbers])

        ranks = guesser.run(_ranks, batch, (rows, columns), targets, visibility)
        for number, row in zip(numbers, np.split(ranks, np.cumsum(counts)[:-1]), strict=True):
            results[number] = row
        done += len(numbers)
        report(done / len(ids))
    return np.concatenate(results)


def _ranks(
    network: Any, device: str, batch: SentenceBatch, cells: tuple[np.ndarray, np.ndarray],
    truth: np.ndarray, visibility: Looks | None,
) -> Int[np.ndarray, "place"]:  # fmt: skip
    """Return the rank of the true token at each cell, a (sentence, token) index of the batch."""
    import torch

    vectors = hidden(network, device, batch, visibility=visibility)[0][cells]
    goal = torch.from_numpy(truth).to(device)[:, None]
    ranks = [
        _rank(network.fill_in(vectors[i : i + _CHUNK]), goal[i : i + _CHUNK])
        for i in range(0, len(goal), _CHUNK)
    ]
    return np.concatenate([np.zeros(0, int), *ranks])


def guesses(
    model: str, text: ModelText, index: int, treatments: Sequence[str] = TREATMENTS, seed: int = 0
) -> Guesses:
    """Return the best guesses at one token shown as [MASK], as a random token and unchanged.

    Args:
        model: name of the model.
        text: the text.
        index: index of the token, with [CLS] at 0; a word of several pieces is hidden piece by
            piece.
        treatments: the treatments, of `TREATMENTS`.
        seed: seed of the random token.

    Raises:
        ValueError: `index` is not a token of the text.
        UserError: errors of `head`.
    """
    guesser = head(model)
    tokens = _tokens(guesser, text, index)
    first, vocabulary = _first_word(guesser), guesser.network.config.vocab_size
    visible = {
        "mask": guesser.tokenizer.mask_token_id,
        "random": np.random.RandomState(seed).randint(first, vocabulary),
        "kept": tokens.ids[index],
    }
    rows = np.repeat(tokens.ids[None], len(treatments), 0)
    rows[:, index] = [visible[treatment] for treatment in treatments]
    return _best(guesser, tokens, rows, index, tuple(treatments))


def guesses_by_direction(model: str, text: ModelText, index: int) -> Guesses:
    """Return the best guesses at one [MASK] with attention to both sides, left only, right only.

    Args:
        model: name of the model.
        text: the text.
        index: index of the token, with [CLS] at 0.

    Raises:
        ValueError: `index` is not a token of the text.
        UserError: errors of `head`.
    """
    import torch

    guesser = head(model)
    tokens = _tokens(guesser, text, index)
    rows = np.repeat(tokens.ids[None], len(DIRECTIONS), 0)
    rows[:, index] = guesser.tokenizer.mask_token_id
    full = torch.ones(rows.shape[1], rows.shape[1], dtype=torch.bool)
    allowed = torch.stack([full, full.tril(), full.triu()])
    return _best(guesser, tokens, rows, index, DIRECTIONS, allowed)


def special(model: Pretrained, ids: np.ndarray) -> np.ndarray:
    """Return True for [CLS], [SEP] and [PAD].

    Args:
        model: the model.
        ids: token ids.
    """
    tokenizer = model.tokenizer
    return np.isin(ids, [tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id])


@lru_cache(maxsize=8)
def frequency(model: str) -> Int[np.ndarray, "token"]:
    """Return each token's rank by frequency in the training sentences, 1 for the most frequent.

    Ties are in the order of the vocabulary. Guessing by frequency alone is the baseline of
    `fill_in`.
    """
    loaded = load(model)
    ids = tokenize(loaded, sentiment_split()[0].texts)
    counts = np.zeros(loaded.network.config.vocab_size, int)
    for item in ids:
        np.add.at(counts, item[~special(loaded, item)], 1)
    rank = np.empty_like(counts)
    rank[np.argsort(-counts, kind="stable")] = np.arange(1, len(counts) + 1)
    rank.flags.writeable = False
    return rank


def _tokens(guesser: Pretrained, text: str, index: int) -> texts.Tokens:
    tokens = texts.tokens(guesser, text)
    if not 0 <= index < len(tokens.ids) or tokens.special[index]:
        raise ValueError(f"There is no token of the text at place {index}.")
    return tokens


def _best(
    guesser: Pretrained,
    tokens: texts.Tokens,
    rows: np.ndarray,
    index: int,
    conditions: tuple[str, ...],
    allowed: Any = None,
) -> Guesses:
    """Return the likeliest tokens at the index under each condition, one per row of a batch."""
    truth = int(tokens.ids[index])

    def work(network: Any, device: str) -> tuple[np.ndarray, ...]:
        import torch

        hook = taps.AttentionHook(
            allowed=None if allowed is None else allowed.to(device), note=False
        )
        with taps.hooked(hook):
            vectors = network(torch.from_numpy(rows).to(device)).last_hidden_state[:, index]
        scores = network.fill_in(vectors).cpu()
        probability = torch.softmax(scores.double(), -1)
        best = probability.topk(CANDIDATES)
        rank = _rank(scores, torch.full((len(rows), 1), truth))
        return best.values.numpy(), best.indices.numpy(), rank, probability[:, truth].numpy()

    probability, candidates, rank, p = guesser.run(work)
    observed = [texts.piece(guesser, int(row[index])) for row in rows]
    before, after = tokens.pieces[:index], tokens.pieces[index + 1 :]
    return Guesses(
        conditions,
        tuple((*before, piece, *after) for piece in observed),
        index,
        tokens.pieces[index],
        tuple(tuple(texts.piece(guesser, int(item)) for item in row) for row in candidates),
        probability,
        rank,
        p,
    )


def _rank(scores: Any, goal: Any) -> np.ndarray:
    """Return 1 + the number of tokens that score higher than the true one."""
    rank: np.ndarray = (1 + (scores > scores.gather(1, goal)).sum(1)).cpu().numpy()
    return rank


def _first_word(model: Pretrained) -> int:
    """Return the id after the last reserved token; 999 in bert-base-uncased, after [unused993]."""
    with model.lock:
        vocabulary = model.tokenizer.get_vocab()
    reserved = [
        i for word, i in vocabulary.items() if len(word) > 2 and (word[0], word[-1]) == ("[", "]")
    ]
    return max(reserved, default=-1) + 1
