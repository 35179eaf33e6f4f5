"""Induction heads: random tokens read twice by a decoder, and the loss without these heads."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.transformer.interpretability.induction import Induction, stripe
from seqviz.experiments.attention.head_trials import ordinary
from seqviz.experiments.transformer import functional
from seqviz.experiments.transformer.functional import Factor, Variant
from seqviz.jobs import Report, no_progress
from seqviz.models import attention_hook as taps
from seqviz.models import texts
from seqviz.models.pretrained import Pretrained, load

LENGTH = 24  # tokens of one copy
SEQUENCES = 50
MAX_HEADS_OFF = 16  # maximum number of ablated heads
_OTHERS, _APART = 10, 10_000  # sequences for ranking heads, and their first seed
_CHUNK = 6  # variants that run together


def copy_twice(
    model: str,
    seed: int = 0,
    count: int = SEQUENCES,
    report: Report = no_progress,
) -> Induction:
    """Measure repeated random sequences with an increasing number of heads ablated (a job).

    Args:
        model: name of the decoder.
        seed: seed of the first sequence; the others have the following seeds.
        count: number of sequences.
        report: progress callback; receives the share done.
    """
    pretrained = load(model)
    heads, others = ranked(model)
    stripes, losses, maps = [], [], 0.0
    for done in range(count):
        ids = tokens(pretrained, seed + done)
        weights = pretrained.run(_weights, ids)[heads[:, 0], heads[:, 1]]
        stripes.append(stripe(weights, LENGTH))
        maps = maps + weights / count
        samples = np.random.RandomState(seed + done).permutation(others)[:MAX_HEADS_OFF]
        rows = [
            _without(pool[:off]) for pool in (heads, samples) for off in range(MAX_HEADS_OFF + 1)
        ]
        results: list[np.ndarray] = []
        for start in range(0, len(rows), _CHUNK):
            results += pretrained.run(_bits, ids, rows[start : start + _CHUNK])
            share = (done + len(results) / len(rows)) / count
            report(share, share)
        losses.append(np.reshape(results, (2, MAX_HEADS_OFF + 1, -1)))
    queries = LENGTH + np.arange(LENGTH - 1)
    pieces = tuple(texts.piece(pretrained, int(item)) for item in ids) if count == 1 else ()
    return Induction(
        heads,
        np.array(stripes),
        np.asarray(maps),
        np.stack(losses, 2),
        float((1 / (queries + 1)).mean()),
        len(heads) + len(others),
        pretrained.network.config.vocab_size,
        pieces,
    )


def tokens(pretrained: Pretrained, seed: int) -> Int[np.ndarray, "token"]:
    """Return the ids of `LENGTH` different random words, twice in succession.

    Args:
        pretrained: the decoder.
        seed: random seed.
    """
    words = np.random.RandomState(seed).choice(ordinary(pretrained), LENGTH, replace=False)
    return np.concatenate([words, words])


@lru_cache(maxsize=4)
def ranked(model: str) -> tuple[Int[np.ndarray, "rank 2"], Int[np.ndarray, "other 2"]]:
    """Return (layer, head) of the strongest stripes and of the others, on separate sequences."""
    pretrained = load(model)
    result = np.mean(
        [
            stripe(pretrained.run(_weights, tokens(pretrained, _APART + k)), LENGTH)
            for k in range(_OTHERS)
        ],
        0,
    )
    order = np.argsort(-result, axis=None, kind="stable")
    indices = np.stack(np.unravel_index(order, result.shape), 1)
    return indices[:MAX_HEADS_OFF], indices[MAX_HEADS_OFF:]


def _without(heads: Int[np.ndarray, "off 2"]) -> Variant:
    return Variant(tuple(Factor("attention", int(layer), 0.0, int(head)) for layer, head in heads))


def _weights(
    network: Any, device: str, ids: Int[np.ndarray, "token"]
) -> Float[np.ndarray, "layer head query key"]:
    import torch

    with taps.hooked(taps.AttentionHook()) as hook:
        network.model(input_ids=torch.tensor(ids, device=device)[None], use_cache=False)
    return torch.cat(hook.weights).float().cpu().numpy()


def _bits(
    network: Any, device: str, ids: Int[np.ndarray, "token"], rows: list[Variant]
) -> list[Float[np.ndarray, "token"]]:
    """Return the bits of each token but the first, per variant."""
    import torch

    parts = functional.NetworkParts(network, ids, np.zeros(len(ids), int), device)
    after = torch.tensor(ids[1:], device=device)[:, None]
    results = []
    for stream in functional.forward(parts, rows):  # one by one, as all scores would take 60 MB
        log_probabilities = torch.log_softmax(network.lm_head(parts.last(stream[:-1])), -1)
        results.append(
            (-log_probabilities.gather(1, after)[:, 0] / math.log(2)).float().cpu().numpy()
        )
    return results
