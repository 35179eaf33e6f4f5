"""Attention maps of a pretrained model on a user's text, as small arrays for figures.

Layers, heads and token positions are numbered from 0, as in code and in BertViz.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace
from functools import partial

import numpy as np

from seqviz.compute.attention import patterns
from seqviz.compute.attention.results import (
    AttentionMap,
    Change,
    HeadParts,
    MeanOutputs,
    Mosaic,
    ReadText,
)
from seqviz.core.errors import UserError
from seqviz.models import attention_hook as taps
from seqviz.models import forward_cache, texts
from seqviz.models.forward_cache import OWN, ForwardPass, Masking
from seqviz.models.pretrained import load, loaded
from seqviz.models.texts import ModelText

AVERAGES = ("layer", "all", "rollout")
_CELLS = 620  # width of the mosaic, about that of a screen
_SMALLEST = 24  # minimum width of a tile in cells


def count(model: str, text: ModelText, other: ModelText = "") -> int:
    """Return the number of tokens of a text.

    Args:
        model: name of the model.
        text: the text.
        other: second text of a pair (encoders).

    Returns:
        The number; `MAX_TEXT_TOKENS` while the model is not loaded or where the text is refused.
    """
    if not loaded(model):
        return texts.MAX_TEXT_TOKENS
    try:
        return len(texts.tokens(load(model), text, other).ids)
    except UserError:  # the figure shows the error
        return texts.MAX_TEXT_TOKENS


def mosaic(model: str, text: ModelText, other: ModelText = "", by: str = "weight") -> Mosaic:
    """Return the maps of all heads, at reduced resolution for a long text.

    Args:
        model: name of the model.
        text: the text.
        other: second text of a pair (encoders).
        by: "weight", or "value" for weights times the norms of the values.
    """
    result = forward_cache.read(model, text, other)
    side = max(_SMALLEST, _CELLS // max(result.weights.shape[:2]))
    tiles, habits, first = forward_cache.derived(
        partial(_overview, by=by, side=side), model, text, other
    )
    cells = max(1.0, len(result.tokens.ids) / side)
    return Mosaic(_text(model, result), tiles, cells, habits, result.norms, first, by)


def _overview(
    forward_pass: ForwardPass, by: str, side: int
) -> tuple[np.ndarray, patterns.Habits, np.ndarray]:
    return (
        patterns.tiles(_shown(forward_pass, by), side).astype(np.float32),
        patterns.habits(forward_pass.weights, forward_pass.tokens.ids, forward_pass.tokens.special),
        patterns.carried_first(forward_pass.weights, forward_pass.norms),
    )


def tensor(model: str, text: ModelText, other: ModelText = "") -> bytes:
    """Return an .npz file: attention [layer, head, query, key], tokens and ids.

    Args:
        model: name of the model.
        text: the text.
        other: second text of a pair (encoders).
    """
    return forward_cache.derived(_file, model, text, other)


def _file(forward_pass: ForwardPass) -> bytes:
    pieces = np.array(forward_pass.tokens.pieces)
    buffer = io.BytesIO()
    np.savez(buffer, attention=forward_pass.weights, tokens=pieces, ids=forward_pass.tokens.ids)
    return buffer.getvalue()


def head(
    model: str,
    text: ModelText,
    other: ModelText = "",
    layer: int = 0,
    head: int = 0,
    masking: Masking = OWN,
    by: str = "weight",
) -> AttentionMap:
    """Return the attention map of one head.

    Args:
        model: name of the model.
        text: the text.
        other: second text of a pair (encoders).
        layer: layer, clipped to the model's last one.
        head: head, likewise.
        masking: the attention mask.
        by: "weight", or "value" for weights times the norms of the values.
    """
    masking = _plain(model, masking)
    result = forward_cache.read(model, text, other, masking)
    layer, head = _inside(result, layer, head)
    item = partial(_one, by=by, layer=layer, head=head)
    visible = forward_cache.derived(item, model, text, other, masking)
    return _map(model, result, visible, layer, head, by)


def _one(forward_pass: ForwardPass, by: str, layer: int, head: int) -> np.ndarray:
    return _shown(forward_pass, by, slice(layer, layer + 1))[0, head]


def average(
    model: str, text: ModelText, other: ModelText = "", over: str = "layer", layer: int = 0,
    by: str = "weight",
) -> AttentionMap:  # fmt: skip
    """Return the mean map of a layer or of all heads, or attention rollout.

    Args:
        model: name of the model.
        text: the text.
        other: second text of a pair (encoders).
        over: "layer" or "all" for the mean over heads; "rollout" for attention rollout up to and
            including `layer`.
        layer: layer, clipped to the model's last one; unused with "all".
        by: "weight", or "value" for weights times the values' norms; unused with "rollout".

    Raises:
        ValueError: unknown `over`.
    """
    if over not in AVERAGES:
        raise ValueError(f"over must be one of {', '.join(AVERAGES)}, not {over!r}.")
    result = forward_cache.read(model, text, other)
    layer, _ = _inside(result, layer, 0)
    by = "weight" if over == "rollout" else by
    visible = forward_cache.derived(
        partial(_mean, over=over, by=by, layer=layer), model, text, other
    )
    return _map(model, result, visible, -1 if over == "all" else layer, -1, by)


def _mean(forward_pass: ForwardPass, over: str, by: str, layer: int) -> np.ndarray:
    if over == "rollout":
        return patterns.rollout(forward_pass.weights[: layer + 1])[-1].astype(np.float32)
    if over == "layer":
        return np.asarray(_shown(forward_pass, by, slice(layer, layer + 1))[0].mean(0))
    return np.asarray(_shown(forward_pass, by).mean((0, 1)))


class _StopForwardError(Exception):
    """Raised by a hook to abort the forward pass after the requested layer."""


def parts(
    model: str, text: ModelText, other: ModelText = "", layer: int = 0, head: int = 0
) -> HeadParts:
    """Return queries, keys, scores and weights of one head, from the model's forward pass.

    Args:
        model: name of the model.
        text: the text.
        other: second text of a pair (encoders).
        layer: layer, clipped to the model's last one.
        head: head, likewise.
    """
    pretrained = load(model)
    existing = forward_cache.read(model, text, other)
    layer, head = _inside(existing, layer, head)

    def stop(done: int) -> None:
        if done > layer:
            raise _StopForwardError

    attention_hook = taps.AttentionHook(record_layer=layer, note=False, each=stop)
    with contextlib.suppress(_StopForwardError):  # later layers are not needed
        forward_cache.forward(pretrained, existing.tokens, attention_hook=attention_hook)
    assert attention_hook.stages is not None
    item = {
        name: getattr(attention_hook.stages, name)[0, head].float().cpu().numpy()
        for name in ("queries", "keys", "scores", "scaled", "weights")
    }
    norms = existing.norms[layer, head]
    return HeadParts(
        _text(model, existing), layer, head, norms=norms, allowed=existing.allowed, **item
    )


def ablate(
    model: str,
    text: ModelText,
    other: ModelText = "",
    off: tuple[tuple[int, int], ...] = (),
    means: MeanOutputs | None = None,
) -> Change:
    """Compare the model with some heads ablated to the intact model.

    Args:
        model: name of the model.
        text: the text.
        other: text whose cosine to `text` is compared, for an encoder.
        off: (layer, head) pairs of the ablated heads.
        means: mean outputs that replace those of ablated heads; None for zero.

    Raises:
        UserError: "no_such_head" for a head that the model does not have.
    """
    import torch

    pretrained = load(model)
    before = forward_cache.read(model, text)
    layers, heads = before.weights.shape[:2]
    on = np.ones((layers, heads), np.float32)
    for layer, position in off:
        if not (0 <= layer < layers and 0 <= position < heads):
            raise UserError(
                "no_such_head",
                f"There is no head {layer}.{position}: layers go from 0 to {layers - 1}, heads "
                f"from 0 to {heads - 1}.",
                pair=f"{layer}.{position}",
                layers=layers - 1,
                heads=heads - 1,
            )
        on[layer, position] = 0

    def changed(reading: ForwardPass) -> ForwardPass:
        instead = None if means is None else torch.tensor(means.output, device=pretrained.device)
        if instead is not None:
            instead = instead.to(next(pretrained.network.parameters()).dtype)
        attention_hook = taps.AttentionHook(
            on=torch.from_numpy(on).to(pretrained.device), instead=instead
        )
        return forward_cache.forward(pretrained, reading.tokens, attention_hook=attention_hook)

    pair = np.full(2, np.nan)
    after = changed(before)
    if other and pretrained.card.kind == "encoder":
        second = forward_cache.read(model, other)
        pair[:] = before.sentence @ second.sentence, after.sentence @ changed(second).sentence
    return _change(model, before, after, pair, len(set(off)))


def masked(model: str, text: ModelText, masking: Masking) -> Change:
    """Compare the model under another attention mask to the model under its own.

    Args:
        model: name of the model.
        text: the text.
        masking: the other mask.
    """
    before = forward_cache.read(model, text)
    after = forward_cache.read(model, text, masking=_plain(model, masking))
    return _change(model, before, after, np.full(2, np.nan), 0)


def _plain(model: str, masking: Masking) -> Masking:
    """Return `OWN` for a mask that equals the model's own, whose forward pass is cached."""
    own = "causal" if load(model).card.kind == "decoder" else "none"
    return OWN if replace(masking, is_declared=True) == Masking(own) else masking


def _change(
    model: str, before: ForwardPass, after: ForwardPass, pair: np.ndarray, off: int
) -> Change:
    real = int(before.tokens.real.sum())
    a, b = (_of_length_one(r.vectors[:real].astype(float)) for r in (before, after))
    p, q = before.following, after.following
    candidates: tuple[str, ...] = ()
    probabilities, bits = np.zeros((2, 0)), float("nan")
    if p.size:
        likely = list(dict.fromkeys([*np.argsort(-p)[:6], *np.argsort(-q)[:6]]))
        loaded = load(model)
        candidates = tuple(texts.piece(loaded, int(token)) for token in likely)
        probabilities = np.stack([p[likely], q[likely]])
        tiny = np.finfo(float).tiny
        bits = float((p * (np.log2(np.maximum(p, tiny)) - np.log2(np.maximum(q, tiny)))).sum())
    return Change(
        _text(model, before),
        # 1 - cosine as half the squared distance: exactly 0 for equal vectors, never negative.
        0.5 * ((a - b) ** 2).sum(1),
        float(1 - 0.5 * ((before.sentence - after.sentence) ** 2).sum()),
        pair,
        candidates,
        probabilities,
        bits,
        off,
    )


def _of_length_one(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def _shown(forward_pass: ForwardPass, by: str, layers: slice = slice(None)) -> np.ndarray:
    """Return the weights of all heads of some layers, or their products with the values' norms."""
    weights = forward_pass.weights[layers]
    return weights if by == "weight" else weights * forward_pass.norms[layers, :, None]


def _map(
    model: str,
    forward_pass: ForwardPass,
    visible: np.ndarray,
    layer: int,
    head: int,
    by: str = "weight",
) -> AttentionMap:
    total = visible.sum(-1, keepdims=True)
    bits = patterns.entropy(visible if by == "weight" else visible / np.where(total == 0, 1, total))
    return AttentionMap(
        _text(model, forward_pass), visible, layer, head, bits, forward_pass.allowed, by
    )


def _inside(forward_pass: ForwardPass, layer: int, head: int) -> tuple[int, int]:
    layers, heads = forward_pass.weights.shape[:2]
    return min(layer, layers - 1), min(head, heads - 1)


def _text(model: str, forward_pass: ForwardPass) -> ReadText:
    layers, heads = forward_pass.weights.shape[:2]
    return ReadText(
        **vars(forward_pass.tokens),
        model=model,
        decoder=bool(forward_pass.following.size),
        layers=layers,
        heads=heads,
        device=forward_pass.device,
        note=forward_pass.note,
    )
