"""Benches on cells changed after training: forced gates, variants of the equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.observation import MAX_SYMBOLS
from seqviz.experiments import gates
from seqviz.figures.gates.effects import FARTHEST, distance_by_variant, free_and_forced
from seqviz.lessons.framework.controls import choice, on, slider
from seqviz.lessons.framework.lesson import read_params
from seqviz.lessons.framework.show import Show
from seqviz.lessons.gates.trained_network import CELLS, WatchParams, chosen, show_answer

HALF_A_BIT = 0.5  # target: maximum cost of a constant gate in bits per character


def held(cell: str, symbol: str, default: float, low: float = 0.0) -> Any:
    """Return the slider of one forced gate, shown while that gate is forced."""
    forced = on(**{"cell": cell, f"gates_{cell}": symbol})
    return slider(low, 1.0, default, 0.01, when=forced)


@dataclass(frozen=True)
class ForceParams:
    """Controls of the bench on forced gates."""

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
    units: str = choice(("all", "one"), "all", more=True)
    unit: int = slider(1, 256, 1, when=on(units="one"), more=True)
    first: int = slider(1, MAX_SYMBOLS, 1, more=True)
    last: int = slider(1, MAX_SYMBOLS, MAX_SYMBOLS, more=True)


def force(p: ForceParams, show: Show) -> None:
    name, text = chosen(read_params("watch", WatchParams), p.cell)
    symbol = "c" if p.cell == "lstm" else "h"
    free = show.run(gates.observe, name, text, symbol, name="left_alone")
    unit = None if p.units == "all" else min(p.unit, free.hidden)
    steps = len(free.pieces)
    first, last = sorted((min(p.first, steps), min(p.last, steps)))
    requested = p.gates_lstm if p.cell == "lstm" else p.gates_gru
    clamps = tuple(Clamp(gate, getattr(p, gate), unit, first, last) for gate in requested)
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
        return show.notice("nothing_forced")
    show.facts(forced.lengths, free, first, last, note="held")
    if full:
        say_limit(values, forced.growth, show)
    if full and forced.kind == "characters" and set(values) == {"f"}:
        lost = forced.bits_per_character() - free.bits_per_character()
        show.target("constant_gate", lost <= HALF_A_BIT, lost=lost)
        if 0 < lost <= HALF_A_BIT:
            show.note("constant_gate", lost=lost, f=p.f)
    return None


def say_limit(values: Mapping[str, float], growth: float, show: Show) -> None:
    """Name the special case of gates held at 0 or 1 for all units and steps."""
    if values == {"f": 1.0}:  # growth is 0 for one step or a shrinking state
        show.note("of_1997" if growth > 0 else "of_1997_short", power=growth)
    elif values.get("i") == 0 and values.get("f") == 0:
        show.note("empty_cell")
    elif values == {"z": 1.0}:
        show.note("kept_for_good")


@dataclass(frozen=True)
class ConventionsParams:
    """Controls of the bench on variants of the equations."""

    cell: str = choice(CELLS, "gru")


def names_of(variants: Sequence[str], show: Show) -> str:
    """Return the names of variants as a list."""
    names = [show.words(f"variant.{variant}") for variant in variants]
    return show.words("metric.same.joined").join(names) or "–"


def conventions(p: ConventionsParams, show: Show) -> None:
    name, text = chosen(read_params("watch", WatchParams), p.cell)
    result = show.run(gates.compare, name, text)
    show.figure(distance_by_variant, result)
    maximum = show.words("metric.furthest.beyond", share=FARTHEST)
    if result.certain:
        maximum = show.words("metric.furthest.at", share=result.furthest_share)
    same = show.derive(result.same, name="same")
    furthest = show.words(f"variant.{show.derive(result.furthest, name='furthest')}")
    equal = names_of(same, show)
    show.metrics(same=equal, furthest=(furthest, maximum))
    show.readouts(result, size="largest_size")
    others = names_of([v for v in result.variants if v not in same], show)
    show.note("variants", same=equal, others=others, furthest=furthest, most=maximum,
              nearest=result.nearest_share)  # fmt: skip
    if result.furthest_share > FARTHEST:
        show.caption(show.words("note.off_scale", times=FARTHEST))
