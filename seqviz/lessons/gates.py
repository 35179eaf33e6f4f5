"""Gate activations: what do LSTM and GRU keep, and what do they drop?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from seqviz.compute.gates import activations, counting, observation, tasks, tiny
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.networks import KINDS
from seqviz.compute.gates.observation import LONGEST
from seqviz.compute.recurrent import run as run_cell
from seqviz.experiments import gates
from seqviz.figures.gates import maps, networks
from seqviz.figures.gates.cell_diagram import gru_cell, lstm_cell
from seqviz.figures.gates.effects import FARTHEST, distance_by_variant, free_and_forced
from seqviz.figures.gates.looks import shown
from seqviz.figures.gates.traces import unit_traces
from seqviz.lessons.bench.controls import choice, on, seed, sentence, slider, stepper, toggle, view
from seqviz.lessons.bench.controls import steps as stops
from seqviz.lessons.bench.lesson import Lesson
from seqviz.lessons.bench.show import Show
from seqviz.models import checkpoints
from seqviz.text import literal, number, percent
from seqviz.units import unit_of

CELLS = ("lstm", "gru")
PASTED = 10_000  # characters that a text field takes; LONGEST symbols of them are read
PROSE = (
    'The plot is thin and the jokes are old, but the two leads are so good that you forget it. "It '
    'is not a great film," he said, "but it is never dull."'
)
REVIEW = "This film is not good at all, but the acting is great and I loved every minute of it."
AGREEMENT = "The flights the airline was cancelling"

lesson = Lesson("gates", code=(run_cell, observation.observe, activations.time_constants))


def typed(kind: str, text: str) -> Any:
    """What the networks of one kind read."""
    return sentence(text, PASTED, when=on(kind=kind))


@dataclass(frozen=True)
class Watch:
    """A trained network and what it reads; the benches on forcing and conventions read it too."""

    view: str = view(("map", "unit", "cell", "saturation"), "map")
    kind: str = choice(KINDS, "characters", menu=True)
    cell: str = choice(CELLS, "lstm")
    characters: str = typed("characters", PROSE)
    sentiment: str = typed("sentiment", REVIEW)
    latch: str = typed("latch", tasks.EXAMPLES["latch"])
    count: str = typed("count", tasks.EXAMPLES["count"])
    parity: str = typed("parity", tasks.EXAMPLES["parity"])
    adding: str = typed("adding", tasks.EXAMPLES["adding"])
    lstm: str = choice(activations.LSTM_SYMBOLS, "c", when=on(cell="lstm"))
    gru: str = choice(activations.GRU_SYMBOLS, "h", when=on(cell="gru"))
    rank: int = slider(1, 256, 1, when=on(view=("map", "unit", "cell")))
    step: int = stepper(1, LONGEST, 12)
    order: str = choice(activations.ORDERS, "correlation", menu=True, more=True)
    feature: str = choice(activations.FEATURES, "in_word", menu=True, more=True)
    writes: bool = toggle(False, more=True, when=on(cell="gru"))


def held(cell: str, symbol: str, default: float, low: float = 0.0) -> Any:
    """The value of one forced gate; shown when that gate is among the forced ones."""
    forced = on(**{"cell": cell, f"gates_{cell}": symbol})
    return slider(low, 1.0, default, 0.01, when=forced)


@dataclass(frozen=True)
class Force:
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
    first: int = slider(1, LONGEST, 1, more=True)
    last: int = slider(1, LONGEST, LONGEST, more=True)


@dataclass(frozen=True)
class Conventions:
    """Whose equations the weights are put into."""

    cell: str = choice(CELLS, "gru")


@dataclass(frozen=True)
class Agreement:
    """A sentence, and the two words that could come next."""

    text: str = sentence(AGREEMENT)
    singular: str = sentence("was", 20)
    plural: str = sentence("were", 20)


@dataclass(frozen=True)
class Learn:
    """A tiny network that learns while you watch."""

    view: str = view(("training", "gates"), "training")
    task: str = choice(tasks.TASKS, "count", menu=True)
    cell: str = choice(CELLS, "lstm")
    symbol: str = choice(activations.LSTM_SYMBOLS, "c", when=on(view="gates", cell="lstm"))
    symbol_gru: str = choice(activations.GRU_SYMBOLS, "h", when=on(view="gates", cell="gru"))
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class Size:
    """How large a cell is."""

    inputs: int = stops((1, 2, 4, 8, 16, 32, 64, 128, 256, 512), 1)
    hidden: int = stops((1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), 32)
    biases: str = choice(tuple(counting.BIASES), "two")


def chosen(p: Watch, cell: str | None = None) -> tuple[str, str]:
    """The network's name and the text it reads."""
    return f"{p.kind}_{cell or p.cell}", getattr(p, p.kind)


def card_line(name: str, show: Show) -> str:
    """How good the network is, beside its baseline, from its card."""
    card = checkpoints.card(name)
    kind = name.split("_")[0]
    written = number if kind == "characters" else percent
    return show.words(
        f"note.card_{kind if kind in ('characters', 'sentiment') else 'task'}",
        value=written(card.value),
        baseline=written(card.baseline_value),
        five_gram=number(card.five_gram or 0),
        twice=percent(card.twice_as_long or 0),
        parameters=f"{card.parameters:,}",
        date=card.date,
    )


def show_answer(name: str, seen: observation.Observation, show: Show) -> None:
    """The answer after the last step, as a read-out, and beside it how sure it is."""
    if seen.kind == "characters":
        show.readout(name, seen.bits_per_character, beside=show.words("metric.answer.bits"))
    elif seen.kind == "sentiment":
        side = "positive" if seen.probability[-1] > 0.5 else "negative"
        sure = f"P = {number(seen.probability[-1])}"
        show.metrics(**{name: (show.words(f"metric.answer.{side}"), sure)})
    else:
        show.readout(name, seen.answer_at_end, beside=show.words("metric.answer.at_end"))


def draw_passage(seen: observation.Observation, unit: int, step: int, show: Show) -> None:
    """The text that was read, colored by what the chosen unit did at each symbol."""
    gap = "" if seen.kind == "characters" else " "
    show.passage(
        [piece + gap for piece in seen.pieces],
        seen.values[:, unit - 1],
        signed=seen.symbol in activations.SIGNED,
        title=show.words("note.passage", symbol=seen.symbol, unit=unit),
        selected=step,
        unknown=[bool(u) for u in seen.unknown],
    )


def say_what_was_cut(seen: observation.Observation, show: Show) -> None:
    if seen.left_out:
        show.note("cut", limit=len(seen.pieces), left=f"{seen.left_out:,}")
    if seen.unknown.any():
        show.note("unknown", count=int(seen.unknown.sum()))


@lesson.bench("watch", Watch, leads=True)
def watch(p: Watch, show: Show) -> None:
    name, text = chosen(p)
    symbol = p.lstm if p.cell == "lstm" else p.gru
    seen = show.run(gates.observe, name, text, symbol, p.order, p.feature, name="seen")
    unit, step = seen.unit_at(p.rank), min(p.step, len(seen.pieces))
    update: Literal["keep", "write"] = "write" if p.writes else "keep"
    if p.view == "map":
        show.figure(maps.gate_map, seen, unit, step, picks=("step", "rank"))
    elif p.view == "unit":
        show.figure(unit_traces, seen, unit, step)
    elif p.view == "cell":
        now = show.run(observation.one_step, seen, unit, step, update, name="now")
        show.figure(lstm_cell if p.cell == "lstm" else gru_cell, now)
    else:
        show.figure(maps.gate_saturation, seen)
    if p.view != "saturation":
        draw_passage(seen, unit, step, show)
    if p.writes and symbol == "z":
        show.note("renamed")
    piece = literal(shown(seen.pieces)[step - 1])
    where = show.words("metric.value.at", unit=unit, step=step, piece=piece)
    show.readout("value", seen.value_at, unit, step, update, beside=where)
    show.readout("constant", seen.time_constant, unit)
    feature = show.option("feature", p.feature)
    show.readout("correlation", seen.correlation, unit, p.feature, beside=feature)
    show_answer("answer", seen, show)
    show.caption(card_line(name, show))
    say_what_was_cut(seen, show)


@lesson.bench("force", Force, after=("watch",))
def force(p: Force, show: Show) -> None:
    name, text = chosen(lesson.values("watch"), p.cell)
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
    usual = show.words("metric.state.free", value=number(free.length_at_end))
    show.readouts(forced, state="length_at_end", beside={"state": usual})
    show.readout("largest", forced.largest_change, free)
    values = {clamp.gate: clamp.value for clamp in clamps}
    whole = unit is None and (first, last) == (1, steps)
    if not clamps:
        show.note("nothing_forced")
    elif whole and values == {"f": 1.0}:
        show.note("of_1997")
    elif whole and values.get("i") == 0 and values.get("f") == 0:
        show.note("empty_cell")
    elif whole and values == {"z": 1.0}:
        show.note("kept_for_good")


@lesson.bench("learn", Learn)
def learn(p: Learn, show: Show) -> None:
    settings = tiny.recommended(p.task, p.cell, p.seed)
    done = show.job(
        tiny.train_tiny,
        name="done",
        settings=settings,
        then=(networks.training_curve,) if p.view == "training" else None,
        so_far=(networks.training_progress, settings),
    )
    if p.view == "gates":
        symbol = p.symbol if p.cell == "lstm" else p.symbol_gru
        example = tasks.EXAMPLES[p.task]
        seen = show.run(observation.observe, done.network, example, symbol, name="seen")
        show.figure(maps.gate_map, seen, 1, len(seen.pieces))
    show.readouts(done, usual="accuracy_at_end")
    twice = show.run(tiny.longer, done.network, settings.length, p.seed, name="twice")
    show.metric("twice", twice, unit_of(tiny.longer))
    show.readouts(done.network, "parameters")


@lesson.bench("conventions", Conventions, after=("watch",))
def conventions(p: Conventions, show: Show) -> None:
    name, text = chosen(lesson.values("watch"), p.cell)
    found = show.run(gates.compare, name, text, name="found")
    show.figure(distance_by_variant, found)
    same = show.value(found.same, name="same")
    furthest = show.value(found.furthest, name="furthest")
    show.metrics(
        same=", ".join(show.words(f"variant.{v}") for v in same) or "–",
        furthest=(show.words(f"variant.{furthest}"), percent(found.furthest_share, 0)),
    )
    show.readouts(found, size="largest_size")
    if found.furthest_share > FARTHEST:
        show.caption(show.words("note.off_scale", times=FARTHEST))


@lesson.bench("agreement", Agreement)
def agreement(p: Agreement, show: Show) -> None:
    names = tuple(f"characters_{cell}" for cell in CELLS)
    found = show.run(gates.expect, names, p.text, p.singular, p.plural, name="found")
    show.figure(networks.agreement, found)
    for cell, name in zip(CELLS, names, strict=True):
        more = show.words("metric.bits.more", word=literal(found.likelier_at_end(name)))
        show.readout(f"bits_{cell}", found.bits_at_end, name, beside=more)
    show.note("agreement", first=literal(found.candidates[0]), second=literal(found.candidates[1]))
    if found.left_out:
        show.note("cut", limit=len(" ".join(found.words)), left=f"{found.left_out:,}")
    if "flights" in found.words:
        show.note("flights")


@lesson.bench("size", Size)
def size(p: Size, show: Show) -> None:
    found = show.run(counting.table, p.inputs, p.hidden, p.biases, name="found")
    show.figure(networks.parameter_bars, found)
    for cell in found.cells:
        formula = show.words("metric.count.formula", count=f"{found.by_formula(cell):,}")
        show.readout(f"count_{cell}", found.count, cell, beside=formula)


lesson.exercise(
    "constant",
    cases=[{"gate": gate} for gate in (0.9, 0.98, 0.5, 0.995, 0.8)],
    answer=activations.time_constant,
    share=0.05,
)
