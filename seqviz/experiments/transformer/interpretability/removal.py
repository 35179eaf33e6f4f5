"""Ablation of each layer of a model in turn, and the change of its prediction.

A decoder predicts the token after the text, an encoder with a fill-in head the hidden one. The rows
of a batch are layers, the late ones first, since they share all layers below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.transformer.interpretability.removal import (
    CHANGES,
    Ablation,
    AblationSweep,
    divergence,
)
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import fill_head
from seqviz.experiments.transformer import functional
from seqviz.experiments.transformer.functional import Variant
from seqviz.jobs import Report, no_progress
from seqviz.models import texts
from seqviz.models.pretrained import Pretrained, load
from seqviz.models.texts import ModelText

TEXTS, TOKENS = 200, 12  # film reviews, and tokens read of each
HIDDEN = 6  # index of the token that is hidden from an encoder
FIRST = "skip"  # the change that is computed first
_CHUNK = 6  # layers changed in one pass


def variants(change: str, layers: int) -> tuple[Variant, ...]:
    """Return the change of each layer; a swap is with the layer above, so the last one has none.

    Args:
        change: one of `CHANGES`.
        layers: number of layers.

    Raises:
        ValueError: unknown change.
    """
    if change not in CHANGES:
        raise ValueError(f"A change is one of {', '.join(CHANGES)}, not {change!r}.")
    if change == "skip":
        return tuple(functional.skipped(layers, k) for k in range(layers))
    if change == "swap":
        return tuple(functional.swapped(layers, k, k + 1) for k in range(layers - 1))
    if change == "repeat":
        return tuple(functional.repeated(layers, k) for k in range(layers))
    return tuple(functional.off(change, k) for k in range(layers))


def remove(model: str, text: ModelText, report: Report = no_progress) -> tuple[Ablation, ...]:
    """Predict under every change of each layer, one layer at a time (a job).

    The prediction is a decoder's next token, or an encoder's first hidden token.

    Args:
        model: name of the model.
        text: the text.
        report: progress callback; receives the results so far after every few layers.

    Returns:
        One `Ablation` per change, in the order of `CHANGES`.

    Raises:
        UserError: "nothing_hidden" for an encoder without a hidden token; errors of `load`,
            `fill_head.head` and `texts.tokens`.
    """
    pretrained = _predicting(model)
    tokens = texts.tokens(pretrained, text)
    position = _asked(pretrained, tokens)
    rows = {
        change: variants(change, pretrained.network.config.num_hidden_layers) for change in CHANGES
    }
    before = pretrained.run(_predicted, tokens, position, (Variant(),))[0]
    likeliest = int(before.argmax())
    piece = texts.piece(pretrained, likeliest)
    bits = {change: np.full(len(rows[change]), np.nan) for change in CHANGES}
    after = {change: [""] * len(rows[change]) for change in CHANGES}
    changed = {change: np.full(len(rows[change]), np.nan) for change in CHANGES}

    def completed() -> tuple[Ablation, ...]:
        return tuple(
            Ablation(change, bits[change].copy(), piece, tuple(after[change]),
                     float(np.exp(before[likeliest])), changed[change].copy())
            for change in CHANGES
        )  # fmt: skip

    for number, item in enumerate(sorted(CHANGES, key=lambda change: change != FIRST)):
        for end in range(len(rows[item]), 0, -_CHUNK):
            some = range(max(0, end - _CHUNK), end)
            values = pretrained.run(_predicted, tokens, position, [rows[item][k] for k in some])
            bits[item][list(some)] = divergence(before, values)
            changed[item][list(some)] = np.exp(values[:, likeliest])
            for k, row in zip(some, values, strict=True):
                after[item][k] = texts.piece(pretrained, int(row.argmax()))
            report(completed(), (number + 1 - some[0] / len(rows[item])) / len(CHANGES))
    return completed()


def remove_from_many(model: str, report: Report = no_progress) -> AblationSweep:
    """Measure every change of every layer on the beginnings of film reviews (a job).

    One token of each is hidden from an encoder.

    Args:
        model: name of the model.
        report: progress callback; receives the share done.
    """
    pretrained = _predicting(model)
    layers = pretrained.network.config.num_hidden_layers
    read = beginnings(pretrained)
    bits = np.full((len(CHANGES), len(read), layers), np.nan)
    retained = np.zeros(bits.shape, bool)
    for number, tokens in enumerate(read):
        position = _asked(pretrained, tokens)
        before = pretrained.run(_predicted, tokens, position, (Variant(),))[0]
        for row, change in enumerate(CHANGES):
            values = pretrained.run(_predicted, tokens, position, variants(change, layers))
            bits[row, number, : len(values)] = divergence(before, values)
            retained[row, number, : len(values)] = values.argmax(-1) == before.argmax()
        report((number + 1) / len(read), (number + 1) / len(read))
    return AblationSweep(bits, retained, len(read), TOKENS)


def beginnings(pretrained: Pretrained) -> list[Tokens]:
    """Return the first tokens of the first long enough reviews, with one hidden from an encoder."""
    results = []
    mask = None if pretrained.card.kind == "decoder" else pretrained.tokenizer.mask_token_id
    for sentence in sentiment_split()[1].texts:
        read = texts.tokens(pretrained, sentence)
        if len(read.ids) >= TOKENS:
            first = {name: getattr(read, name)[:TOKENS]
                     for name in ("pieces", "ids", "segments", "special", "real")}  # fmt: skip
            if mask is not None:  # the last token is the text's [SEP]
                ids = first["ids"].copy()
                ids[HIDDEN], ids[-1] = mask, read.ids[-1]
                first["ids"] = ids
            results.append(Tokens(**first, left_out=0))
        if len(results) == TEXTS:
            break
    return results


def _predicting(model: str) -> Pretrained:
    """Return a decoder, or an encoder with its fill-in head."""
    shared = load(model)
    return shared if shared.card.kind == "decoder" else fill_head.head(model)


def _asked(pretrained: Pretrained, tokens: Tokens) -> int:
    """Return the position whose vector gives the prediction."""
    if pretrained.card.kind == "decoder":
        return len(tokens.ids) - 1
    return fill_head.hidden_place(pretrained, tokens)


def _predicted(
    network: Any, device: str, tokens: Tokens, index: int, rows: Any
) -> np.ndarray:  # log-probabilities [row, vocabulary]
    import torch

    parts = functional.NetworkParts(network, tokens.ids, tokens.segments, device)
    read = network.lm_head if parts.kind == "llama" else network.fill_in
    last = parts.last(functional.forward(parts, rows)[:, index])
    return torch.log_softmax(read(last).double(), -1).cpu().numpy()
