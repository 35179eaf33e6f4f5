"""Ids of a pretrained model's vocabulary: neighbors in the table, and permutations of ids.

The shared model is not changed: a permuted embedding is a copy, whose vectors enter the network as
`inputs_embeds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.text.windows.permuted import (
    CASES,
    ByShare,
    Listed,
    Permuted,
    moved_rows,
    permutation,
)
from seqviz.compute.typed_numbers import normalize
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import encoding, heads
from seqviz.jobs import Report, no_progress
from seqviz.models import texts
from seqviz.models.pretrained import load
from seqviz.models.texts import ModelText

ROWS = 11  # rows of the window, as in the printed text
SPECIAL = (100, 101, 102, 103)
SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
SENTENCES, PERMUTATIONS = 200, 10
_BATCH = 20  # sentences of one pass


@lru_cache(2)
def names(model: str) -> tuple[str, ...]:
    """Return the tokens of a vocabulary in the order of their ids."""
    loaded = load(model)
    with loaded.lock:
        return tuple(loaded.tokenizer.convert_ids_to_tokens(list(range(len(loaded.tokenizer)))))


@lru_cache(2)
def _neighbors(model: str) -> tuple[np.ndarray, float, float]:
    """Return 1 / norm of each vector, mean cosine of consecutive ids and of random pairs."""

    def work(network: Any, device: str) -> tuple[np.ndarray, float, float]:
        import torch

        table = network.get_input_embeddings().weight[: len(names(model))]
        unit = torch.nn.functional.normalize(table, dim=1)
        other = torch.from_numpy(np.random.RandomState(0).permutation(len(unit))).to(device)
        inverse = (1 / table.norm(dim=1).clamp_min(1e-12)).cpu().numpy()
        beside = float((unit[1:] * unit[:-1]).sum(1).mean())
        return inverse, beside, float((unit * unit[other]).sum(1).mean())

    return load(model).run(work)


def matching(model: str, find: str) -> tuple[Int[np.ndarray, "one"], Int[np.ndarray, "match"]]:
    """Return the ids that match a search text; all ids for an empty one.

    Surrounding whitespace and case are ignored, as the vocabulary has neither.

    Args:
        model: name of the model.
        find: the text.

    Returns:
        The id that the text is, if it is a number; the other ids whose token contains the text.
    """
    targets, vocabulary = find.strip().lower(), names(model)
    digits = normalize(find)
    number = digits.isascii() and digits.isdigit() and len(digits) < 9
    by_id = [int(digits)] if number and int(digits) < len(vocabulary) else []
    results = [k for k, name in enumerate(vocabulary) if targets in name.lower() and k not in by_id]
    return np.array(by_id, np.int64), np.array(results, np.int64)


def listed(model: str, first: int, find: str = "") -> Listed:
    """Return the next tokens from an id, cyclically, or those that match a search text.

    A token whose id is searched for comes first.

    Args:
        model: name of the model.
        first: first id.
        find: search text, see `matching`.
    """
    by_id, result = matching(model, find)
    turned = np.roll(result, -int(np.searchsorted(result, first)))
    window = np.concatenate([by_id, turned])[:ROWS]
    vocabulary = names(model)
    inverse, beside, pairs = _neighbors(model)

    def work(network: Any, device: str) -> np.ndarray:
        import torch

        table = network.get_input_embeddings().weight[: len(vocabulary)]
        rows = table[torch.from_numpy(window).to(device)]
        return np.asarray((rows @ table.T).cpu().numpy())

    cosine = load(model).run(work) * inverse * inverse[window][:, None]
    after = (window + 1) % len(vocabulary)
    rows = np.arange(len(window))
    to_next = cosine[rows, after]
    cosine[rows, window] = -np.inf
    nearest = cosine.argmax(1)
    return Listed(
        tuple((item, vocabulary[item]) for item in SPECIAL),
        window,
        tuple(vocabulary[item] for item in window),
        to_next,
        nearest,
        tuple(vocabulary[item] for item in nearest),
        cosine[rows, nearest],
        len(by_id) + len(result),
        len(vocabulary),
        beside,
        pairs,
    )


def _vectors(network: Any, device: str, table: Any, batch: encoding.SentenceBatch) -> Any:
    """Return the last layer [sentence, token, d_model] for ids looked up in the given table."""
    import torch

    ids = torch.from_numpy(batch.ids).to(device)
    real = torch.from_numpy(batch.real).to(device)
    entering = torch.nn.functional.embedding(ids, table)
    return network(inputs_embeds=entering, attention_mask=real.long()).last_hidden_state


def _means(last: Any, batch: encoding.SentenceBatch) -> Float[np.ndarray, "sentence d_model"]:
    """Return the sentence vectors, means over the real tokens."""
    import torch

    real = torch.from_numpy(batch.real).to(last.device)
    values: np.ndarray = encoding.pooled(last, None, real).mean.cpu().numpy()
    return values


def _table(network: Any, model: str) -> Any:
    return network.get_input_embeddings().weight[: len(names(model))]


def _cosine(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    left, right = left.astype(float), right.astype(float)
    norms = np.linalg.norm(left, axis=-1) * np.linalg.norm(right, axis=-1)
    values: np.ndarray = (left * right).sum(-1) / norms
    return values


def permute(model: str, text: ModelText, share: float = 1.0, seed: int = 0) -> Permuted:
    """Encode a sentence under a permutation of ids, of table rows, or of both.

    "both": the rows of the table move with their ids; "ids": the sentence has new ids and the table
    is as trained; "rows": the table is permuted and the ids are not.

    Args:
        model: name of the encoder.
        text: the sentence.
        share: share of the vocabulary that is permuted.
        seed: random seed.

    Raises:
        UserError: errors of `load`.
    """
    pretrained = load(model)
    read = texts.tokens(pretrained, text)
    vocabulary = names(model)
    new = permutation(len(vocabulary), share, seed)
    order = moved_rows(new)
    given = np.stack([new[read.ids], new[read.ids], read.ids])
    looked = np.stack([order[given[0]], given[1], order[given[2]]])

    def work(network: Any, device: str) -> list[np.ndarray]:
        import torch

        table = _table(network, model)
        moved = table[torch.from_numpy(order).to(device)]
        real = np.ones((1, len(read.ids)), bool)
        return [
            _vectors(network, device, rows, encoding.SentenceBatch(ids[None],
                real))[0].cpu().numpy()
            for rows, ids in (
                (table, read.ids), (moved, given[0]), (table, given[1]), (moved, given[2])
            )
        ]  # fmt: skip

    trained, *others = pretrained.run(work)
    means = np.stack([item.mean(0) for item in (trained, *others)])
    positive = heads.apply(heads.standard_head(model), means)
    return Permuted(
        read.pieces,
        read.ids,
        given,
        tuple(tuple(vocabulary[item] for item in row) for row in looked),
        looked == read.ids,
        _cosine(means[1:], means[0]),
        np.array([np.abs(item - trained).max() for item in others]),
        positive[1:],
        float(positive[0]),
    )


def permute_many(
    model: str,
    shares: Sequence[float] = SHARES,
    sentences: int = SENTENCES,
    permutations: int = PERMUTATIONS,
    report: Report = no_progress,
) -> ByShare:
    """Run `permute` on the first test reviews, with different sentences per permutation (a job).

    Args:
        model: name of the encoder.
        shares: shares of the vocabulary that are permuted.
        sentences: number of sentences.
        permutations: number of permutations.
        report: progress callback; receives the share done.

    Raises:
        UserError: errors of `load`.
    """
    pretrained = load(model)
    test = sentiment_split()[1]
    ids = encoding.tokenize(pretrained, test.texts[:sentences])
    head = heads.standard_head(model)
    size = len(names(model))
    shape = len(shares), len(CASES), permutations
    cosine = np.empty(shape, np.float32)
    right, equal = np.zeros(shape[:2], int), np.zeros(len(shares), int)
    other, trained = np.empty(permutations, np.float32), 0
    for seed, part in enumerate(np.array_split(np.arange(sentences), permutations)):
        batch = encoding.pad([ids[n] for n in part], pretrained.tokenizer.pad_token_id)
        label = test.positive[part]

        def work(network: Any, device: str, batch: Any = batch, seed: int = seed) -> list[Any]:
            import torch

            table = _table(network, model)
            last = [_vectors(network, device, table, batch)]
            for share in shares:
                new = permutation(size, share, seed)
                moved = table[torch.from_numpy(moved_rows(new)).to(device)]
                renamed = encoding.SentenceBatch(new[batch.ids], batch.real)
                for rows, read in ((moved, renamed), (table, renamed), (moved, batch)):
                    last.append(_vectors(network, device, rows, read))
            real = torch.from_numpy(batch.real).to(device)[..., None]
            same = [((item == last[0]) | ~real).flatten(1).all(1).cpu().numpy() for item in last]
            return [[_means(item, batch) for item in last], same]

        (before, *means), (_, *same) = pretrained.run(work)
        trained += int(((heads.apply(head, before) > 0.5) == label).sum())
        other[seed] = _cosine(before, np.roll(before, 1, 0)).mean()
        for k in range(len(shares)):
            equal[k] += int(same[k * len(CASES)].sum())
            for c in range(len(CASES)):
                vectors = means[k * len(CASES) + c]
                cosine[k, c, seed] = _cosine(vectors, before).mean()
                right[k, c] += int(((heads.apply(head, vectors) > 0.5) == label).sum())
        report((seed + 1) / permutations, (seed + 1) / permutations)
    positive = int(test.positive[:sentences].sum())
    return ByShare(np.array(shares), cosine, right, equal, trained, other, sentences, positive)
