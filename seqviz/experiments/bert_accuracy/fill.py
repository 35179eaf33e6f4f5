"""Fill in: how well hidden, replaced and untouched tokens are guessed (Devlin et al. 2019)."""

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
from seqviz.experiments.bert_accuracy.encoding import Looks, buckets, hidden, pad, tokenize
from seqviz.experiments.bert_accuracy.fill_head import head
from seqviz.jobs import Report, no_progress
from seqviz.models import attention_hook as taps
from seqviz.models import texts
from seqviz.models.pretrained import Pretrained, load
from seqviz.models.texts import ModelText

CANDIDATES = 8
_BATCH = 32  # sentences: a quarter of a second
_CHUNK = 256  # places whose scores are in memory at once: 31 MB


def fill_in(
    settings: FillSettings, report: Report = no_progress, device: str = "cpu", model: str = "minilm"
) -> FillIn:
    """A job: corrupt the first test sentences as BERT's training does and rank the true tokens.

    Each sentence has a seed of its own, (settings.seed, its number), so that the first 200 are the
    same in a run of 200 and in one of 2,000. Reports the share that is done. Raises ValueError for
    shares that are no shares, and the refusals of `head`. (`device` names the queue.)
    """
    guesser = head(model)
    ids = tokenize(guesser, sentiment_split()[1].texts[: settings.sentences])
    tokenizer, vocabulary = guesser.tokenizer, guesser.network.config.vocab_size
    first = _first_word(guesser)
    found = [
        corruption.select(
            one,
            special(guesser, one),
            settings,
            vocabulary,
            (settings.seed, number),
            tokenizer.mask_token_id,
            first,
        )
        for number, one in enumerate(ids)
    ]
    truth = [one[changed.places] for one, changed in zip(ids, found, strict=True)]
    seen, places = [changed.ids for changed in found], [changed.places for changed in found]
    rank = ranked(guesser, seen, places, truth, report=lambda share: report(share, share))
    treatment = np.concatenate([changed.treatment for changed in found])
    return FillIn(settings, treatment, rank, frequency(model)[np.concatenate(truth)])


def fill_in_by_share(
    settings: FillSettings,
    shares: Sequence[float],
    report: Report = no_progress,
    device: str = "cpu",
    model: str = "minilm",
) -> tuple[FillIn, ...]:
    """A job: `fill_in` with each share of selected tokens in place of that of `settings`."""
    found: list[FillIn] = []

    def tell(record: object, fraction: float | None = None) -> None:
        share = (len(found) + (fraction or 0.0)) / len(shares)
        report(share, share)

    for share in shares:
        found.append(fill_in(replace(settings, share=share), tell, device, model))  # noqa: PERF401
    return tuple(found)


def ranked(
    guesser: Pretrained,
    ids: Sequence[np.ndarray],
    places: Sequence[np.ndarray],
    truth: Sequence[np.ndarray],
    looks: Looks | None = None,
    report: Callable[[float], object] = lambda share: None,
) -> Int[np.ndarray, "place"]:
    """The ranks of the true tokens, sentence by sentence.

    guesser: of `head`. ids: as the network sees them. places, truth: where to look, and which token
    should be there. looks: see `encoding.hidden`. Scores are made at these places only. report:
    called with the share that is done after each batch.
    """
    found: list[np.ndarray] = [np.zeros(0, int)] * len(ids)
    done = 0
    for numbers in buckets([len(one) for one in ids], _BATCH):
        batch = pad([ids[n] for n in numbers], guesser.tokenizer.pad_token_id)
        counts = [len(places[n]) for n in numbers]
        rows = np.repeat(np.arange(len(numbers)), counts)
        columns = np.concatenate([places[n] for n in numbers])
        wanted = np.concatenate([truth[n] for n in numbers])

        def work(
            network: Any,
            device: str,
            batch: Any = batch,
            rows: np.ndarray = rows,
            columns: np.ndarray = columns,
            wanted: np.ndarray = wanted,
        ) -> np.ndarray:
            import torch

            vectors = hidden(network, device, batch, looks=looks)[0][rows, columns]
            goal = torch.from_numpy(wanted).to(device)[:, None]
            ranks = [
                _rank(network.fill_in(vectors[i : i + _CHUNK]), goal[i : i + _CHUNK])
                for i in range(0, len(goal), _CHUNK)
            ]
            return np.concatenate([np.zeros(0, int), *ranks])

        rows_of = np.split(guesser.run(work), np.cumsum(counts)[:-1])
        for number, row in zip(numbers, rows_of, strict=True):
            found[number] = row
        done += len(numbers)
        report(done / len(ids))
    return np.concatenate(found)


def guesses(
    model: str, text: ModelText, place: int, treatments: Sequence[str] = TREATMENTS, seed: int = 0
) -> Guesses:
    """The best guesses at one token of a text: as [MASK], as a random token, and left alone.

    place: index of the token, [CLS] is 0; a word of several pieces is hidden piece by piece. seed:
    of the random token. Raises ValueError when `place` is no token of the text, and the refusals of
    `head`.
    """
    guesser = head(model)
    tokens = _tokens(guesser, text, place)
    first, vocabulary = _first_word(guesser), guesser.network.config.vocab_size
    shown = {
        "mask": guesser.tokenizer.mask_token_id,
        "random": np.random.RandomState(seed).randint(first, vocabulary),
        "kept": tokens.ids[place],
    }
    rows = np.repeat(tokens.ids[None], len(treatments), 0)
    rows[:, place] = [shown[treatment] for treatment in treatments]
    return _best(guesser, tokens, rows, place, tuple(treatments))


def guesses_by_direction(model: str, text: ModelText, place: int) -> Guesses:
    """The best guesses at one token as [MASK]: looking both ways, only left, only right.

    Arguments and refusals as in `guesses`.
    """
    import torch

    guesser = head(model)
    tokens = _tokens(guesser, text, place)
    rows = np.repeat(tokens.ids[None], len(DIRECTIONS), 0)
    rows[:, place] = guesser.tokenizer.mask_token_id
    whole = torch.ones(rows.shape[1], rows.shape[1], dtype=torch.bool)
    allowed = torch.stack([whole, whole.tril(), whole.triu()])
    return _best(guesser, tokens, rows, place, DIRECTIONS, allowed)


def special(model: Pretrained, ids: np.ndarray) -> np.ndarray:
    """Which tokens were put there by the tokenizer."""
    tokenizer = model.tokenizer
    return np.isin(ids, [tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id])


@lru_cache(maxsize=8)
def frequency(model: str) -> Int[np.ndarray, "token"]:
    """Each token's rank by how often it comes in the training sentences; 1 is the most frequent.

    Equally frequent tokens in the order of the vocabulary. What always guesses by frequency alone
    is the baseline of `fill_in`.
    """
    loaded = load(model)
    ids = tokenize(loaded, sentiment_split()[0].texts)
    counts = np.zeros(loaded.network.config.vocab_size, int)
    for one in ids:
        np.add.at(counts, one[~special(loaded, one)], 1)
    rank = np.empty_like(counts)
    rank[np.argsort(-counts, kind="stable")] = np.arange(1, len(counts) + 1)
    rank.flags.writeable = False
    return rank


def _tokens(guesser: Pretrained, text: str, place: int) -> texts.Tokens:
    tokens = texts.tokens(guesser, text)
    if not 0 <= place < len(tokens.ids) or tokens.special[place]:
        raise ValueError(f"There is no token of the text at place {place}.")
    return tokens


def _best(
    guesser: Pretrained,
    tokens: texts.Tokens,
    rows: np.ndarray,
    place: int,
    conditions: tuple[str, ...],
    allowed: Any = None,
) -> Guesses:
    """One pass over all conditions, one a row, and what is likeliest at the place in each."""
    truth = int(tokens.ids[place])

    def work(network: Any, device: str) -> tuple[np.ndarray, ...]:
        import torch

        tap = taps.AttentionHook(
            allowed=None if allowed is None else allowed.to(device), note=False
        )
        with taps.hooked(tap):
            vectors = network(torch.from_numpy(rows).to(device)).last_hidden_state[:, place]
        scores = network.fill_in(vectors).cpu()
        chance = torch.softmax(scores.double(), -1)
        best = chance.topk(CANDIDATES)
        rank = _rank(scores, torch.full((len(rows), 1), truth))
        return best.values.numpy(), best.indices.numpy(), rank, chance[:, truth].numpy()

    probability, candidates, rank, chance = guesser.run(work)
    seen = [texts.piece(guesser, int(row[place])) for row in rows]
    before, behind = tokens.pieces[:place], tokens.pieces[place + 1 :]
    return Guesses(
        conditions,
        tuple((*before, piece, *behind) for piece in seen),
        place,
        tokens.pieces[place],
        tuple(tuple(texts.piece(guesser, int(one)) for one in row) for row in candidates),
        probability,
        rank,
        chance,
    )


def _rank(scores: Any, goal: Any) -> np.ndarray:
    """1 + how many tokens score higher than the true one."""
    rank: np.ndarray = (1 + (scores > scores.gather(1, goal)).sum(1)).cpu().numpy()
    return rank


def _first_word(model: Pretrained) -> int:
    """The id after the last reserved one; 999 in bert-base-uncased, behind [unused993]."""
    with model.lock:
        vocabulary = model.tokenizer.get_vocab()
    reserved = [
        i for word, i in vocabulary.items() if len(word) > 2 and (word[0], word[-1]) == ("[", "]")
    ]
    return max(reserved, default=-1) + 1
