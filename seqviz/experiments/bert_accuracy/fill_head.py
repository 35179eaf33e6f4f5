"""Models with a fill-in head: MiniLM with the shipped head, BERT with its own."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import replace
from typing import Any

import numpy as np

from seqviz.compute.attention.tokens import Tokens
from seqviz.core.errors import UserError, damaged
from seqviz.models import checkpoints, store
from seqviz.models.pretrained import Pretrained, load

NAME = "fill_in_minilm"
_heads: dict[str, tuple[Pretrained, Pretrained]] = {}  # model -> (shared, with head)
_lock = threading.Lock()


def head(model: str) -> Pretrained:
    """Return the model whose network has a `fill_in` head, from vectors to scores.

    One object per process.

    Low-rank changes and head of minilm come from assets/checkpoints (`tools` has the training
    script); other encoders need a head in their own file. All large tensors are those of the shared
    model.

    Raises:
        UserError: "damaged" if the shipped file is missing or does not match its card;
            "no_fill_in_head" for a model without a head; errors of `load`.
    """
    shared = load(model)
    with _lock:
        if model not in _heads or _heads[model][0] is not shared:
            network = _shipped(shared) if model == "minilm" else _published(shared)
            _heads[model] = shared, replace(shared, network=network)
        return _heads[model][1]


def hidden_place(pretrained: Pretrained, tokens: Tokens) -> int:
    """Return the position of the first [MASK] of a text.

    Args:
        pretrained: the model.
        tokens: tokens of the text.

    Raises:
        UserError: "nothing_hidden" if there is none.
    """
    hidden = np.flatnonzero(tokens.ids == pretrained.tokenizer.mask_token_id)
    if not hidden.size:
        raise UserError("nothing_hidden", "No token of this text is hidden: write [MASK] for one.")
    return int(hidden[0])


def _shipped(shared: Pretrained) -> Any:
    from safetensors import SafetensorError, safe_open

    from seqviz.experiments.bert_accuracy import adapted

    path = checkpoints.FOLDER / f"{NAME}.safetensors"
    try:
        sha256 = json.loads(path.with_suffix(".json").read_text("utf-8"))["sha256"]
        if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
            raise damaged(path)
        with safe_open(path, framework="pt") as file:
            about = file.metadata()
            result = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (no mapping)
        scale = float(about["alpha"]) / float(about["rank"])
        return adapted.with_shipped_head(shared.network, result, scale)
    except UserError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, SafetensorError):
        raise damaged(path) from None


def _published(shared: Pretrained) -> Any:
    from safetensors import safe_open

    from seqviz.experiments.bert_accuracy import adapted

    result: dict[str, Any] = {}
    if shared.card.kind == "encoder":
        for path in sorted(store.verify(shared.card.name).folder.glob("*.safetensors")):
            with safe_open(path, framework="pt") as file:
                for key in file.keys():  # noqa: SIM118 (no mapping)
                    if key.startswith(("cls.predictions.", "vocab_")) and "decoder" not in key:
                        result[key] = file.get_tensor(key)
    network = adapted.with_own_head(shared.network, result)
    if network is None:
        raise UserError(
            "no_fill_in_head",
            f"{shared.card.title} has no head that guesses hidden tokens; choose "
            "all-MiniLM-L6-v2 or bert-base-uncased.",
            model=shared.card.title,
        )
    return network
