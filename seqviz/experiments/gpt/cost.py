"""Time per token by context length, with and without a KV cache."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gpt.cost import PASS_KINDS, CacheTimes
from seqviz.data.reviews import editorials
from seqviz.jobs import Report, no_progress
from seqviz.models import texts
from seqviz.models.kv_tree import ROOT, KVCacheTree
from seqviz.models.pretrained import decoder

LENGTHS = (8, 16, 32, 64, 128, 256, 504)
REPEATS = 5


def time_cache(
    model: str, lengths: tuple[int, ...] = LENGTHS, repeats: int = REPEATS,
    report: Report = no_progress,
) -> CacheTimes:  # fmt: skip
    """Time prefill, a token with the KV cache and the same token without (a job).

    The text consists of bundled editorials; the token after it is the model's likeliest. Each round
    covers all lengths, so that a moment of noise does not affect one length alone; the first round
    is a warmup.

    Args:
        model: name of the decoder.
        lengths: numbers of tokens before the timed one.
        repeats: number of counted rounds.
        report: progress callback; receives the share done.

    Raises:
        ValueError: a length that a text cannot have.
        UserError: errors of `decoder`.
    """
    pretrained = decoder(model)
    ids = texts.tokens(pretrained, " ".join(editorials().texts[:200])).ids
    if not all(0 < n <= len(ids) for n in lengths):
        raise ValueError(f"A text has 1 to {len(ids)} tokens here.")
    seconds = np.zeros((len(PASS_KINDS), repeats, len(lengths)))
    apart, ranks = np.zeros(len(lengths)), np.ones(len(lengths), int)
    for repeat in range(-1, repeats):
        for index, n in enumerate(lengths):
            took, retained, rerun = pretrained.run(_once, ids[:n])
            if repeat >= 0:
                seconds[:, repeat, index] = took
            apart[index] = max(apart[index], np.abs(retained - rerun).max())
            ranks[index] = max(ranks[index], 1 + int((rerun > rerun[retained.argmax()]).sum()))
        report((repeat + 2) / (repeats + 1), (repeat + 2) / (repeats + 1))
    return CacheTimes(np.array(lengths), seconds, apart, ranks)


def _once(
    network: Any, device: str, ids: Int[np.ndarray, "token"]
) -> tuple[list[float], Float[np.ndarray, "vocabulary"], Float[np.ndarray, "vocabulary"]]:
    """Return the three times in seconds, and the logits with and without the cache."""
    import torch

    marks = [time.perf_counter()]
    tree = KVCacheTree(network, device, ids)
    token = int(tree.logits.argmax())  # waits for the GPU
    marks.append(time.perf_counter())
    retained = tree.extend([ROOT], [token])[1][0].cpu().numpy()
    marks.append(time.perf_counter())
    full = torch.tensor([[*ids, token]], device=device)
    rerun = network(input_ids=full, use_cache=False, logits_to_keep=1).logits[0, -1]
    rerun = rerun.float().cpu().numpy()
    marks.append(time.perf_counter())
    return list(np.diff(marks)), retained, rerun
