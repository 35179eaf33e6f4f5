"""Everything that a figure of a pretrained model waits for: the files, the loading, a long text."""

from __future__ import annotations

from seqviz.core.errors import UserError
from seqviz.jobs import Report
from seqviz.models import forward_cache, pretrained, store, texts
from seqviz.models.registry import model as record_of
from seqviz.models.texts import ModelText

_QUICK = 1_500  # tokens times layers that take less than a second on one core
_LIVE = 6_000  # the same for what needs a pass of its own after every press
_FETCHED, _LOADED = 0.85, 0.9  # share of the work that is done by then, when all of it is to do


def is_ready(model: str, text: ModelText | None = None, other: ModelText = "") -> bool:
    """Whether figures of this text (or of the model alone) can be drawn within a second or so."""
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
    """Raise UserError("too_long_live") where a text is too long for a new pass after every
    press."""
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
    """Fetch, load and read (where there is a text): a job for `seqviz.jobs`; returns the device.

    Raises what `store.fetch`, `pretrained.load` and `readings.read` raise.
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
    """Bytes that have to be downloaded at the most; 0 when the model is on this machine."""
    if store.stored(model) is not None:
        return 0
    record = record_of(model)
    return record.wheel.size if record.wheel else 4 * record.parameters
