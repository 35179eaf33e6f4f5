"""Preparation of pretrained models for a figure: fetch files, load the model, read the text."""

from __future__ import annotations

from seqviz.core.errors import UserError
from seqviz.jobs import Report
from seqviz.models import forward_cache, pretrained, store, texts
from seqviz.models.registry import model as record_of
from seqviz.models.texts import ModelText

_QUICK = 1_500  # tokens times layers that take less than one second on one core
_LIVE = 6_000  # tokens times layers allowed where each interaction needs a new pass
_FETCHED, _LOADED = 0.85, 0.9  # progress after each stage, if nothing was stored


def is_ready(model: str, text: ModelText | None = None, other: ModelText = "") -> bool:
    """Return True where figures of this text can be drawn within about one second.

    Args:
        model: name of the model.
        text: the text; None to ask for the model alone.
        other: second text of a pair (encoders).
    """
    if not pretrained.loaded(model):
        return False
    if text is None:
        return True
    if forward_cache.is_cached(model, text, other):
        return True
    loaded = pretrained.load(model)
    tokens = texts.tokens(loaded, text, other)
    return len(tokens.ids) * loaded.network.config.num_hidden_layers <= _QUICK


def check_interactive_length(model: str, text: ModelText) -> None:
    """Raise UserError("too_long_live") for a text too long for a new pass at each interaction.

    Args:
        model: name of the model.
        text: the text.
    """
    loaded = pretrained.load(model)
    limit = _LIVE // loaded.network.config.num_hidden_layers
    result = len(texts.tokens(loaded, text).ids)
    if result > limit:
        raise UserError(
            "too_long_live",
            f"Each change here is a new pass of {loaded.card.title}: at most {limit} tokens, and "
            f"the text has {result}. Shorten it; the figures above read all of it.",
            model=loaded.card.title,
            limit=limit,
            found=result,
        )


def load_job(model: str, text: ModelText | None, other: ModelText, report: Report) -> str:
    """Fetch and load a model, read the text if there is one, and return the device.

    A job for `seqviz.jobs`. Errors of `store.fetch`, `pretrained.load` and `forward_cache.read` are
    passed on.

    Args:
        model: name of the model.
        text: the text; None to load the model only.
        other: second text of a pair (encoders).
        report: called with the stage ("fetch", "load", "read") and the fraction of the work done.
    """
    here = store.stored(model) is not None
    if not here:
        store.fetch(model, lambda share: report("fetch", _FETCHED * share))
    report("load", 0.05 if here else _FETCHED)
    loaded = pretrained.load(model)
    if text is None:
        return loaded.device
    start = 0.3 if here else _LOADED
    report("read", start)
    layers = loaded.network.config.num_hidden_layers
    result = forward_cache.read(
        model,
        text,
        other,
        each=lambda layer: report("read", start + (1 - start) * layer / layers),
    )
    return result.device


def size(model: str) -> int:
    """Return the maximum download in bytes; 0 for a stored model."""
    if store.stored(model) is not None:
        return 0
    record = record_of(model)
    return record.wheel.size if record.wheel else 4 * record.parameters
