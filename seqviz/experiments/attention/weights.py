"""The attention of a pretrained model over a student's text, as small arrays for figures.

Layers, heads and places of tokens are counted from 0, as in code and in BertViz.
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
_CELLS = 620  # of the whole mosaic across: what a screen shows
_SMALLEST = 24  # cells of one tile, where there are so many tiles that less would be left


def count(model: str, text: ModelText, other: ModelText = "") -> int:
    """How many tokens a text has; the most that there can be while the model is not loaded."""
    if not loaded(model):
        return texts.MAX_TEXT_TOKENS
    try:
        return len(texts.tokens(load(model), text, other).ids)
    except UserError:  # nothing to read: said where the figure would be
        return texts.MAX_TEXT_TOKENS


def mosaic(model: str, text: ModelText, other: ModelText = "", by: str = "weight") -> Mosaic:
    """Every head at a glance, at reduced resolution where the text is long.

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
    """Everything as a NumPy file: attention [layer, head, query, key], tokens, ids."""
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
    """The weights of one head, times the norms of the values with `by` = "value".

    A layer or head beyond the model's last is the last.
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
    """A mean over the heads of one layer ("layer"), over everything ("all"), or attention rollout
    up to and including one layer ("rollout", of weights). Raises ValueError for anything else."""
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
    """Raised when the layer that was asked for is done."""


def parts(
    model: str, text: ModelText, other: ModelText = "", layer: int = 0, head: int = 0
) -> HeadParts:
    """Queries, keys and every stage of one head, from the real weights."""
    pretrained = load(model)
    existing = forward_cache.read(model, text, other)
    layer, head = _inside(existing, layer, head)

    def stop(done: int) -> None:
        if done > layer:
            raise _StopForwardError

    attention_hook = taps.AttentionHook(record_layer=layer, note=False, each=stop)
    with contextlib.suppress(_StopForwardError):  # what comes after this layer is not asked for
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
    """The model with some heads' outputs set to zero, beside the model as it is.

    off: (layer, head) pairs. means: put in place of the outputs, which are zero without. Raises
    UserError("no_such_head") for one that the model does not have.
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
    """The model under another mask, beside the model as it is."""
    before = forward_cache.read(model, text)
    after = forward_cache.read(model, text, masking=_plain(model, masking))
    return _change(model, before, after, np.full(2, np.nan), 0)


def _plain(model: str, masking: Masking) -> Masking:
    """The model's own mask where it is asked for under another name: read already."""
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
        # 1 - cosine as half the squared distance: exactly 0 where nothing moved, never below.
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
    """Weights of all heads of these layers, or their products with the norms of the values."""
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
