"""Bench on the learned position table of a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqviz.compute.positions.clocks import embedding_scale
from seqviz.compute.positions.learned import ages, compare, spectrum, updates
from seqviz.compute.positions.learned import path as components
from seqviz.compute.positions.offsets import similarity
from seqviz.compute.positions.sinusoidal import encoding
from seqviz.experiments import positions
from seqviz.figures.positions.clocks import embedding_norms
from seqviz.figures.positions.tables import (
    component_path,
    early_and_late,
    power_spectrum,
    row_updates,
    table_similarity,
)
from seqviz.lessons.framework.controls import choice, on, select_slider, view
from seqviz.lessons.framework.model_controls import ENCODERS, MODELS
from seqviz.lessons.framework.show import Show

DEFAULT = "minilm" if "minilm" in ENCODERS else next(iter(ENCODERS or MODELS))


@dataclass(frozen=True)
class LearnedParams:
    """Controls of the bench on the learned table."""

    view: str = view(("similarity", "path", "spectrum", "late", "updates", "norms"), "similarity")
    model: str = choice(tuple(MODELS), DEFAULT, menu=True)
    longest: int = select_slider((8, 16, 32, 64, 128, 256, 512), 128, when=on(view="updates"))


def learned(p: LearnedParams, show: Show) -> None:
    show.model(p.model)
    table = show.run(positions.table, p.model, name="table")
    result = show.run(compare, table.table)
    if p.view == "path":
        method = show.run(components, table.table, name="way")
        show.figure(component_path, method)
        first, second = [*method.explained.tolist(), 0.0][:2]
        show.note("path", first=first, second=second)
    elif p.view == "updates":
        rows = len(table.table)
        lengths = show.run(positions.review_lengths, p.model, name="lengths")
        trained = show.run(updates, lengths, rows, min(p.longest, rows), name="trained")
        show.figure(row_updates, trained)
        show.facts(trained.summary, note="updates")
    elif p.view == "norms":
        scale = show.run(embedding_scale, table.words, table.table, name="scale")
        show.figure(embedding_norms, scale)
        show.facts(scale.medians, note="norms")
        show.note("norms_paper")
    else:
        sines = show.run(encoding, *table.table.shape, name="sines")
        beside_sines(p.view, table.table, sines.table, show)
    rows, width = table.table.shape
    show.metrics(size=(f"{rows} × {width}", table.model))
    beside = {
        "share": show.words("metric.share.sines", share=result.sinusoidal_in_eight),
        "cka": show.words("metric.cka.chance", value=result.cka_chance),
    }
    show.readouts(result, share="in_eight", caption=beside)
    show.readouts(result, "cka", "unlike", caption=beside)


def beside_sines(view: str, table: np.ndarray, sinusoids: np.ndarray, show: Show) -> None:
    """Show a view that compares the learned table with sinusoids, and its note."""
    if view == "similarity":
        near = show.run(similarity, table, name="near")
        other = show.run(similarity, sinusoids, name="other")
        show.figure(table_similarity, near, other)
        show.note("similarity", own_1=near.cosine_apart(1), own_100=near.cosine_apart(100),
                  sines_1=other.cosine_apart(1), sines_100=other.cosine_apart(100))  # fmt: skip
    elif view == "spectrum":
        power = show.run(spectrum, table, name="power")
        by_sines = show.run(spectrum, sinusoids, name="by_sines")
        show.figure(power_spectrum, power, by_sines)
        show.note("spectrum", own=power.slow, sines=by_sines.slow)
    else:
        aged, fresh = show.run(ages, table, name="aged"), show.run(ages, sinusoids, name="fresh")
        show.figure(early_and_late, aged, fresh)
        quarters = show.derive(aged.quarters, name="quarters")
        show.note(quarters.variant, **quarters)
        show.note("late_ends", **quarters)
