"""The pretrained models that a lesson offers, and where their layers and heads end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqviz.lessons.framework.controls import Condition, slider
from seqviz.models import registry, store

MODELS = {record.name: record for record in store.available()}
ENCODERS = tuple(name for name, record in MODELS.items() if record.kind == "encoder")
DECODERS = tuple(name for name, record in MODELS.items() if record.kind == "decoder")
DEFAULT = next((m for m in registry.DEFAULTS.values() if m in MODELS), next(iter(MODELS)))
MOST_LAYERS, MOST_HEADS = 48, 25  # of any model that a teacher may allow (GPT-2 XL has these)


def layer_slider(default: int, when: Condition | None = None) -> Any:
    """A slider over the layers of the model that is chosen, counted from 0."""

    def last(values: Mapping[str, Any]) -> int:
        return (MODELS[values["model"]].layers or MOST_LAYERS) - 1

    return slider(0, MOST_LAYERS - 1, default, within=last, when=when)


def head_slider(default: int, when: Condition | None = None) -> Any:
    """A slider over the heads of a layer of that model, counted from 0."""

    def last(values: Mapping[str, Any]) -> int:
        return (MODELS[values["model"]].heads or MOST_HEADS) - 1

    return slider(0, MOST_HEADS - 1, default, within=last, when=when)
