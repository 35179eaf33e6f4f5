"""Token importance for a classifier, by attention and by gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.bert_accuracy.results import LinearHead
from seqviz.experiments.bert_accuracy.encoding import SentenceBatch, buckets, hidden, pad, pooled
from seqviz.models import attention_hook as taps
from seqviz.models.pretrained import Pretrained

Scores = tuple[Float[np.ndarray, "token"], ...]
_BATCH = 32


def attention_received(pretrained: Pretrained, ids: Sequence[np.ndarray]) -> Scores:
    """Return the share of attention that each token receives, one array per sentence.

    It is the mean over layers, heads and the queries that are words; [CLS] and [SEP] are excluded
    as queries, since their attention has patterns of its own (Clark et al. 2019).

    Args:
        pretrained: the encoder.
        ids: token ids of each sentence.
    """

    def received(network: Any, device: str, batch: SentenceBatch) -> Any:
        import torch

        asks = torch.from_numpy(batch.real & ~_ends(batch)).to(device)
        asks = asks / asks.sum(1, keepdim=True).clamp(min=1)
        layers: list[Any] = []

        def each(_: int) -> None:
            weights = attention_hook.weights.pop()  # [sentence, head, query, key]
            layers.append((weights.mean(1) * asks[:, :, None]).sum(1))

        attention_hook = taps.AttentionHook(each=each)
        with taps.hooked(attention_hook):
            hidden(network, device, batch)
        return torch.stack(layers).mean(0)

    return _scores(pretrained, ids, received)


def gradient_times_input(
    pretrained: Pretrained, ids: Sequence[np.ndarray], head: LinearHead, feature: str
) -> Scores:
    """Return |gradient . input| of each token, one array per sentence.

    The gradient of logit("positive") - logit("negative") by the token's word vector, times that
    vector, summed over its dimensions, without sign. Positions and segments are not part of the
    input.

    Args:
        pretrained: the encoder.
        ids: token ids of each sentence.
        head: the classification head.
        feature: sentence vector that the head reads, of `FEATURES`.

    References:
        Ancona et al. (2018), table 1: gradient x input. Simonyan et al. (2013) use the gradient
            alone.
    """

    def slope(network: Any, device: str, batch: SentenceBatch) -> Any:
        import torch

        with torch.inference_mode(False), torch.enable_grad():
            real = torch.from_numpy(batch.real).to(device)
            words = network.get_input_embeddings()(torch.from_numpy(batch.ids).to(device))
            words = words.detach().requires_grad_()
            output = network(inputs_embeds=words, attention_mask=real.long())
            pooler = getattr(output, "pooler_output", None)
            vector = getattr(pooled(output.last_hidden_state, pooler, real), feature)
            direction = torch.from_numpy(head.weight[1] - head.weight[0]).to(device)
            (gradient,) = torch.autograd.grad((vector @ direction).sum(), words)
            return (gradient * words.detach()).sum(-1).abs()

    return _scores(pretrained, ids, slope)


def _scores(
    pretrained: Pretrained,
    ids: Sequence[np.ndarray],
    work: Callable[[Any, str, SentenceBatch], Any],
) -> Scores:
    """Return the rows of `work`, [sentence, token] of a batch, unpadded and in the given order."""
    result: dict[int, np.ndarray] = {}
    for numbers, batch in _batches(pretrained, ids):
        rows = pretrained.run(work, batch).cpu().numpy()
        for number, row, real in zip(numbers, rows, batch.real, strict=True):
            result[int(number)] = row[real].astype(np.float64)
    return tuple(result[number] for number in range(len(ids)))


def _batches(
    pretrained: Pretrained, ids: Sequence[np.ndarray]
) -> Iterator[tuple[np.ndarray, SentenceBatch]]:
    for numbers in buckets([len(item) for item in ids], _BATCH):
        yield numbers, pad([ids[n] for n in numbers], pretrained.tokenizer.pad_token_id)


def _ends(batch: SentenceBatch) -> np.ndarray:
    """Return True for the first and the last real token, [CLS] and [SEP]."""
    ends = np.zeros_like(batch.real)
    rows = np.arange(len(ends))
    ends[:, 0] = True
    ends[rows, batch.real.sum(1) - 1] = True
    return ends
