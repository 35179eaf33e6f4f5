"""The table of positions that a model has learned."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from seqviz.compute.positions.clocks import EmbeddingScale, embedding_scale
from seqviz.compute.positions.learned import ages, compare, spectrum
from seqviz.compute.positions.learned import path as components
from seqviz.compute.positions.offsets import similarity
from seqviz.compute.positions.sinusoidal import encoding
from seqviz.core.i18n import number, percent
from seqviz.experiments import positions
from seqviz.figures.positions.clocks import embedding_norms
from seqviz.figures.positions.tables import (
    component_path,
    early_and_late,
    power_spectrum,
    table_similarity,
)
from seqviz.lessons.framework.controls import choice, view
from seqviz.lessons.framework.model_controls import ENCODERS, MODELS
from seqviz.lessons.framework.show import Show

DEFAULT = "minilm" if "minilm" in ENCODERS else next(iter(ENCODERS or MODELS))


@dataclass(frozen=True)
class LearnedParams:
    """The table that a model has learned."""

    view: str = view(("similarity", "path", "spectrum", "late", "norms"), "similarity")
    model: str = choice(tuple(MODELS), DEFAULT, menu=True)


def learned(p: LearnedParams, show: Show) -> None:
    show.model(p.model)
    table = show.run(positions.table, p.model, name="table")
    result = show.run(compare, table.table)
    if p.view == "path":
        method = show.run(components, table.table, name="way")
        show.figure(component_path, method)
        first, second = (percent(float(share), 0) for share in [*method.explained, 0.0][:2])
        show.note("path", first=first, second=second)
    elif p.view == "norms":
        scale = show.run(embedding_scale, table.words, table.table, name="scale")
        show.figure(embedding_norms, scale)
        show.note("norms", **scales_said(scale))
    else:
        sines = show.run(encoding, *table.table.shape, name="sines")
        beside_sines(p.view, table.table, sines.table, show)
    rows, width = table.table.shape
    show.metrics(size=(f"{rows} × {width}", table.model))
    eight = percent(result.sinusoidal_in_eight, 0)
    beside = {
        "share": show.words("metric.share.sines", share=eight),
        "cka": show.words("metric.cka.chance", value=result.cka_chance),
    }
    show.readouts(result, share="in_eight", caption=beside)
    show.readouts(result, "cka", "unlike", caption=beside)


def beside_sines(view: str, table: np.ndarray, sinusoids: np.ndarray, show: Show) -> None:
    """The views that lay the learned table beside the sinusoidal one, each with its sentence."""
    if view == "similarity":
        near, other = (
            show.run(similarity, table, name="near"),
            show.run(similarity, sinusoids, name="other"),
        )
        show.figure(table_similarity, near, other)
        show.note("similarity", **{
            f"{whose}_{at}": number(float(np.diag(item.cosine, at).mean()))
            for whose, item in (("own", near), ("sines", other)) for at in (1, 100)
        })  # fmt: skip
    elif view == "spectrum":
        power, by_sines = (
            show.run(spectrum, table, name="power"),
            show.run(spectrum, sinusoids, name="by_sines"),
        )
        show.figure(power_spectrum, power, by_sines)
        show.note("spectrum", own=power.slow, sines=by_sines.slow)
    else:
        aged, fresh = show.run(ages, table, name="aged"), show.run(ages, sinusoids, name="fresh")
        show.figure(early_and_late, aged, fresh)
        (norm, beside), (late_norm, late_beside) = aged.early, aged.late
        (start_norm, start_near), (end_norm, end_near) = aged.first, aged.last
        broken, broken_near = aged.broken
        show.note(
            "late" if aged.trained else "untrained",
            norm=norm, near=beside, late_norm=late_norm,
            late_near=late_beside, skip=aged.skipped,
            start_norm=start_norm, start_near=start_near,
            end_norm=end_norm, end_near=end_near,
            last=len(table) - 1, broken=broken, after=broken + 1, broken_near=broken_near,
        )  # fmt: skip


def scales_said(embedding_scale: EmbeddingScale) -> dict[str, str]:
    """Norms of word vectors, before and after the factor, beside a sinusoidal and a learned row."""
    words, scaled = (
        float(np.median(embedding_scale.embedding)),
        float(np.median(embedding_scale.scaled)),
    )
    sines = embedding_scale.factor / math.sqrt(2)
    return {
        "words": number(words),
        "scaled": number(scaled),
        "factor": number(embedding_scale.factor),
        "sines": number(sines),
        "times": number(sines / words, 2),
        "share": number(sines / scaled, 2),
        "own": number(float(np.median(embedding_scale.encoding))),
    }
