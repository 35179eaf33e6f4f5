"""Many sentences through an encoder: sentence vectors, under any padding and any attention mask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.models import attention_hook as taps
from seqviz.models.pretrained import Pretrained
from seqviz.models.texts import ReadBy

Side = Literal["right", "left"]
Looks = Literal["left", "right"]
MAX_TOKENS = (
    64  # tokens of a sentence, [CLS] and [SEP] among them, where nobody says another number
)
# Tokens in one batch. On a CPU more are no faster, and so few take a fifth of a second, after which
# the work can be left; a GPU is idle between small batches.
_CPU, _GPU = 512, 16_384


@dataclass(frozen=True)
class SentenceBatch:
    """Sentences padded to one length. real: False where a token is padding."""

    ids: Int[np.ndarray, "sentence token"]
    real: Bool[np.ndarray, "sentence token"]


@dataclass(frozen=True)
class Vectors:
    """What a classifier can read of each sentence, float32, from the last layer.

    cls: the vector of [CLS]. mean: of the real tokens' vectors, [CLS] and [SEP] among them. pooler:
    tanh(W cls + b), the layer that BERT's next-sentence task was trained with; [sentence, 0] where
    the encoder has none.
    """

    cls: Float[np.ndarray, "sentence d_model"]
    mean: Float[np.ndarray, "sentence d_model"]
    pooler: Float[np.ndarray, "sentence d_pooler"]


def tokenize(
    pretrained: Pretrained,
    texts: Sequence[Annotated[str, ReadBy("pretrained")]],
    longest: int = MAX_TOKENS,
) -> tuple[Int[np.ndarray, "token"], ...]:
    """The token ids of each text with [CLS] and [SEP], cut to `longest` tokens."""
    with pretrained.lock:
        result = pretrained.tokenizer(
            list(texts), truncation=True, max_length=longest, return_attention_mask=False
        )["input_ids"]
    return tuple(np.array(ids, np.int64) for ids in result)


def buckets(lengths: Sequence[int] | np.ndarray, size: int = 64) -> list[np.ndarray]:
    """The places of all sentences in groups of `size`, those of like length together."""
    order = np.argsort(np.asarray(lengths), kind="stable")
    return [order[start : start + size] for start in range(0, len(order), size)]


def pad(
    ids: Sequence[np.ndarray], padding: int, side: Side = "right", length: int | None = None
) -> SentenceBatch:
    """Sentences side by side, padded to the longest, or to `length` where that is more.

    padding: the id of [PAD]. side: on which the padding stands.
    """
    lengths = np.array([len(item) for item in ids])
    width = max(int(lengths.max()), length or 0)
    positions = np.arange(width)
    first = np.zeros_like(lengths) if side == "right" else width - lengths
    real = (positions >= first[:, None]) & (positions < (first + lengths)[:, None])
    table = np.full((len(ids), width), padding, np.int64)
    table[real] = np.concatenate(ids)  # row by row, as the mask runs
    return SentenceBatch(table, real)


def hidden(
    network: Any,
    device: str,
    batch: SentenceBatch,
    *,
    visibility: Looks | None = None,
    masked: bool = True,
) -> tuple[Any, Any]:
    """One pass: the last layer [sentence, token, d_model] and the pooler's output, or None.

    visibility: None is the encoder's own way, at all tokens; "left" lets a token look at itself
    and what
    comes before it, "right" at itself and what follows. masked: whether the network is told which
    tokens are padding; if not, they are tokens like others.
    """
    import torch

    inputs = {"input_ids": torch.from_numpy(batch.ids).to(device)}
    real = torch.from_numpy(batch.real).to(device)
    if visibility is None:
        if masked:
            inputs["attention_mask"] = real.long()
        output = network(**inputs)
    else:
        count = real.shape[1]
        causal = torch.ones(count, count, dtype=torch.bool, device=device)
        causal = causal.tril() if visibility == "left" else causal.triu()
        allowed = causal & real[:, None, :] if masked else causal.expand(len(real), -1, -1)
        with taps.hooked(taps.AttentionHook(allowed=allowed, note=False)):
            output = network(**inputs)
    return output.last_hidden_state, getattr(output, "pooler_output", None)


class Pooled(NamedTuple):
    """`Vectors` as tensors."""

    cls: Any
    mean: Any
    pooler: Any


def pooled(last: Any, pooler: Any, real: Any) -> Pooled:
    """What can be read of one pass; `real` is the batch's, as a tensor.

    [CLS] is the first real token: with padding on the left it stands behind the padding.
    """
    import torch

    first = real.int().argmax(1)
    cls = last[torch.arange(len(last), device=last.device), first]
    weight = real.to(last.dtype)
    mean = (last * weight[..., None]).sum(1) / weight.sum(1, keepdim=True)
    return Pooled(cls, mean, cls[:, :0] if pooler is None else pooler)


def vectors(
    pretrained: Pretrained,
    ids: Sequence[np.ndarray],
    *,
    report: Callable[[float], object] | None = None,
    allowed: Looks | None = None,
    side: Side = "right",
    length: int | None = None,
    masked: bool = True,
) -> Vectors:
    """The vectors of sentences (`tokenize`), in the order in which they were given.

    report: called with the share that is done after each batch; what it raises ends the work.
    allowed: `visibility` of `hidden`. side, length: of the padding; the positions
    of an encoder are absolute, so padding on the left moves a sentence to later positions. masked:
    as in `hidden`; the mean is over real tokens even where the network is not told. The library's
    pooler reads the first place, so with padding on the left it reads a [PAD]: real, and shown.
    """
    padding = pretrained.tokenizer.pad_token_id
    retained: list[tuple[np.ndarray, ...]] = []
    order: list[np.ndarray] = []
    done = 0
    for indices in _portions(ids, length or 0, _CPU if pretrained.device == "cpu" else _GPU):
        width = max(length or 0, *(len(ids[position]) for position in indices))

        def work(
            network: Any, device: str, subset: Sequence[int], width: int = width
        ) -> tuple[np.ndarray, ...]:
            import torch

            batch = pad([ids[device] for device in subset], padding, side, width)
            last, pooler = hidden(network, device, batch, visibility=allowed, masked=masked)
            real = torch.from_numpy(batch.real).to(device)
            return tuple(part.float().cpu().numpy() for part in pooled(last, pooler, real))

        retained += pretrained.run_in_parts(work, indices.tolist())
        order.append(indices)
        done += len(indices)
        if report is not None:
            report(done / len(ids))
    back = np.argsort(np.concatenate(order))
    cls, mean, pooler = (np.concatenate(parts)[back] for parts in zip(*retained, strict=True))
    return Vectors(cls, mean, pooler)


def _portions(ids: Sequence[np.ndarray], length: int, tokens: int) -> Iterator[np.ndarray]:
    """The buckets in portions of about so many tokens, with the padding."""
    lengths = np.array([len(item) for item in ids])
    for indices in buckets(lengths):
        size = max(1, tokens // max(int(lengths[indices].max()), length))
        for start in range(0, len(indices), size):
            yield indices[start : start + size]
