"""The pretrained models that a lesson offers, and where their layers and heads end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqviz.models import registry, store

MODELS = {record.name: record for record in store.offered()}
ENCODERS = tuple(name for name, record in MODELS.items() if record.kind == "encoder")
DECODERS = tuple(name for name, record in MODELS.items() if record.kind == "decoder")
DEFAULT = next((m for m in registry.DEFAULTS.values() if m in MODELS), next(iter(MODELS)))
MOST_LAYERS, MOST_HEADS = 48, 25  # of any model that a teacher may allow (GPT-2 XL has these)


def last_layer(values: Mapping[str, Any]) -> int:
    """Of the model that is chosen, counted from 0."""
    return (MODELS[values["model"]].layers or MOST_LAYERS) - 1


def last_head(values: Mapping[str, Any]) -> int:
    """Of a layer of the model that is chosen, counted from 0."""
    return (MODELS[values["model"]].heads or MOST_HEADS) - 1
