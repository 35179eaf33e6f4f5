"""The position table of a pretrained model, and the model's output with other tables.

The shared model is not changed: another table is added through the word vectors. An encoder adds
word, position and segment vectors, so a word vector plus (new row - own row) replaces the model's
position row by the new one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.attention import patterns
from seqviz.compute.positions.results import VARIANTS, PositionTable, Reordered
from seqviz.compute.positions.sinusoidal import encoding
from seqviz.core.errors import UserError
from seqviz.data.reviews import sentiment_split
from seqviz.models import attention_hook as taps
from seqviz.models import texts
from seqviz.models.pretrained import Pretrained, load
from seqviz.models.texts import ModelText

_SAMPLE = 2_000  # word vectors, evenly spaced in the vocabulary


def table(model: str) -> PositionTable:
    """Return the learned position vectors of a model.

    Raises:
        UserError: "no_position_table" for a model with rotary positions, which has none.
    """
    loaded = load(model)
    rows = _rows(loaded)
    words = loaded.network.get_input_embeddings().weight.detach().float().cpu().numpy()
    sample = words[:: max(1, len(words) // _SAMPLE)]
    # Copies, because these arrays are views of the shared model's memory.
    return PositionTable(loaded.card.title, rows.copy(), sample.copy())


def review_lengths(model: str) -> Int[np.ndarray, "review"]:
    """Return the number of tokens of each of 2,000 film reviews, special tokens included.

    Args:
        model: name of the model whose tokenizer is used.
    """
    tokenizer = load(model).tokenizer
    return np.array([len(ids) for ids in tokenizer(list(sentiment_split()[1].texts))["input_ids"]])


def reordered(
    model: str, first: ModelText, second: ModelText, layer: int = 0, head: int = 2, seed: int = 1
) -> Reordered:
    """Run two texts through an encoder under each position table of `VARIANTS`.

    "own"; "zero" (no positions); "shuffled" (rows in random order); "sinusoidal" (Vaswani et al.
    2017, scaled to the table's mean length).

    Args:
        model: name of the encoder.
        first: a text.
        second: another text.
        layer: layer of the attention map, clipped to the last one.
        head: head of the attention map, clipped to the last one.
        seed: seed of the random order.

    Raises:
        UserError: "encoder_only" for a decoder; errors of `table`.
    """
    loaded = load(model)
    if loaded.card.kind != "encoder":
        raise UserError(
            "encoder_only",
            f"{loaded.card.title} is a decoder; choose an encoder, which makes sentence vectors.",
            model=loaded.card.title,
        )
    own = _rows(loaded)
    read = [texts.tokens(loaded, text) for text in (first, second)]
    tables = _variants(own, max(len(tokens.ids) for tokens in read), seed)
    config = loaded.network.config
    layer = min(layer, config.num_hidden_layers - 1)
    head = min(head, config.num_attention_heads - 1)
    alike, retained, previous, maps = [], [], [], []
    untouched: np.ndarray | None = None
    for name in VARIANTS:
        results = [_through(loaded, tokens, own, tables[name]) for tokens in read]
        weights, vector = results[0]
        untouched = vector if untouched is None else untouched
        alike.append(float(vector @ results[1][1]))
        retained.append(float(vector @ untouched))
        habits = patterns.habits(weights, read[0].ids, read[0].special)
        previous.append(float(habits.previous.max()))
        maps.append(weights[layer, head])
    return Reordered(
        loaded.card.title,
        read[0].pieces,
        read[1].pieces,
        VARIANTS,
        np.array(alike),
        np.array(retained),
        np.array(previous),
        np.stack(maps),
        layer,
        head,
        any(tokens.left_out for tokens in read),
    )


def _variants(
    table: Float[np.ndarray, "position d_model"], n_rows: int, seed: int
) -> dict[str, Float[np.ndarray, "position d_model"]]:
    sines = encoding(*table.shape).table
    scale = np.linalg.norm(table, axis=1).mean() / np.linalg.norm(sines, axis=1).mean()
    order = np.random.RandomState(seed).permutation(n_rows)
    shuffled = table.copy()
    shuffled[:n_rows] = table[order]  # only rows that the texts use, else most would see no change
    return {
        "own": table,
        "zero": np.zeros_like(table),
        "shuffled": shuffled,
        "sinusoidal": (sines * scale).astype(table.dtype),
    }


def _through(
    loaded: Pretrained, tokens: texts.Tokens, table: np.ndarray, rows: np.ndarray
) -> tuple[Float[np.ndarray, "layer head query key"], Float[np.ndarray, "d_model"]]:
    """Return attention and sentence vector (length 1) of a text with other position rows."""
    import torch

    attention_hook = taps.AttentionHook()
    count = len(tokens.ids)

    def work(network: Any, device: str) -> Any:
        attention_hook.weights, attention_hook.layer = [], 0
        ids = torch.from_numpy(tokens.ids).to(device)
        change = torch.from_numpy(np.ascontiguousarray(rows[:count] - table[:count])).to(device)
        words = network.get_input_embeddings()(ids) + change
        more = {}
        if "token_type_ids" in loaded.tokenizer.model_input_names:
            more["token_type_ids"] = torch.from_numpy(tokens.segments)[None].to(device)
        return network(inputs_embeds=words[None], **more).last_hidden_state[0]

    with taps.hooked(attention_hook):
        hidden = loaded.run(work)
    weights = torch.stack([layer[0] for layer in attention_hook.weights]).float().cpu().numpy()
    vector = hidden.double().cpu().numpy().mean(0)
    return weights, vector / np.linalg.norm(vector)


def _rows(loaded: Pretrained) -> Float[np.ndarray, "position d_model"]:
    """Return the position table of any architecture, from the row of the first token."""
    network = loaded.network
    for path in ("embeddings.position_embeddings", "transformer.wpe", "wpe"):
        result = network
        for name in path.split("."):
            result = getattr(result, name, None)
        if result is not None:
            rows: np.ndarray = result.weight.detach().float().cpu().numpy()
            # RoBERTa and its relatives number positions from the row after that of padding.
            return rows if result.padding_idx is None else rows[result.padding_idx + 1 :]
    raise UserError(
        "no_position_table",
        f"{loaded.card.title} has no table of positions: it turns queries and keys instead.",
        model=loaded.card.title,
    )
