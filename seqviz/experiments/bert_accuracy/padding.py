"""Effect of padding to any length, on either side, with and without the attention mask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.bert_accuracy.results import (
    TOLD,
    LinearHead,
    Padding,
    PadsInMean,
    UserTextPadding,
)
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import heads
from seqviz.experiments.bert_accuracy.encoding import (
    SentenceBatch,
    Side,
    hidden,
    pad,
    pooled,
    tokenize,
    vectors,
)
from seqviz.experiments.bert_accuracy.word_masking import standard_head
from seqviz.jobs import Report, no_progress
from seqviz.models import attention_hook as taps
from seqviz.models import texts
from seqviz.models.pretrained import Pretrained, load
from seqviz.models.texts import ModelText

LONG, FEW = 128, 300  # above `LONG` tokens, `FEW` sentences
_SCORES = 2**19  # query-key pairs of a batch: two sentences of 512 tokens, 0.4 s
_MOST = 64  # sentences of a batch
_SIDES: tuple[Side, ...] = ("right", "left")  # as in `results.SIDES`
_SHOWN = 8  # [PAD] tokens displayed after the user's sentence


@dataclass(frozen=True)
class Seen:
    """Result of one forward pass over sentences; see `Padding`.

    Attributes:
        vectors: sentence vectors.
        on_pads: share of a real token's attention on [PAD], mean over real tokens, heads and
            layers.
    """

    vectors: Float[np.ndarray, "sentence d"]
    on_pads: Float[np.ndarray, "sentence"]


def padding(
    model: str,
    sentences: int,
    lengths: Sequence[int],
    report: Report = no_progress,
    feature: str = "mean",
    n_sentences: int = FEW,
) -> Padding:
    """Pad test sentences to each length on each side, with and without the mask (a job).

    Args:
        model: name of the encoder.
        sentences: number of sentences.
        lengths: lengths in tokens, at most the encoder's positions (512).
        report: progress callback; receives the share done.
        feature: sentence vector that the head reads, of `FEATURES`.
        n_sentences: number of sentences above `LONG` tokens, where each takes twenty times as long;
            the others are nan there.

    Raises:
        ValueError: no length, or one beyond the positions.
        UserError: errors of `load` and `standard_head`.
    """
    head = standard_head(model, feature, lambda: report(0.0, 0.0))
    pretrained = load(model)
    _check(pretrained, lengths)
    test = sentiment_split()[1]
    ids = tokenize(pretrained, test.texts[:sentences])
    counts = [len(item) for item in ids]
    before = getattr(vectors(pretrained, ids, report=lambda _: report(0.0, 0.0)), feature)
    table = np.full((3, len(TOLD), len(_SIDES), len(lengths), len(ids)), np.nan)
    tried = [len(ids) if length <= LONG else min(n_sentences, len(ids)) for length in lengths]
    total = len(TOLD) * len(_SIDES) * sum(n * w for n, w in zip(tried, lengths, strict=True))
    done = 0
    for column, length in enumerate(lengths):
        for t, masking in enumerate(TOLD):
            for s, side in enumerate(_SIDES):
                for numbers in _batches(counts[: tried[column]], length):
                    some = [ids[n] for n in numbers]
                    observed = _pass(pretrained, some, length, side, masking == "told", feature)
                    table[:, t, s, column, numbers] = _measures(observed, head, before[numbers])
                    done += len(numbers) * length  # time grows a little faster than the length
                    report(done / total, done / total)
    plain = heads.apply(head, before)
    return Padding(
        np.array(lengths), plain, table[0], table[1], table[2], test.positive[:sentences]
    )


def pads_in_mean(
    model: str,
    sentences: int,
    lengths: Sequence[int],
    report: Report = no_progress,
    n_sentences: int = FEW,
) -> PadsInMean:
    """Run `padding` on the right with the mean over all tokens, [PAD] included (a job).

    This is the mistake of forgetting the mask in the mean. The standard head was trained on means
    of real tokens.

    Args:
        model: name of the encoder.
        sentences: number of sentences.
        lengths: lengths in tokens, at most the encoder's positions (512).
        report: progress callback; receives the share done.
        n_sentences: number of sentences above `LONG` tokens.

    Raises:
        ValueError: no length, or one beyond the positions.
        UserError: errors of `load` and `standard_head`.
    """
    head = standard_head(model, "mean", lambda: report(0.0, 0.0))
    pretrained = load(model)
    _check(pretrained, lengths)
    test = sentiment_split()[1]
    ids = tokenize(pretrained, test.texts[:sentences])
    counts = [len(item) for item in ids]
    table = np.full((len(TOLD), len(lengths), len(ids)), np.nan)
    tried = [len(ids) if length <= LONG else min(n_sentences, len(ids)) for length in lengths]
    total = len(TOLD) * sum(n * w for n, w in zip(tried, lengths, strict=True))
    done = 0
    for column, length in enumerate(lengths):
        for t, masking in enumerate(TOLD):
            for numbers in _batches(counts[: tried[column]], length):
                batch = pad([ids[n] for n in numbers], pretrained.tokenizer.pad_token_id, "right",
                            length)  # fmt: skip
                result = pretrained.run(_mean_of_all, batch, masking == "told")
                table[t, column, numbers] = heads.apply(head, result)
                done += len(numbers) * length
                report(done / total, done / total)
    return PadsInMean(np.array(lengths), table, test.positive[:sentences])


def _mean_of_all(
    network: Any, device: str, batch: SentenceBatch, masked: bool
) -> Float[np.ndarray, "sentence d"]:
    """Return the mean over all tokens of a batch, padding included."""
    last, _ = hidden(network, device, batch, masked=masked)
    values: np.ndarray = last.mean(1).float().cpu().numpy()
    return values


def pad_user_text(
    model: str, text: ModelText, lengths: Sequence[int], feature: str = "mean"
) -> UserTextPadding:
    """Pad a user's sentence to each length; 32, 64, ..., 512 take 1.5 s on one core.

    Args:
        model: name of the encoder.
        text: the sentence, truncated to 64 tokens.
        lengths: lengths in tokens, at most the encoder's positions (512).
        feature: sentence vector that the head reads, of `FEATURES`.

    Raises:
        ValueError: no length, or one beyond the positions.
        UserError: errors of `load` and `standard_head`.
    """
    pretrained = load(model)
    _check(pretrained, lengths)
    head = heads.standard_head(model, feature)
    ids = tokenize(pretrained, [text])
    before = getattr(vectors(pretrained, ids), feature)
    table = np.full((3, len(TOLD), len(_SIDES), len(lengths)), np.nan)
    for column, length in enumerate(lengths):
        for t, masking in enumerate(TOLD):
            for s, side in enumerate(_SIDES):
                observed = _pass(pretrained, ids, length, side, masking == "told", feature)
                table[:, t, s, column] = _measures(observed, head, before)[:, 0]
    visible = np.append(ids[0], [pretrained.tokenizer.pad_token_id] * _SHOWN)
    return UserTextPadding(
        tuple(texts.piece(pretrained, int(token)) for token in visible),
        visible,
        np.arange(len(visible)) < len(ids[0]),
        np.array(lengths),
        float(heads.apply(head, before)[0]),
        table[0],
        table[1],
        table[2],
    )


def _pass(
    pretrained: Pretrained,
    ids: Sequence[np.ndarray],
    length: int,
    side: Side,
    masked: bool,
    feature: str,
) -> Seen:
    """Run sentences of one padded width; attention is summed layer by layer."""
    batch = pad(ids, pretrained.tokenizer.pad_token_id, side, length)

    def work(network: Any, device: str) -> Seen:
        import torch

        real = torch.from_numpy(batch.real).to(device)
        pads = (~real).float()
        layers: list[Any] = []

        def each(_: int) -> None:
            weights = hook.weights.pop()  # [sentence, head, query, key]
            on_pads = (weights @ pads[:, None, :, None])[..., 0].mean(1)
            layers.append((on_pads * real).sum(1) / real.sum(1))

        hook = taps.AttentionHook(each=each)
        with taps.hooked(hook):
            result = pooled(*hidden(network, device, batch, masked=masked), real)
        vector = getattr(result, feature)
        return Seen(vector.float().cpu().numpy(), torch.stack(layers).mean(0).float().cpu().numpy())

    return pretrained.run(work)


def _measures(
    observed: Seen, head: LinearHead, before: Float[np.ndarray, "sentence d"]
) -> Float[np.ndarray, "measure sentence"]:
    """Return probability, drift (1 - cosine) and share of attention on [PAD]."""
    a, b = observed.vectors.astype(np.float64), before.astype(np.float64)
    cosine = (a * b).sum(1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
    drift = np.maximum(0, 1 - cosine)  # rounding may give a negative value
    return np.stack([heads.apply(head, observed.vectors), drift, observed.on_pads])


def _batches(counts: Sequence[int], length: int) -> Iterator[np.ndarray]:
    """Yield sentences of the same padded width, so that none is padded further than on its own."""
    widths = np.maximum(counts, length)
    for width in np.unique(widths):
        same = np.flatnonzero(widths == width)
        size = min(_MOST, max(1, _SCORES // int(width) ** 2))
        for start in range(0, len(same), size):
            yield same[start : start + size]


def _check(pretrained: Pretrained, lengths: Sequence[int]) -> None:
    maximum = pretrained.network.config.max_position_embeddings
    if not lengths or max(lengths) > maximum:
        raise ValueError(f"Sentences can be padded to between 1 and {maximum} tokens.")
