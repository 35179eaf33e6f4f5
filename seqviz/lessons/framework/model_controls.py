"""Pretrained models that lessons offer, and sliders over their layers and heads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqviz.lessons.framework.controls import Condition, slider
from seqviz.models import registry, store

MODELS = {record.name: record for record in store.available()}
ENCODERS = tuple(name for name, record in MODELS.items() if record.kind == "encoder")
DECODERS = tuple(name for name, record in MODELS.items() if record.kind == "decoder")
DEFAULT = next((m for m in registry.DEFAULTS.values() if m in MODELS), next(iter(MODELS)))
MOST_LAYERS, MOST_HEADS = 48, 25  # upper bounds for any allowed model; those of GPT-2 XL


def layer_slider(default: int, when: Condition | None = None) -> Any:
    """Declare a slider over the layers of the selected model, counted from 0.

    Args:
        default: the initial layer.
        when: condition on the earlier controls; see `controls.on`.
    """

    def last(values: Mapping[str, Any]) -> int:
        return (MODELS[values["model"]].layers or MOST_LAYERS) - 1

    return slider(0, MOST_LAYERS - 1, default, within=last, when=when)


def head_slider(default: int, when: Condition | None = None) -> Any:
    """Declare a slider over the heads of a layer of the selected model, counted from 0.

    Args:
        default: the initial head.
        when: condition on the earlier controls; see `controls.on`.
    """

    def last(values: Mapping[str, Any]) -> int:
        return (MODELS[values["model"]].heads or MOST_HEADS) - 1

    return slider(0, MOST_HEADS - 1, default, within=last, when=when)
