"""Experiments with shipped results, so that every figure is complete at once.

`tools/measure_accuracy.py` runs them; the defaults of the page are these settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from seqviz.compute.bert_accuracy.results import (
    FEATURES,
    METHODS,
    FillSettings,
    SearchSettings,
    TuneSettings,
)
from seqviz.experiments.bert_accuracy import (
    baselines,
    direction,
    fill,
    heads,
    padding,
    search,
    tuning,
    word_masking,
)

MODEL = "minilm"
SENTENCES = 2000
SHARES = tuple(round(0.05 * step, 2) for step in range(21))  # of the masked words
SELECTED = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)  # of the selected tokens of a fill-in
LENGTHS = (32, 64, 128, 256, 512)

KNIFE: Mapping[str, Any] = {"model": MODEL, "sentences": SENTENCES, "shares": SHARES}
FILL = FillSettings(sentences=SENTENCES)
PADDING: Mapping[str, Any] = {"model": MODEL, "sentences": SENTENCES, "lengths": LENGTHS}
PADS_IN_MEAN: Mapping[str, Any] = {**PADDING, "sentences": 1000}
DIRECTION: Mapping[str, Any] = {"model": MODEL, "sentences": SENTENCES}
BY_CLS: Mapping[str, Any] = {**DIRECTION, "feature": "cls"}
HEAD = replace(heads.STANDARD, model=MODEL, runs=5)
TUNE = TuneSettings(MODEL, "all", "mean", epochs=2, rate=5e-5, head_rate=1e-3)
SEARCH = SearchSettings(MODEL)
TUNED = {
    "random_head": replace(HEAD, regime="random", epochs=0),
    **{f"head_{feature}": replace(HEAD, feature=feature) for feature in FEATURES},
    "top_2": replace(TUNE, regime="top", layers=2),
    "lora": replace(TUNE, regime="lora", rank=8, rate=3e-4),
    "all": TUNE,
}
AGAIN = ("top_2", "lora", "all")  # a run takes minutes; each further seed is a separate result
SEEDS = 5

Call = tuple[Callable[..., Any], Mapping[str, Any]]


def calls() -> dict[str, Call]:
    """Return every experiment as a call, by name, the quick ones first."""
    result: dict[str, Call] = {
        f"standard_{feature}": (heads.fit_standard, {"model": MODEL, "feature": feature})
        for feature in FEATURES
    }
    result["baselines"] = (baselines.baselines, {})
    for name, settings in TUNED.items():
        result[name] = (tuning.tune, {"settings": settings})
    result["surface"] = (search.surface, {"model": MODEL, "feature": "mean"})
    three = tuple(replace(SEARCH, method=method) for method in METHODS)
    for item in three:
        result[f"search_{item.method}"] = (search.searches, {"settings": (item,)})
    result["race"] = (search.searches, {"settings": three})
    result["fill"] = (fill.fill_in, {"settings": FILL, "model": MODEL})
    result["fill_by_share"] = (
        fill.fill_in_by_share,
        {"settings": FILL, "shares": SELECTED, "model": MODEL},
    )
    result["direction"] = (direction.direction, DIRECTION)
    result["knife"] = (word_masking.mask_words, KNIFE)
    result["padding"] = (padding.padding, PADDING)
    result["controls"] = (word_masking.controls, KNIFE)
    result["pads_in_mean"] = (padding.pads_in_mean, PADS_IN_MEAN)
    result["by_cls"] = (direction.direction, BY_CLS)
    return result


def seeds() -> dict[tuple[str, int], Call]:
    """Return the calls of further seeds of slow regimes by name and seed; some may be missing."""
    return {
        (name, seed): (tuning.tune_again, {"settings": TUNED[name], "seed": seed})
        for name in AGAIN
        for seed in range(1, SEEDS)
    }
