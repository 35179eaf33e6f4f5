"""Benches on simple position codes, the sinusoidal table, and pairs of its rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from seqviz.compute.positions import simple as codes
from seqviz.compute.positions.clocks import clocks
from seqviz.compute.positions.offsets import dot_by_offset, similarity
from seqviz.compute.positions.sinusoidal import (
    LAYOUTS,
    Sinusoids,
    encoding,
    fit_rotation,
    rotation,
)
from seqviz.core.i18n import number
from seqviz.figures.positions.clocks import clock_hands, wavelengths
from seqviz.figures.positions.encodings import (
    dot_products,
    encoding_map,
    rotation_matrices,
    similarity_by_offset,
)
from seqviz.figures.positions.simple import code_demands, digits_and_waves
from seqviz.lessons.framework.controls import choice, in_browser, on, slider, view
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show

BASES = (1.5, 10.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0, 30_000.0, 100_000.0, 1_000_000.0)
A_TENTH = 0.1  # target: minimum share of a turn


@dataclass(frozen=True)
class SimpleParams:
    """Controls of the bench on simple position codes."""

    view: str = view(("demands", "digits"), "demands")
    words: int = slider(8, 128, 32)


def simple(p: SimpleParams, show: Show) -> None:
    demands = show.run(codes.demands, p.words)
    if p.view == "digits":
        binary = show.run(codes.code, "binary", p.words, name="binary")
        sinusoids = show.run(codes.code, "waves", p.words, name="waves")
        show.figure(digits_and_waves, binary, sinusoids)
    else:
        show.figure(code_demands, demands)
    show.readouts(demands, "drowned", "moved", "jump", "stride")
    show.facts(demands.failures, note=p.view)


@dataclass(frozen=True)
class WavesParams:
    """Controls of the bench on the sinusoidal table, which the browser draws."""

    positions: int = in_browser(slider(1, 10_000, 64))
    d_model: int = in_browser(slider(2, 512, 64))
    base: float = in_browser(slider(1.5, 1_000_000.0, 10_000.0, 0.5))
    layout: str = in_browser(choice(LAYOUTS, "interleaved"))
    position: int = in_browser(slider(0, 9999, 20))
    dimension: int = in_browser(slider(0, 511, 8))


def waves(p: WavesParams, show: Show) -> None:
    sines = show.run(encoding, p.positions, p.d_model, p.base, p.layout, name="sines")
    words = show.text.table("positions.client.sinusoid")
    show.live("sinusoid", asdict(p), words, encoding_map, sines)
    count, turned = len(sines.wavelengths), int((sines.wavelengths <= p.positions).sum())
    if count == 1:
        return show.note("one_wave")
    slower = turned < count and p.positions > 1  # a single position has no other to differ from
    show.note("waves" if slower else "waves_all", waves=count, sines=sines, p=p, whole=turned)


@dataclass(frozen=True)
class DistanceParams:
    """Controls of the bench on pairs of positions."""

    view: str = view(("offset", "matrix", "rotation", "clocks", "wavelengths"), "offset")
    d_model: int = slider(2, 256, 16, 2, unit="dimensions")
    base: float = stops(BASES, 10_000.0, more=True)
    length: int = slider(8, 256, 64, 8, when=on(view=("offset", "matrix")))
    offset: int = slider(1, 50, 3, when=on(view=("rotation", "clocks")), unit="positions")
    place: int = slider(0, 200, 10, when=on(view="clocks"))


def rotation_view(p: DistanceParams, show: Show) -> None:
    """Show the matrix that shifts a position: closed form, and fit to the table."""
    formula = show.run(rotation, p.offset, p.d_model, p.base, name="formula")
    # Slow pairs hardly move over a few rows, so many are needed to separate them.
    rows = show.run(encoding, 512, p.d_model, p.base, name="rows")
    solved = show.run(fit_rotation, rows.table, p.offset, name="solved")
    show.figure(rotation_matrices, formula, solved, p.offset)
    show.readouts(solved, "residual", rank="rank_of_width")
    gap = show.readout("gap", solved.gap, formula)
    same = solved.rank == p.d_model
    show.note("unique" if same else "not_unique", gap=gap, rank=solved.rank)


def clocks_view(p: DistanceParams, show: Show) -> None:
    """Show the clock hands of two positions."""
    later = show.run(encoding, p.place + p.offset + 1, p.d_model, p.base, name="later")
    here = show.run(clocks, later, p.place, name="here")
    there = show.run(clocks, later, p.place + p.offset, name="there")
    show.figure(clock_hands, here, there)
    fast = show.readout("fastest", later.degrees, p.offset, 0)
    slow = show.readout("slowest", later.degrees, p.offset, -1)
    show.note("one_clock" if p.d_model == 2 else "clocks", offset=p.offset, fast=fast, slow=slow)


def distance(p: DistanceParams, show: Show) -> None:
    if p.view == "rotation":
        return rotation_view(p, show)
    if p.view == "clocks":
        return clocks_view(p, show)
    sines = show.run(encoding, p.length, p.d_model, p.base, name="sines")
    if p.view == "wavelengths":
        show.figure(wavelengths, sines)
        # A ratio close to 1 needs a fourth digit.
        digits = 3 if sines.ratio >= 1.05 else 4
        show.note("wavelengths" if len(sines.wavelengths) > 1 else "one_wave",
                  factor=number(sines.ratio, digits))  # fmt: skip
    else:
        offset_view(p, sines, show)
    turn = p.length / sines.longest
    show.target("slowest", A_TENTH <= turn <= 1, turn=turn, length=p.length)
    root = f"√({p.d_model}/2)"
    show.readouts(sines, "norm", "shortest", "longest", caption={"norm": root})


def offset_view(p: DistanceParams, sines: Sinusoids, show: Show) -> None:
    """Show dot products by offset, or of all pairs."""
    result = show.run(similarity, sines.table)
    offsets = result.dot_by_offset.offset
    closed = show.run(dot_by_offset, sines.frequencies, offsets, name="closed")
    if p.view == "offset":
        show.figure(similarity_by_offset, result, closed)
    else:
        show.figure(dot_products, result)
    show.note("same_offset", spread=result.dot_by_offset.spread)
    if p.length > 17:  # the note compares positions 5 and 17 with 4
        near, far = sines.dot(1), sines.dot(13)
        show.note("nearer" if near > far else "farther", near=near, far=far)
