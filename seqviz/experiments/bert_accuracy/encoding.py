"""Sentence vectors of many sentences from an encoder, under any padding and attention mask."""

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
MAX_TOKENS = 64  # default limit of a sentence in tokens, [CLS] and [SEP] included
# Tokens of a batch. More are not faster on a CPU, and these take a fifth of a second, after which a
# job can be cancelled; a GPU is idle between small batches.
_CPU, _GPU = 512, 16_384


@dataclass(frozen=True)
class SentenceBatch:
    """Sentences padded to one length.

    Attributes:
        ids: token ids.
        real: False where a token is padding.
    """

    ids: Int[np.ndarray, "sentence token"]
    real: Bool[np.ndarray, "sentence token"]


@dataclass(frozen=True)
class Vectors:
    """Sentence vectors that a classifier can read, float32, from the last layer.

    Attributes:
        cls: vector of [CLS].
        mean: mean of the real tokens' vectors, [CLS] and [SEP] included.
        pooler: tanh(W cls + b), the layer trained with BERT's next-sentence task; [sentence, 0] if
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
    """Return the token ids of each text with [CLS] and [SEP].

    Args:
        pretrained: the model.
        texts: the texts.
        longest: number of tokens to which a text is truncated.
    """
    with pretrained.lock:
        result = pretrained.tokenizer(
            list(texts), truncation=True, max_length=longest, return_attention_mask=False
        )["input_ids"]
    return tuple(np.array(ids, np.int64) for ids in result)


def buckets(lengths: Sequence[int] | np.ndarray, size: int = 64) -> list[np.ndarray]:
    """Return the indices of all sentences in groups of similar length.

    Args:
        lengths: number of tokens of each sentence.
        size: sentences per group.
    """
    order = np.argsort(np.asarray(lengths), kind="stable")
    return [order[start : start + size] for start in range(0, len(order), size)]


def pad(
    ids: Sequence[np.ndarray], padding: int, side: Side = "right", length: int | None = None
) -> SentenceBatch:
    """Return sentences as one padded batch.

    Args:
        ids: token ids of each sentence.
        padding: id of [PAD].
        side: side of the padding.
        length: minimum width of the batch in tokens; by default that of the longest sentence.
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
    """Run one forward pass over a batch.

    Args:
        network: the network.
        device: torch device.
        batch: the sentences.
        visibility: None for the encoder's own attention to all tokens; "left" where a token attends
            to itself and those before it, "right" to itself and those after it.
        masked: True where the network is told which tokens are padding; else they are ordinary
            tokens.

    Returns:
        Output of the last layer [sentence, token, d_model], and that of the pooler or None.
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
    """`Vectors` as torch tensors."""

    cls: Any
    mean: Any
    pooler: Any


def pooled(last: Any, pooler: Any, real: Any) -> Pooled:
    """Return the sentence vectors of one forward pass.

    [CLS] is the first real token: with padding on the left, it follows the padding.

    Args:
        last: output of the last layer, [sentence, token, d_model].
        pooler: output of the pooler, or None.
        real: bool [sentence, token]; False where a token is padding.
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
    """Return the vectors of sentences, in the given order.

    Positions of an encoder are absolute: padding on the left moves a sentence to later positions.
    The pooler of transformers reads the first position, a [PAD] under padding on the left; this is
    kept.

    Args:
        pretrained: the encoder.
        ids: token ids of each sentence, of `tokenize`.
        report: called with the share done after each batch; an exception it raises ends the work.
        allowed: `visibility` of `hidden`.
        side: side of the padding.
        length: minimum width of a batch in tokens.
        masked: as in `hidden`; the mean is over real tokens in either case.
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
    """Yield the buckets in portions of about so many tokens, with padding."""
    lengths = np.array([len(item) for item in ids])
    for indices in buckets(lengths):
        size = max(1, tokens // max(int(lengths[indices].max()), length))
        for start in range(0, len(indices), size):
            yield indices[start : start + size]
