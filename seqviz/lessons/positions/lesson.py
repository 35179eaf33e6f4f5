"""Positional encodings: not only the picture, the effect."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np

from seqviz.compute.positions import order, orders, relative, rotary, sinusoidal, tiny
from seqviz.compute.positions import simple as codes
from seqviz.compute.positions.clocks import EmbeddingScale, clocks, embedding_scale
from seqviz.compute.positions.learned import ages, compare, spectrum
from seqviz.compute.positions.learned import path as components
from seqviz.compute.positions.offsets import dot_by_offset, similarity
from seqviz.compute.positions.sinusoidal import LAYOUTS, encoding, fit_rotation, rotation
from seqviz.compute.positions.tiny.training import train
from seqviz.core.i18n import escape_markdown, number, percent
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
from seqviz.figures.positions.schemes import rotary_scores, shift_bars, term_maps
from seqviz.figures.positions.simple import code_demands, digits_and_waves
from seqviz.figures.positions.tables import (
    component_path,
    early_and_late,
    power_spectrum,
    table_similarity,
)
from seqviz.figures.positions.tasks import accuracies, learning_curves, learning_progress
from seqviz.lessons.framework.controls import (
    choice,
    in_browser,
    on,
    seed,
    slider,
    text_input,
    toggle,
    view,
)
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.model_controls import ENCODERS, MODELS, head_slider, layer_slider
from seqviz.lessons.framework.show import Show
from seqviz.models import texts

BASES = (1.5, 10.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0, 30_000.0, 100_000.0, 1_000_000.0)
DEFAULT = "minilm" if "minilm" in ENCODERS else next(iter(ENCODERS or MODELS))
FIRST, SECOND = "Mary gave John a flower", "John gave Mary a flower"
PASTED = 2000  # characters of a text field
A_TENTH = 0.1  # of a turn
ROUNDING = 1e-6  # of a cosine, in an encoder of float32

lesson = Lesson("positions", code=(encoding, rotary.rotate, relative.alibi_slopes, order.attend))


@dataclass(frozen=True)
class EffectParams:
    """The same words in another order."""

    view: str = view(("moved", "maps"), "moved")
    first: str = text_input(FIRST, PASTED)
    how: str = choice(("own", "shuffled"), "own")
    second: str = text_input(SECOND, PASTED, when=on(how="own"))
    draw: int = slider(1, 50, 1, when=on(how="shuffled"))
    strength: float = slider(0.0, 2.0, 1.0, 0.01, when=on(view="moved"))
    causal: bool = toggle(False)
    scheme: str = choice(orders.SCHEMES, "none", when=on(view="maps"))
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class SimpleParams:
    """Three simple answers, and the waves."""

    view: str = view(("demands", "digits"), "demands")
    words: int = slider(8, 128, 32)


@dataclass(frozen=True)
class WavesParams:
    """The sinusoidal table; drawn in the browser."""

    positions: int = in_browser(slider(1, 10_000, 64))
    d_model: int = in_browser(slider(2, 512, 64))
    base: float = in_browser(slider(1.5, 1_000_000.0, 10_000.0, 0.5))
    layout: str = in_browser(choice(LAYOUTS, "interleaved"))
    position: int = in_browser(slider(0, 9999, 20))
    dimension: int = in_browser(slider(0, 511, 8))


@dataclass(frozen=True)
class DistanceParams:
    """What two positions of the table say about each other."""

    view: str = view(("offset", "matrix", "rotation", "clocks", "wavelengths"), "offset")
    d_model: int = slider(2, 256, 16, 2, unit="dimensions")
    base: float = stops(BASES, 10_000.0)
    length: int = slider(8, 256, 64, 8, when=on(view=("offset", "matrix")))
    offset: int = slider(1, 50, 3, when=on(view=("rotation", "clocks")), unit="positions")
    place: int = slider(0, 200, 10, when=on(view="clocks"))


@dataclass(frozen=True)
class LearnedParams:
    """The table that a model has learned."""

    view: str = view(("similarity", "path", "spectrum", "late", "norms"), "similarity")
    model: str = choice(tuple(MODELS), DEFAULT, menu=True)


@dataclass(frozen=True)
class SchemesParams:
    """Positions that enter the score and not the vector."""

    view: str = view(("rotary", "terms", "alibi", "t5", "shift"), "rotary")
    key: int = slider(0, 1000, 10, when=on(view="rotary"))
    tokens: int = slider(4, 64, 24, when=on(view=("rotary", "terms", "alibi", "t5")))
    offset: int = slider(
        0, 63, 3, when=on(view="rotary"), within=lambda v: v["tokens"] - 1, unit="positions"
    )
    base: float = stops(BASES, 100_000.0, when=on(view="rotary"))
    d_k: int = stops((2, 4, 8, 16, 32, 64, 128), 64, when=on(view="rotary"), unit="dimensions")
    heads: int = slider(1, 32, 8, when=on(view="alibi"))
    head: int = slider(
        0, 31, 0, within=lambda v: v["heads"] - 1,
        when=lambda v: v["view"] == "alibi" and v["heads"] > 1,
    )  # fmt: skip
    buckets: int = stops((8, 16, 32, 64), 32, when=on(view="t5"))
    farthest: int = stops((64, 128, 256), 128, when=on(view="t5"), unit="positions")
    causal: bool = toggle(False, when=on(view=("alibi", "t5")))
    shift: int = slider(0, 1000, 1000, 20, when=on(view="shift"), unit="positions")
    seed: int = seed(1, more=True, when=on(view=("rotary", "terms", "shift")))


@dataclass(frozen=True)
class EncoderParams:
    """A real encoder with another table in place of its own."""

    view: str = view(("variants", "maps"), "variants")
    model: str = choice(ENCODERS or tuple(MODELS), DEFAULT, menu=True)
    variant: str = choice(("zero", "shuffled", "sinusoidal"), "zero", when=on(view="maps"))
    layer: int = layer_slider(0, on(view="maps"))
    head: int = head_slider(2, on(view="maps"))


@dataclass(frozen=True)
class TaskParams:
    """Tiny Transformers with one task, each with another encoding."""

    view: str = view(("result", "curves"), "result")
    task: str = choice(tiny.TASKS, "reverse", menu=True)
    causal: bool = toggle(False)
    letters: int = slider(6, 12, 8)
    seed: int = seed(0, more=True)


def other_order(p: EffectParams) -> str:
    """The second sentence: one's own, or the words of the first, shuffled."""
    return orders.shuffle(p.first, p.draw) if p.how == "shuffled" else p.second


@lesson.bench("effect", EffectParams, leads=True)
def effect(p: EffectParams, show: Show) -> None:
    second = other_order(p)
    found = show.run(orders.compare_orders, p.first, second, p.causal, p.seed, p.strength)
    if p.view == "moved":
        show.figure(moved_words, found)
    else:
        show.figure(both_orders, found, p.scheme)
    if p.how == "shuffled":
        show.note("shuffled", text=escape_markdown(second))
    for scheme in found.schemes:
        show.readout(f"moved_{scheme}", found.farthest, scheme)
    if found.strangers:
        show.note("strangers")
    elif movers := found.movers("none"):
        show.note("causal", words=escape_markdown(", ".join(movers)))
    elif p.causal:
        show.note("causal_same")
    else:
        show.note("equivariant")
    far = {scheme: found.farthest(scheme) for scheme in found.schemes[1:]}
    if any(far.values()) and not any(map(math.isnan, far.values())):
        key = "told_too" if found.movers("none") else "told"
        show.note(key, **{scheme: percent(share) for scheme, share in far.items()})


@lesson.bench("simple", SimpleParams)
def simple(p: SimpleParams, show: Show) -> None:
    found = show.run(codes.demands, p.words)
    if p.view == "digits":
        binary = show.run(codes.code, "binary", p.words, name="binary")
        waves = show.run(codes.code, "waves", p.words, name="waves")
        show.figure(digits_and_waves, binary, waves)
    else:
        show.figure(code_demands, found)
    show.readouts(found, "drowned", "moved", "jump", "stride")
    after = found.jump_at + 1
    show.note(
        p.view,
        last=p.words - 1,
        word=number(found.word),
        moved=number(found.moved),
        before=found.jump_at,
        after=after,
        digits=after.bit_length(),
        jump=number(found.jump),
        norm=number(float(found.of("waves", "norm")[0])),
        stride=number(found.stride),
    )


@lesson.bench("waves", WavesParams)
def waves(p: WavesParams, show: Show) -> None:
    sines = show.run(encoding, p.positions, p.d_model, p.base, p.layout, name="sines")
    words = show.text.table("positions.client.sinusoid")
    show.live("sinusoid", asdict(p), words, encoding_map, sines)
    whole = int((sines.wavelengths <= p.positions).sum())
    if len(sines.wavelengths) == 1:
        return show.note("one_wave")
    slower = whole < len(sines.wavelengths) and p.positions > 1  # one has no other to be told from
    show.note(
        "waves" if slower else "waves_all",
        waves=len(sines.wavelengths),
        shortest=number(sines.shortest),
        longest=number(sines.longest),
        positions=f"{p.positions:,}",
        whole=whole,
    )


def rotation_view(p: DistanceParams, show: Show) -> None:
    """The matrix that carries a position on: by the formula, and found in the table alone."""
    formula = show.run(rotation, p.offset, p.d_model, p.base, name="formula")
    # Rows enough to tell all pairs apart: the slow ones hardly move among a few.
    rows = show.run(encoding, 512, p.d_model, p.base, name="rows")
    solved = show.run(fit_rotation, rows.table, p.offset, name="solved")
    show.figure(rotation_matrices, formula, solved, p.offset)
    show.readouts(solved, "residual", rank="rank_of_width")
    gap = show.readout("gap", solved.gap, formula)
    same = solved.rank == p.d_model
    show.note("unique" if same else "not_unique", gap=number(gap, 2), rank=solved.rank)


def clocks_view(p: DistanceParams, show: Show) -> None:
    """Hands at one position and some further on."""
    later = show.run(encoding, p.place + p.offset + 1, p.d_model, p.base, name="later")
    here = show.run(clocks, later, p.place, name="here")
    there = show.run(clocks, later, p.place + p.offset, name="there")
    show.figure(clock_hands, here, there)
    fast = show.readout("fastest", later.degrees, p.offset, 0)
    slow = show.readout("slowest", later.degrees, p.offset, -1)
    if p.d_model == 2:
        show.note("one_clock", offset=p.offset, fast=number(fast))
    else:
        show.note("clocks", offset=p.offset, fast=number(fast), slow=number(slow))


@lesson.bench("distance", DistanceParams)
def distance(p: DistanceParams, show: Show) -> None:
    if p.view == "rotation":
        return rotation_view(p, show)
    if p.view == "clocks":
        return clocks_view(p, show)
    sines = show.run(encoding, p.length, p.d_model, p.base, name="sines")
    if p.view == "wavelengths":
        show.figure(wavelengths, sines)
        factor = sines.longest / sines.shortest
        step = factor ** (1 / max(len(sines.wavelengths) - 1, 1))
        many = len(sines.wavelengths) > 1
        # Where each is hardly longer than the one before, a third digit is not enough to say so.
        said = number(step, 3 if step >= 1.05 else 4)
        show.note("wavelengths" if many else "one_wave", factor=said)
    else:
        found = show.run(similarity, sines.table)
        offsets = found.dot_by_offset.offset
        closed = show.run(dot_by_offset, sines.frequencies, offsets, name="closed")
        if p.view == "offset":
            show.figure(similarity_by_offset, found, closed)
        else:
            show.figure(dot_products, found)
        near, far = sines.dot(1), sines.dot(13)
        show.note("same_offset", spread=number(found.dot_by_offset.spread, 2))
        show.note("nearer" if near > far else "farther", near=number(near), far=number(far))
    turn = p.length / sines.longest
    show.target("slowest", A_TENTH <= turn <= 1, turn=percent(turn), length=p.length)
    root = f"√({p.d_model}/2)"
    show.readouts(sines, "norm", "shortest", "longest", beside={"norm": root})


@lesson.bench("learned", LearnedParams)
def learned(p: LearnedParams, show: Show) -> None:
    show.model(p.model)
    table = show.run(positions.table, p.model, name="table")
    found = show.run(compare, table.table)
    if p.view == "path":
        way = show.run(components, table.table, name="way")
        show.figure(component_path, way)
        first, second = (percent(float(share), 0) for share in [*way.explained, 0.0][:2])
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
    eight = percent(found.sinusoidal_in_eight, 0)
    beside = {
        "share": show.words("metric.share.sines", share=eight),
        "cka": show.words("metric.cka.chance", value=number(found.cka_chance)),
    }
    show.readouts(found, share="in_eight", beside=beside)
    show.readouts(found, "cka", "unlike", beside=beside)


def beside_sines(view: str, own: np.ndarray, waves: np.ndarray, show: Show) -> None:
    """The views that lay the learned table beside the sinusoidal one, each with its sentence."""
    if view == "similarity":
        near, other = (
            show.run(similarity, own, name="near"),
            show.run(similarity, waves, name="other"),
        )
        show.figure(table_similarity, near, other)
        show.note("similarity", **{
            f"{whose}_{at}": number(float(np.diag(one.cosine, at).mean()))
            for whose, one in (("own", near), ("sines", other)) for at in (1, 100)
        })  # fmt: skip
    elif view == "spectrum":
        power, by_sines = (
            show.run(spectrum, own, name="power"),
            show.run(spectrum, waves, name="by_sines"),
        )
        show.figure(power_spectrum, power, by_sines)
        show.note("spectrum", own=percent(power.slow), sines=percent(by_sines.slow))
    else:
        aged, fresh = show.run(ages, own, name="aged"), show.run(ages, waves, name="fresh")
        show.figure(early_and_late, aged, fresh)
        (norm, beside), (late_norm, late_beside) = aged.early, aged.late
        (start_norm, start_near), (end_norm, end_near) = aged.first, aged.last
        broken, broken_near = aged.broken
        show.note(
            "late" if aged.trained else "untrained",
            norm=number(norm), near=number(beside), late_norm=number(late_norm),
            late_near=number(late_beside), skip=aged.skipped,
            start_norm=number(start_norm), start_near=number(start_near),
            end_norm=number(end_norm), end_near=number(end_near),
            last=len(own) - 1, broken=broken, after=broken + 1, broken_near=number(broken_near),
        )  # fmt: skip


def scales_said(found: EmbeddingScale) -> dict[str, str]:
    """Norms of word vectors, before and after the factor, beside a sinusoidal and a learned row."""
    words, scaled = float(np.median(found.embedding)), float(np.median(found.scaled))
    sines = found.factor / math.sqrt(2)
    return {
        "words": number(words),
        "scaled": number(scaled),
        "factor": number(found.factor),
        "sines": number(sines),
        "times": number(sines / words, 2),
        "share": number(sines / scaled, 2),
        "own": number(float(np.median(found.encoding))),
    }


def rotary_view(p: SchemesParams, show: Show) -> None:
    """Arrows that turn with their positions, and the score that this gives."""
    found = show.run(rotary.random_scores, p.d_k, p.tokens, p.base, "halves", p.seed)
    at = show.run(rotary.turned, p.d_k, p.key + p.offset, p.key, p.base, p.seed, name="at")
    show.figure(rotary_scores, found, at)
    show.readouts(found, "spread", "error", "pairs")
    show.note(
        "turned", query=f"{p.key + p.offset:,}", place=f"{p.key:,}", offset=p.offset,
        score=number(at.score),
    )  # fmt: skip
    (near, far), (alike, alike_far) = found.sizes(False), found.sizes(True)
    said = {"near": near, "far": far, "alike": alike, "alike_far": alike_far}
    falls = "falls" if alike_far < 0.9 * alike else "stays"
    show.note(f"alike_{falls}", **{name: number(size) for name, size in said.items()})


@lesson.bench("schemes", SchemesParams)
def schemes(p: SchemesParams, show: Show) -> None:
    if p.view == "rotary":
        rotary_view(p, show)
    elif p.view == "terms":
        terms = show.run(relative.position_terms, p.tokens, 64, p.seed, name="terms")
        show.figure(term_maps, terms)
        for scheme in ("sinusoidal", "learned", "rotary"):
            show.readout(f"spread_{scheme}", terms.spread_of, scheme)
        relatives = max(terms.spread_of(scheme) for scheme in ("rotary", "alibi", "t5"))
        show.note(
            "terms",
            **{scheme: number(terms.spread_of(scheme)) for scheme in ("sinusoidal", "learned")},
            relative=number(relatives, 2),
        )
    elif p.view == "alibi":
        slopes = show.run(relative.alibi_slopes, p.heads, name="slopes")
        bias = show.run(relative.alibi_bias, p.heads, p.tokens, p.causal, name="bias")
        head = min(p.head, p.heads - 1)
        show.figure(alibi, slopes, bias, head)
        show.readout("steepest", relative.largest_slope, slopes)
        show.readout("flattest", relative.smallest_slope, slopes)
        taken = (p.tokens - 1) * float(slopes[head])
        show.note(
            "alibi", head=head, distance=p.tokens - 1, taken=number(taken),
            times=number(math.exp(-taken)),
        )  # fmt: skip
    elif p.view == "t5":
        both = not p.causal
        places = show.run(relative.t5_map, p.tokens, both, p.buckets, p.farthest, name="places")
        show.figure(t5_buckets, places)
        used, of = show.readout("used", relative.buckets_used, places, p.buckets)
        alone = p.buckets // (4 if both else 2)
        last = relative.t5_last(both, p.buckets, p.farthest)
        show.note("t5", alone=alone, farthest=last, used=used, buckets=of)
    else:
        shifted(p, show)


def shifted(p: SchemesParams, show: Show) -> None:
    """What a shift of all positions does to the scores of every scheme."""
    changes = tuple(
        show.run(relative.shift_change, name, 16, p.shift, 64, p.seed, name=f"by_{name}")
        for name in relative.SCHEMES
    )
    show.figure(shift_bars, changes)
    by = {change.scheme: change for change in changes}
    learned = by["learned"]
    show.readouts(by["sinusoidal"], absolute="largest")
    show.readouts(by["rotary"], turned="rounding")
    show.readouts(learned, beyond="without_row")
    if not p.shift:
        return show.note("unshifted")
    show.note(
        "shift",
        shift=f"{p.shift:,}",
        sinusoidal=number(by["sinusoidal"].largest),
        size=number(by["sinusoidal"].size),
        attention=percent(by["sinusoidal"].attention),
        relative=number(max(by[name].largest for name in ("rotary", "alibi", "t5")), 2),
        rows=show.words(
            "note.shift_rows" if learned.beyond else "note.shift_all_rows",
            beyond=learned.beyond, words=len(learned.before), learned=number(learned.largest),
        ),
    )  # fmt: skip


@lesson.bench("encoder", EncoderParams, after=("effect",))
def encoder(p: EncoderParams, show: Show) -> None:
    above = lesson.values("effect")
    second = other_order(above)
    show.model(p.model)
    found = show.run(positions.reordered, p.model, above.first, second, p.layer, p.head)
    if found.left_out:
        show.caption(show.words("note.first_tokens", limit=texts.MAX_TEXT_TOKENS - 2))
    if p.view == "variants":
        show.figure(encoder_variants, found)
    else:
        show.figure(encoder_maps, found, p.variant)
        table = show.words.text(f"figure.pos_table_{p.variant}")
        own, other = (percent(found.before_of(name)) for name in ("own", p.variant))
        show.note("head", layer=found.layer, head=found.head, table=table, own=own, other=other)
    show.readout("alike_own", found.alike_of, "own")
    show.readout("alike_zero", found.alike_of, "zero")
    show.readout("kept_zero", found.kept_of, "zero")
    own = show.words("metric.previous_zero.own", share=percent(found.previous_of("own"), 0))
    show.readout("previous_zero", found.previous_of, "zero", beside=own)
    show.unknown_tokens(
        *show.derive(texts.unknown_tokens, p.model, above.first, second, name="new")
    )
    if found.pieces == found.others:
        return show.note("same_tokens")
    changes = {name: 1 - found.alike_of(name) for name in found.variants}
    said = {name: number(by, 2) if by > ROUNDING else "0" for name, by in changes.items()}
    show.note("order_counts", **said)
    if sorted(found.pieces) != sorted(found.others):
        show.note("other_tokens")
    elif changes["own"] > ROUNDING:
        part = percent(max(changes["sinusoidal"], 0.0) / changes["own"])
        show.note("order_hardly" if changes["own"] < 0.05 else "order_matters", part=part)
    show.note(
        "previous",
        own=percent(found.previous_of("own")),
        **{name: percent(found.previous_of(name)) for name in ("zero", "sinusoidal")},
    )


@lesson.bench("task", TaskParams)
def task(p: TaskParams, show: Show) -> None:
    settings = tiny.OrderSettings(p.task, p.letters, p.causal, p.seed)
    found = show.job(
        train,
        settings=settings,
        then=(accuracies if p.view == "result" else learning_curves,),
        so_far=(learning_progress, settings),
    )
    for scheme in ("none", "sinusoidal", "rotary"):
        show.readout(f"task_{scheme}", found.right, scheme)
    best = found.best_longer
    names = {name: show.words.text(f"figure.pos_scheme_{name}") for name in settings.encodings}
    show.readout("task_longer", found.right_longer, best, beside=names[best])
    kept = ", ".join(names[name] for name in found.keepers)
    show.note(
        "extrapolates" if kept else "no_extrapolation",
        kept=kept,
        letters=p.letters,
        longer=found.longer.length,
        best=names[best],
        best_longer=percent(found.right_longer(best)),
        best_usual=percent(found.right(best)),
    )
    show.caption(
        show.words(
            "note.task",
            runs=settings.runs,
            sequences=f"{tiny.TEST_SEQUENCES:,}",
            chance=percent(found.test.chance),
            blind=percent(found.test.order_blind),
            letters=found.test.length,
            longer=found.longer.length,
            chance_longer=percent(found.longer.chance),
            blind_longer=percent(found.longer.order_blind),
        )
    )


PAIRS = ((64, 32, 10_000), (8, 4, 10_000), (128, 64, 100), (16, 4, 10_000), (4, 2, 1_000_000))


def wavelength(d_model: int, dimension: int, base: int) -> float:
    """The wavelength of the pair of dimensions that `dimension` begins."""
    return 2 * math.pi / float(sinusoidal.frequencies(d_model, float(base))[dimension // 2])


lesson.exercise(
    "wavelength",
    cases=[dict(zip(("d_model", "dimension", "base"), case, strict=True)) for case in PAIRS],
    answer=wavelength,
    share=0.02,
)
