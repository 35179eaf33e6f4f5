"""Positional encodings: not only the picture, the effect."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from seqviz.compute.positions import order, orders, relative, rotary, sinusoidal, tiny
from seqviz.compute.positions.clocks import clocks, embedding_scale
from seqviz.compute.positions.learned import compare, spectrum
from seqviz.compute.positions.learned import path as components
from seqviz.compute.positions.offsets import dot_by_offset, similarity
from seqviz.compute.positions.sinusoidal import LAYOUTS, encoding, found_rotation, rotation
from seqviz.compute.positions.tiny.training import train
from seqviz.experiments import positions
from seqviz.figures.positions.biases import alibi, t5_buckets
from seqviz.figures.positions.clocks import clock_hands, embedding_norms, wavelengths
from seqviz.figures.positions.effects import both_orders, moved_words
from seqviz.figures.positions.encoder import encoder_maps, encoder_variants
from seqviz.figures.positions.encodings import (
    dot_products,
    encoding_map,
    rotation_matrices,
    similarity_by_offset,
)
from seqviz.figures.positions.schemes import rotary_scores, shift_bars
from seqviz.figures.positions.tables import component_path, power_spectrum, table_similarity
from seqviz.figures.positions.tasks import accuracies, learning_curves, learning_progress
from seqviz.lessons.bench.controls import choice, in_browser, seed, sentence, slider, toggle, view
from seqviz.lessons.bench.controls import steps as stops
from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.bench.show import Show
from seqviz.models import pretrained, store, texts
from seqviz.text import literal, number

BASES = (1.5, 10.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0, 30_000.0, 100_000.0, 1_000_000.0)
MODELS = {record.name: record for record in store.offered()}
ENCODERS = tuple(name for name, record in MODELS.items() if record.kind == "encoder")
MOST_LAYERS, MOST_HEADS = 48, 25  # of any model that a teacher may allow
DEFAULT = "minilm" if "minilm" in ENCODERS else next(iter(ENCODERS or MODELS))
FIRST, SECOND = "Mary gave John a flower", "John gave Mary a flower"
ROUNDING = 1e-12
PASTED = 2000  # characters of a text field
SCHEMES = relative.SCHEMES

lesson = Lesson("positions", code=(encoding, rotary.rotate, relative.alibi_slopes, order.attend))


@dataclass(frozen=True)
class Waves:
    """The sinusoidal table; drawn in the browser."""

    positions: int = in_browser(slider(1, 10_000, 64))
    d_model: int = in_browser(slider(2, 512, 64))
    base: float = in_browser(slider(1.5, 1_000_000.0, 10_000.0, 0.5))
    layout: str = in_browser(choice(LAYOUTS, "interleaved"))
    position: int = in_browser(slider(0, 9999, 20))
    dimension: int = in_browser(slider(0, 511, 8))


@dataclass(frozen=True)
class Distance:
    """What two rows of the table say about each other."""

    view: str = view(("offset", "matrix", "rotation", "clocks", "wavelengths"), "offset")
    d_model: int = slider(2, 256, 64, 2)
    base: float = stops(BASES, 10_000.0)
    length: int = slider(8, 256, 64, 8, when=lambda v: v["view"] in ("offset", "matrix"))
    offset: int = slider(1, 50, 3, when=lambda v: v["view"] in ("rotation", "clocks"))
    place: int = slider(0, 200, 10, when=lambda v: v["view"] == "clocks")


@dataclass(frozen=True)
class Learned:
    """The table that a model has learned."""

    view: str = view(("similarity", "path", "spectrum", "norms"), "similarity")
    model: str = choice(tuple(MODELS), DEFAULT, menu=True)


def seen(*names):
    return lambda v: v["view"] in names


@dataclass(frozen=True)
class Schemes:
    """Positions that enter the score and not the vector."""

    view: str = view(("rotary", "alibi", "t5", "shift"), "rotary")
    tokens: int = slider(4, 64, 24, when=seen("rotary", "alibi", "t5"))
    base: float = stops(BASES, 100_000.0, when=seen("rotary"))
    d_k: int = stops((2, 4, 8, 16, 32, 64, 128), 64, when=seen("rotary"))
    heads: int = slider(1, 32, 8, when=seen("alibi"))
    head: int = slider(
        0, 31, 0, within=lambda v: v["heads"] - 1,
        when=lambda v: v["view"] == "alibi" and v["heads"] > 1,
    )  # fmt: skip
    buckets: int = stops((8, 16, 32, 64), 32, when=seen("t5"))
    farthest: int = stops((64, 128, 256), 128, when=seen("t5"))
    causal: bool = toggle(False, when=seen("alibi", "t5"))
    shift: int = slider(0, 1000, 1000, 20, when=seen("shift"))
    seed: int = seed(1, more=True)


@dataclass(frozen=True)
class Effect:
    """The same words in another order."""

    view: str = view(("moved", "maps"), "moved")
    first: str = sentence(FIRST, PASTED)
    how: str = choice(("own", "shuffled"), "own")
    second: str = sentence(SECOND, PASTED, when=lambda v: v["how"] == "own")
    draw: int = slider(1, 50, 1, when=lambda v: v["how"] == "shuffled")
    causal: bool = toggle(False)
    scheme: str = choice(orders.SCHEMES, "none", when=seen("maps"))
    seed: int = seed(0, more=True)


def last_layer(v):
    return (MODELS[v["model"]].layers or MOST_LAYERS) - 1


def last_head(v):
    return (MODELS[v["model"]].heads or MOST_HEADS) - 1


@dataclass(frozen=True)
class Encoder:
    """A real encoder with another table in place of its own."""

    view: str = view(("variants", "maps"), "variants")
    model: str = choice(ENCODERS or tuple(MODELS), DEFAULT, menu=True)
    variant: str = choice(("zero", "shuffled", "sinusoidal"), "zero", when=seen("maps"))
    layer: int = slider(0, MOST_LAYERS - 1, 0, when=seen("maps"), within=last_layer)
    head: int = slider(0, MOST_HEADS - 1, 2, when=seen("maps"), within=last_head)


@dataclass(frozen=True)
class Task:
    """Tiny Transformers with one task, each with another encoding."""

    view: str = view(("result", "curves"), "result")
    task: str = choice(tiny.TASKS, "reverse", menu=True)
    causal: bool = toggle(False)
    letters: int = slider(6, 12, 8)
    seed: int = seed(0, more=True)


def words_of_drawing(show: Show) -> dict[str, str]:
    """What the drawing in the browser says."""
    return show.text.table("positions.client.sinusoid")


def percent(share: float) -> str:
    """A share in percent; what is only rounding is 0."""
    return "0 %" if share < ROUNDING else f"{number(100 * share)} %"


@lesson.bench("waves", Waves)
def waves(p: Waves, show: Show) -> None:
    sines = show.run(encoding, p.positions, p.d_model, p.base, p.layout, name="sines")
    show.live("sinusoid", asdict(p), words_of_drawing(show), encoding_map, sines)


@lesson.bench("distance", Distance)
def distance(p: Distance, show: Show) -> None:
    length = max(p.length, p.place + 1)
    sines = show.run(encoding, length, p.d_model, p.base, name="sines")
    waves = sines.wavelengths
    if p.view == "rotation":
        closed = show.run(rotation, p.offset, p.d_model, p.base, name="closed")
        # Rows enough to tell all pairs apart: the slow ones hardly move among a few.
        rows = show.run(encoding, 512, p.d_model, p.base, name="rows")
        found = show.run(found_rotation, rows.table, p.offset, name="found")
        show.figure(rotation_matrices, closed, found, p.offset)
        show.metrics(
            residual=number(found.residual, 2),
            rank=f"{found.rank} / {p.d_model}",
            gap=number(float(np.abs(found.matrix - closed).max()), 2),
        )
        if found.rank < p.d_model:
            show.note("not_unique")
        return
    if p.view == "clocks":
        later = show.run(encoding, p.place + p.offset + 1, p.d_model, p.base, name="later")
        here = show.run(clocks, later, p.place, name="here")
        there = show.run(clocks, later, p.place + p.offset, name="there")
        show.figure(clock_hands, here, there)
        show.metrics(
            fastest=number(360 * p.offset / float(waves[0])),
            slowest=number(360 * p.offset / float(waves[-1])),
        )
        return
    if p.view == "wavelengths":
        show.figure(wavelengths, sines)
    else:
        found = show.run(similarity, sines.table, name="found")
        closed = show.run(
            dot_by_offset, sines.frequencies, found.dot_by_offset.offset, name="closed"
        )
        if p.view == "offset":
            show.figure(similarity_by_offset, found, closed)
        else:
            show.figure(dot_products, found)
    show.metrics(
        norm=(number(float(np.sqrt(p.d_model / 2)), 4), f"√({p.d_model}/2)"),
        shortest=number(float(waves[0]), 4),
        longest=number(float(waves[-1]), 4),
    )


@lesson.bench("learned", Learned)
def learned(p: Learned, show: Show) -> None:
    show.model(p.model)
    table = show.run(positions.table, p.model, name="table")
    found = show.run(compare, table.table, name="found")
    if p.view == "similarity":
        near = show.run(similarity, table.table, name="near")
        sines = show.run(encoding, *table.table.shape, name="sines")
        other = show.run(similarity, sines.table, name="other")
        show.figure(table_similarity, near, other)
    elif p.view == "path":
        way = show.run(components, table.table, name="way")
        show.figure(component_path, way)
    elif p.view == "spectrum":
        own = show.run(spectrum, table.table, name="own")
        sines = show.run(encoding, *table.table.shape, name="sines")
        other = show.run(spectrum, sines.table, name="other")
        show.figure(power_spectrum, own, other)
    else:
        scale = show.run(embedding_scale, table.words, table.table, name="scale")
        show.figure(embedding_norms, scale)
        width = table.table.shape[1]
        show.note("norms", width=width, length=number(float(np.sqrt(width / 2))))
    rows, width = table.table.shape
    show.metrics(
        size=(f"{rows} × {width}", table.model),
        share=(
            f"{100 * float(found.share[1]):.0f} %",
            show.words("metric.share.sines", share=f"{100 * float(found.sinusoidal_share[1]):.0f}"),
        ),
        cka=(number(found.cka), show.words("metric.cka.chance", value=number(found.cka_chance))),
        unlike=f"{100 * found.unlike:.0f} %",
    )


@lesson.bench("schemes", Schemes)
def schemes(p: Schemes, show: Show) -> None:
    if p.view == "rotary":
        found = show.run(
            rotary.random_scores, p.d_k, p.tokens, p.base, "halves", p.seed, name="found"
        )
        show.figure(rotary_scores, found)
        show.metrics(
            spread=number(found.by_offset.spread, 2),
            error=number(float(np.abs(found.by_offset.mean - found.closed_form).max()), 2),
            pairs=f"{p.d_k // 2}",
        )
    elif p.view == "alibi":
        slopes = show.run(relative.alibi_slopes, p.heads, name="slopes")
        bias = show.run(relative.alibi_bias, p.heads, p.tokens, p.causal, name="bias")
        show.figure(alibi, slopes, bias, min(p.head, p.heads - 1))
        show.metrics(
            steepest=number(float(slopes.max()), 4), flattest=number(float(slopes.min()), 4)
        )
    elif p.view == "t5":
        found = show.run(
            relative.t5_map, p.tokens, not p.causal, p.buckets, p.farthest, name="buckets"
        )
        show.figure(t5_buckets, found)
        show.metrics(used=f"{len(np.unique(found))} / {p.buckets}")
    else:
        changes = tuple(
            show.run(relative.shift_change, name, 16, p.shift, 64, p.seed, name=f"by_{name}")
            for name in SCHEMES
        )
        show.figure(shift_bars, changes)
        by = {change.scheme: change for change in changes}
        show.metrics(
            absolute=number(by["sinusoidal"].largest),
            turned=number(by["rotary"].largest, 2),
            beyond=f"{by['learned'].beyond} / 16",
        )


@lesson.bench("effect", Effect, leads=True)
def effect(p: Effect, show: Show) -> None:
    second = orders.shuffle(p.first, p.draw) if p.how == "shuffled" else p.second
    found = show.run(orders.compare_orders, p.first, second, p.causal, p.seed, name="found")
    if p.view == "moved":
        show.figure(moved_words, found)
    else:
        show.figure(both_orders, found, p.scheme)
    if p.how == "shuffled":
        show.note("shuffled", text=literal(second))
    paired = found.moved[:, found.paired]
    largest = paired.max(axis=1, initial=0)
    show.metrics(
        **{
            f"moved_{scheme}": percent(float(value)) if paired.size else "–"
            for scheme, value in zip(found.schemes, largest, strict=True)
        }
    )
    if paired.shape[1] < max(len(found.words), len(found.others)):
        show.note("strangers")
    elif largest[0] < ROUNDING and not p.causal:
        show.note("equivariant")
    elif largest[0] >= ROUNDING and p.causal:
        show.note("causal")


@lesson.bench("encoder", Encoder, after=("effect",))
def encoder(p: Encoder, show: Show) -> None:
    above = lesson.values("effect")
    second = orders.shuffle(above.first, above.draw) if above.how == "shuffled" else above.second
    show.model(p.model)
    found = show.run(
        positions.reordered, p.model, above.first, second, p.layer, p.head, name="found"
    )
    loaded = pretrained.load(p.model)
    if any(texts.tokens(loaded, text).left_out for text in (above.first, second)):
        show.caption(show.words("note.first_tokens", limit=texts.LONGEST - 2))
    if p.view == "variants":
        show.figure(encoder_variants, found)
    else:
        show.figure(encoder_maps, found, p.variant)
    at = dict(zip(found.variants, range(4), strict=True))
    show.metrics(
        alike_own=number(float(found.alike[at["own"]]), 4),
        alike_zero=number(float(found.alike[at["zero"]]), 4),
        kept_zero=number(float(found.kept[at["zero"]]), 3),
        previous_zero=(
            f"{100 * float(found.previous[at['zero']]):.0f} %",
            show.words("metric.previous_zero.own", share=f"{100 * float(found.previous[0]):.0f}"),
        ),
    )


@lesson.bench("task", Task)
def task(p: Task, show: Show) -> None:
    settings = tiny.OrderSettings(p.task, p.letters, p.causal, p.seed)
    found = show.job(
        train,
        name="found",
        settings=settings,
        then=(accuracies if p.view == "result" else learning_curves,),
        so_far=(learning_progress, settings),
    )
    test = dict(zip(settings.encodings, found.test.accuracy.mean(axis=1), strict=True))
    longer = dict(zip(settings.encodings, found.longer.accuracy.mean(axis=1), strict=True))
    show.metrics(
        task_none=f"{100 * test['none']:.1f} %",
        task_sinusoidal=f"{100 * test['sinusoidal']:.1f} %",
        task_rotary=f"{100 * test['rotary']:.1f} %",
        task_longer=f"{100 * longer['rotary']:.1f} %",
    )
    show.caption(
        show.words(
            "note.task",
            runs=settings.runs,
            sequences=f"{tiny.TEST_SEQUENCES:,}",
            chance=f"{100 * found.test.chance:.1f}",
            blind=f"{100 * found.test.order_blind:.1f}",
        )
    )


PAIRS = ((64, 32, 10_000), (8, 4, 10_000), (128, 64, 100), (16, 4, 10_000), (4, 2, 1_000_000))


def wavelength(d_model: int, dimension: int, base: int) -> float:
    """The wavelength of the pair of dimensions that `dimension` begins."""
    return 2 * np.pi / float(sinusoidal.frequencies(d_model, float(base))[dimension // 2])


lesson.exercise(
    "wavelength",
    cases=[dict(zip(("d_model", "dimension", "base"), case, strict=True)) for case in PAIRS],
    answer=wavelength,
    share=0.02,
)
