"""Direct logit attribution: a decoder's next-token logit as the sum of its parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.transformer.interpretability.account import (
    CapitalAttributions,
    LogitAttribution,
    Split,
    foremost,
    part_location,
)
from seqviz.core.errors import UserError
from seqviz.experiments.transformer import functional
from seqviz.jobs import Report, no_progress
from seqviz.models import texts
from seqviz.models.pretrained import Pretrained, decoder, load
from seqviz.models.texts import ModelText

NEURONS = 8  # neurons of an MLP with a separate bar
CAPITALS = {
    "France": "Paris", "England": "London", "Germany": "Berlin", "Italy": "Rome",
    "Spain": "Madrid", "Portugal": "Lisbon", "Ireland": "Dublin", "Austria": "Vienna",
    "Poland": "Warsaw", "Hungary": "Budapest", "Greece": "Athens", "Norway": "Oslo",
    "Sweden": "Stockholm", "Denmark": "Copenhagen", "Russia": "Moscow", "China": "Beijing",
    "Japan": "Tokyo", "Egypt": "Cairo",
}  # fmt: skip


@dataclass(frozen=True)
class _Last:
    """Outputs of a decoder's parts at the last token of a text.

    Attributes:
        gain: factor of each entry by the last normalization, frozen.
    """

    tokens: Tokens
    embedding: Float[np.ndarray, "d_model"]
    attention: Float[np.ndarray, "layer d_model"]
    mlp: Float[np.ndarray, "layer d_model"]
    heads: Float[np.ndarray, "layer head d_k"]
    neurons: Float[np.ndarray, "layer neuron"]
    gain: Float[np.ndarray, "d_model"]
    scale: float
    logits: Float[np.ndarray, "vocabulary"]


def account(model: str, text: ModelText, target: str = "", against: str = "") -> LogitAttribution:
    """Return the logit of `target` after a text as the sum of the outputs of the model's parts.

    Args:
        model: name of the decoder.
        text: the text.
        target: a word, of which the first token counts, read after a space if it begins with a
            letter or digit; empty for the likeliest token.
        against: a word whose logit is subtracted, likewise; empty for none.

    Raises:
        UserError: "decoder_only" for an encoder; "same_token" if both are the same token; errors of
            `load` and `texts.tokens`.
    """
    pretrained = load(model)
    result = _last(model, text)
    item, other = _tokens(pretrained, result, target, against)
    reads = _reads(pretrained, result, item, other)
    parts = _contributions(result, reads)
    logits = result.logits.astype(float)
    probabilities = np.exp(logits - logits.max())
    return LogitAttribution(
        result.tokens,
        texts.piece(pretrained, item),
        "" if other is None else texts.piece(pretrained, other),
        parts,
        float(logits[item] - (0.0 if other is None else logits[other])),
        float(probabilities[item] / probabilities.sum()),
        1 + int((logits > logits[item]).sum()),
        result.scale,
    )


def split(model: str, text: ModelText, target: str = "", against: str = "", part: int = 1) -> Split:
    """Return one part of `account`: an attention by heads, an MLP by its largest neurons.

    Args:
        model: name of the decoder.
        text: the text.
        target: see `account`.
        against: see `account`.
        part: 0 for the embedding, then attention and MLP of each layer; clipped to the last one.

    Raises:
        UserError: errors of `account`.
    """
    pretrained = load(model)
    result = _last(model, text)
    reads = _reads(pretrained, result, *_tokens(pretrained, result, target, against))
    part = min(part, 2 * len(result.attention))
    kind, layer = part_location(part)
    if kind == "embedding":
        only = np.array([float(result.embedding.astype(float) @ reads)])
        return Split(part, kind, np.zeros(1, int), only, 0.0, 0)
    if kind == "attention":
        heads, d_k = result.heads[layer].shape
        columns = _weights(pretrained, "output", layer).T.reshape(heads, d_k, -1) @ reads
        values = (result.heads[layer].astype(float) * columns).sum(1)
        return Split(part, kind, np.arange(heads), values, 0.0, 0)
    values = result.neurons[layer].astype(float) * (_weights(pretrained, "down", layer).T @ reads)
    numbers, retained, rest = foremost(values, NEURONS)
    return Split(part, kind, numbers, retained, rest, len(values) - len(numbers))


def account_capitals(
    model: str, text: ModelText, report: Report = no_progress
) -> CapitalAttributions:
    """Attribute the logit of each capital against the mean of the others (a job).

    The text is read once for each of `CAPITALS`, with that country in place of the one it names.

    Args:
        model: name of the decoder.
        text: a text that names one of the countries.
        report: progress callback; receives the share done.

    Raises:
        UserError: "no_country" for a text without one; errors of `account`.
    """
    pretrained = load(model)
    named = next((country for country in CAPITALS if country in text), "")
    if not named:
        countries = ", ".join(CAPITALS)
        raise UserError(
            "no_country", f"Write a text that names one of these countries: {countries}.",
            countries=countries,
        )  # fmt: skip
    ids = [token(pretrained, capital) for capital in CAPITALS.values()]
    table = pretrained.network.lm_head.weight[ids].double().cpu().numpy()
    parts, is_known = [], []
    for number, country in enumerate(CAPITALS):
        result = _last(model, text.replace(named, country))
        others = np.delete(table, number, 0).mean(0)
        parts.append(_contributions(result, (table[number] - others) * result.gain))
        is_known.append(int(result.logits.argmax()) == ids[number])
        report((number + 1) / len(ids), (number + 1) / len(ids))
    return CapitalAttributions(tuple(CAPITALS), np.stack(parts), np.array(is_known))


def token(pretrained: Pretrained, word: str) -> int | None:
    """Return the id of the first token of a word within a text; None for an empty word.

    Args:
        pretrained: the decoder.
        word: the word.
    """
    word = word.strip()
    if not word:
        return None
    return int(texts.tokens(pretrained, f" {word}" if word[0].isalnum() else word).ids[0])


def _tokens(
    pretrained: Pretrained, last: _Last, target: str, against: str
) -> tuple[int, int | None]:
    item, other = token(pretrained, target), token(pretrained, against)
    item = int(last.logits.argmax()) if item is None else item
    if item == other:
        piece = texts.piece(pretrained, item)
        raise UserError(
            "same_token", f"Both words begin with the same token, {piece}: the difference is 0.",
            piece=piece,
        )  # fmt: skip
    return item, other


@lru_cache(maxsize=16)  # 0.6 MB each
def _last(model: str, text: str) -> _Last:
    """Return the outputs of one forward pass, cached for other words and other parts."""
    import torch

    pretrained = decoder(model)
    tokens = texts.tokens(pretrained, text)

    def work(network: Any, device: str) -> _Last:
        parts = functional.NetworkParts(network, tokens.ids, tokens.segments, device)
        retained: dict[str, list[Any]] = {}

        def watch(part: str, _: int, x: Any) -> None:
            last = x[0, :, -1] if part == "heads" else x[0, -1]
            retained.setdefault(part, []).append(last.float().cpu())

        stream = functional.forward(parts, (functional.Variant(),), watch)[0, -1]
        normalized = parts.last(stream[None])[0]
        scale = torch.rsqrt(stream.float().pow(2).mean() + parts.body.norm.variance_epsilon)
        names = ("attention", "mlp", "heads", "neurons")
        attention, mlp, heads, neurons = (torch.stack(retained[name]).numpy() for name in names)
        return _Last(
            tokens,
            parts.first[0, -1].float().cpu().numpy(),
            attention,
            mlp,
            heads,
            neurons,
            (parts.body.norm.weight * scale).float().cpu().numpy(),
            float(scale),
            network.lm_head(normalized).float().cpu().numpy(),
        )

    return pretrained.run(work)


def _reads(
    pretrained: Pretrained, last: _Last, left: int, right: int | None
) -> Float[np.ndarray, "d_model"]:
    """Return the weight of each entry of the stream in the logit."""
    table = pretrained.network.lm_head.weight
    row = table[left] if right is None else table[left].double() - table[right].double()
    return row.double().cpu().numpy() * last.gain


def _contributions(last: _Last, reads: Float[np.ndarray, "d_model"]) -> Float[np.ndarray, "part"]:
    """Return what each part adds, in the order of the stream."""
    layered = np.stack([last.attention, last.mlp], 1).reshape(-1, len(reads))
    return np.concatenate([last.embedding[None], layered]).astype(float) @ reads


def _weights(pretrained: Pretrained, of: str, layer: int) -> Float[np.ndarray, "d_model unit"]:
    block = pretrained.network.model.layers[layer]
    linear = block.self_attn.o_proj if of == "output" else block.mlp.down_proj
    return linear.weight.detach().float().cpu().numpy()
