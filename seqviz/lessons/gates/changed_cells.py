"""Cells that are changed after training: gates that are held, and the equations of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seqviz.compute.gates import observation
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.observation import MAX_SYMBOLS
from seqviz.core.i18n import number, percent
from seqviz.experiments import gates
from seqviz.figures.gates.effects import FARTHEST, distance_by_variant, free_and_forced
from seqviz.lessons.framework.controls import choice, on, slider
from seqviz.lessons.framework.lesson import read_params
from seqviz.lessons.framework.show import Show
from seqviz.lessons.gates.trained_network import CELLS, WatchParams, chosen, show_answer

HALF_A_BIT = 0.5  # per character, that a constant gate may cost


def held(cell: str, symbol: str, default: float, low: float = 0.0) -> Any:
    """The value of one forced gate; shown when that gate is among the forced ones."""
    forced = on(**{"cell": cell, f"gates_{cell}": symbol})
    return slider(low, 1.0, default, 0.01, when=forced)


@dataclass(frozen=True)
class ForceParams:
    """Which gates are held, where, and at what."""

    cell: str = choice(CELLS, "lstm")
    gates_lstm: tuple[str, ...] = choice(
        ("i", "f", "g", "o"), ("f",), many=True, none=True, when=on(cell="lstm")
    )
    gates_gru: tuple[str, ...] = choice(
        ("r", "z", "n"), ("z",), many=True, none=True, when=on(cell="gru")
    )
    f: float = held("lstm", "f", 0.9)
    i: float = held("lstm", "i", 0.0)
    g: float = held("lstm", "g", 0.0, -1.0)
    o: float = held("lstm", "o", 0.0)
    z: float = held("gru", "z", 0.5)
    r: float = held("gru", "r", 0.0)
    n: float = held("gru", "n", 0.0, -1.0)
    units: str = choice(("all", "one"), "all")
    unit: int = slider(1, 256, 1, when=on(units="one"))
    first: int = slider(1, MAX_SYMBOLS, 1, more=True)
    last: int = slider(1, MAX_SYMBOLS, MAX_SYMBOLS, more=True)


def force(p: ForceParams, show: Show) -> None:
    name, text = chosen(read_params("watch", WatchParams), p.cell)
    symbol = "c" if p.cell == "lstm" else "h"
    free = show.run(gates.observe, name, text, symbol, name="left_alone")
    unit = None if p.units == "all" else min(p.unit, free.hidden)
    steps = len(free.pieces)
    first, last = sorted((min(p.first, steps), min(p.last, steps)))
    clamps = tuple(
        Clamp(gate, getattr(p, gate), unit, first, last)
        for gate in (p.gates_lstm if p.cell == "lstm" else p.gates_gru)
    )
    forced = show.run(gates.observe, name, text, symbol, clamps=clamps, name="gates_held")
    show.figure(free_and_forced, free, forced, unit, first, last)
    show_answer("free", free, show)
    show_answer("forced", forced, show)
    usual = show.words("metric.state.free", value=free.length_at_end)
    show.readouts(forced, state="length_at_end", caption={"state": usual})
    show.readout("largest", forced.largest_change, free)
    values = {clamp.gate: clamp.value for clamp in clamps}
    full = unit is None and (first, last) == (1, steps)
    if not clamps:
        return show.note("nothing_forced")
    say_lengths(symbol, free, forced, (first, last), show)
    if full and values == {"f": 1.0}:
        grows = forced.growth > 0  # not where there is one step, or a state that shrinks
        show.note("of_1997" if grows else "of_1997_short", power=forced.growth)
    elif full and values.get("i") == 0 and values.get("f") == 0:
        show.note("empty_cell")
    elif full and values == {"z": 1.0}:
        show.note("kept_for_good")
    if full and forced.kind == "characters" and set(values) == {"f"}:
        lost = forced.bits_per_character() - free.bits_per_character()
        show.target("constant_gate", lost <= HALF_A_BIT, lost=lost)


def say_lengths(
    symbol: str,
    free: observation.Observation,
    forced: observation.Observation,
    held: tuple[int, int],
    show: Show,
) -> None:
    """The length of the state at both ends of the text, and from where to where gates are held."""
    summary = {
        "first": number(forced.length_at(1)),
        "last": number(forced.length_at_end),
        "free_first": number(free.length_at(1)),
        "free_last": number(free.length_at_end),
    }
    steps = len(forced.pieces)
    if held == (1, steps):
        show.note("held", symbol=symbol, steps=steps, **summary)
    else:
        show.note("held_part", symbol=symbol, steps=steps, start=held[0], end=held[1], **summary)


@dataclass(frozen=True)
class ConventionsParams:
    """Whose equations the weights are put into."""

    cell: str = choice(CELLS, "gru")


def names_of(variants: Sequence[str], show: Show) -> str:
    return (
        show.words("metric.same.joined").join(show.words(f"variant.{v}") for v in variants) or "–"
    )


def conventions(p: ConventionsParams, show: Show) -> None:
    name, text = chosen(read_params("watch", WatchParams), p.cell)
    result = show.run(gates.compare, name, text)
    show.figure(distance_by_variant, result)
    maximum = percent(result.furthest_share, 0)
    if not result.certain:
        maximum = show.words("metric.furthest.beyond", share=FARTHEST)
    same = show.derive(result.same, name="same")
    furthest = show.derive(result.furthest, name="furthest")
    show.metrics(
        same=names_of(same, show),
        furthest=(show.words(f"variant.{furthest}"), maximum),
    )
    show.readouts(result, size="largest_size")
    others = [v for v in result.variants if v not in same]
    show.note("variants", same=names_of(same, show), others=names_of(others, show),
              furthest=show.words(f"variant.{furthest}"), most=maximum,
              nearest=result.nearest_share)  # fmt: skip
    if result.furthest_share > FARTHEST:
        show.caption(show.words("note.off_scale", times=FARTHEST))
