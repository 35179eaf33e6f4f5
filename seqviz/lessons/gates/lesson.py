"""Gate activations: what do LSTM and GRU keep, and what do they drop?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from seqviz.compute.gates import (
    activations,
    agreement,
    counting,
    encoding,
    observation,
    searching,
    tasks,
    tiny,
)
from seqviz.compute.gates.forcing import Clamp
from seqviz.compute.gates.networks import NETWORK_KINDS
from seqviz.compute.gates.observation import MAX_SYMBOLS
from seqviz.compute.recurrent import run as run_cell
from seqviz.core.i18n import escape_markdown, number, percent
from seqviz.experiments import gates
from seqviz.figures.gates import maps
from seqviz.figures.gates import networks as drawn
from seqviz.figures.gates.cell_diagram import gru_cell, lstm_cell
from seqviz.figures.gates.effects import FARTHEST, distance_by_variant, free_and_forced
from seqviz.figures.gates.lengths import accuracy_by_length
from seqviz.figures.gates.searching import found_and_scored
from seqviz.figures.gates.style import visible_symbols
from seqviz.figures.gates.tempering import gate_mask
from seqviz.figures.gates.traces import unit_traces
from seqviz.lessons.framework.controls import (
    choice,
    on,
    seed,
    slider,
    step_slider,
    text_input,
    toggle,
    view,
)
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.show import Show
from seqviz.models import checkpoints

CELLS = ("lstm", "gru")
WORDED = ("characters", "sentiment")  # kinds that read words
PASTED = 10_000  # characters that a text field takes; LONGEST symbols of them are read
PROSE = (
    'The plot is thin and the jokes are old, but the two leads are so good that you forget it. "It '
    'is not a great film," he said, "but it is never dull."'
)
REVIEW = "This film is not good at all, but the acting is great and I loved every minute of it."
SECOND = (
    'She said it was "a small film with a big heart," and nobody in the room laughed. I do not '
    'agree: the songs are fine, the ending is not, and "heart" is no plot.'
)
AGREEMENT = "The flights the airline was cancelling"
SINGULAR = "The flight the airline was cancelling"
TEMPERATURES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)
HALF_A_BIT = 0.5  # per character, that a constant gate may cost
LASTING = 20.0  # steps: a time constant above is said to be long

lesson = Lesson("gates", code=(run_cell, observation.observe, activations.time_constants))


def typed(kind: str, text: str) -> Any:
    """What the networks of one kind read."""
    return text_input(text, PASTED, when=on(kind=kind))


def units_of(values: Any) -> int:
    """How many units the bundled network of a task has."""
    return tiny.recommended(values["task"], values["cell"]).hidden


def steps_of(values: Any) -> int:
    """How many steps the bundled example of a task has."""
    return len(encoding.marks(tasks.EXAMPLES[values["task"]], ()))


def symbols_of(values: Any) -> int:
    """How many symbols of its text the chosen network reads."""
    kind = values["kind"]
    return symbols_in(f"{kind}_{values['cell']}", values[kind])


@lru_cache(64)
def symbols_in(network: str, text: str) -> int:
    """How many symbols of a text a network reads."""
    return observation.symbols_read(checkpoints.load(network), text)


def units_seen(values: Any) -> int:
    """How many units the chosen network has."""
    return checkpoints.load(f"{values['kind']}_{values['cell']}").weights.hidden


@dataclass(frozen=True)
class SingleGateParams:
    """A network with one little job, its gates softer or harder than they were trained."""

    view: str = view(("mask", "unit", "cell"), "mask")
    temperature: float = stops(TEMPERATURES, 1.0)
    task: str = choice(tasks.TASKS, "latch", menu=True)
    cell: str = choice(CELLS, "lstm")
    unit: int = slider(1, 16, 5, within=units_of)
    gate_lstm: str = choice(activations.LSTM_GATES, "f", when=on(cell="lstm", view="mask"))
    gate_gru: str = choice(activations.GRU_GATES, "z", when=on(cell="gru", view="mask"))
    step: int = step_slider(1, 16, 8, when=on(view=("unit", "cell")), within=steps_of)
    added: float = slider(-6.0, 6.0, 0.0, 0.5, more=True)


@lesson.bench("one", SingleGateParams)
def single_gate(p: SingleGateParams, show: Show) -> None:
    name, symbol = f"{p.task}_{p.cell}", "c" if p.cell == "lstm" else "h"
    gate = p.gate_lstm if p.cell == "lstm" else p.gate_gru
    keeps = "f" if p.cell == "lstm" else "z"
    gate = gate if p.view == "mask" else keeps
    found = show.run(gates.read_tempered, name, symbol, p.temperature, p.added)
    tried = show.run(gates.by_temperature, name, TEMPERATURES, p.added, name="tried")
    seen, steps = found.seen, len(found.seen.pieces)
    step = min(p.step, steps)
    if p.view == "unit":
        show.figure(unit_traces, seen, p.unit, step)
    elif p.view == "mask":
        show.figure(gate_mask, found, gate, p.unit, tried)
    else:
        now = show.run(observation.one_step, seen, p.unit, step, name="now")
        show.figure(lstm_cell if p.cell == "lstm" else gru_cell, now)
        say_arithmetic(now, p.unit, step, show)
    show.readout("answers", tried.accuracy_at, p.temperature, beside=show.words(
        "metric.answers.majority", share=percent(tried.majority)))  # fmt: skip
    show.readout("saturated", found.saturated, gate, beside=show.words("metric.saturated.of",
                                                                     gate=gate))  # fmt: skip
    show.readout("retained", seen.retained, p.unit)
    low, high = seen.kept_between(p.unit)
    right, asked = found.right_steps()
    show.note("one_unit", gate=keeps, unit=p.unit, range=between(low, high, show), steps=steps,
              retained=percent(seen.retained(p.unit)), right=right, asked=asked)  # fmt: skip
    show.note(
        "mask", t=f"{p.temperature:g}", n=tried.sequences, length=tried.length,
        accuracy=percent(tried.accuracy_at(p.temperature)), majority=percent(tried.majority),
        hard=f"{TEMPERATURES[0]:g}", hardest=percent(tried.accuracy[0]),
        soft=f"{TEMPERATURES[-1]:g}", softest=percent(tried.accuracy[-1]),
    )  # fmt: skip


def between(low: float, high: float, show: Show) -> str:
    """Where a quantity lies over the steps; one number where both ends read the same."""
    ends = {"low": number(low), "high": number(high)}
    return show.words("note.stays" if ends["low"] == ends["high"] else "note.lies", **ends)


def term(value: float) -> str:
    """A number behind a sign of arithmetic: a negative one stands in brackets."""
    return number(value) if value >= 0 else f"({number(value)})"


def say_arithmetic(
    now: observation.LSTMStep | observation.GRUStep, unit: int, step: int, show: Show
) -> None:
    """The step of one unit as a sum with its numbers."""
    if isinstance(now, observation.LSTMStep):
        kept, written, result = now.f * now.c_before, now.i * now.g, now.c
        values = {"keep": now.f, "before": now.c_before, "write": now.i, "new": now.g}
        key = "step_lstm"
    else:
        keep = now.z if now.update == "keep" else 1 - now.z
        kept, written, result = keep * now.h_before, (1 - keep) * now.n, now.h
        values = {"keep": keep, "before": now.h_before, "write": 1 - keep, "new": now.n}
        key = "step_gru" if now.update == "keep" else "step_gru_write"
    said = {name: term(value) for name, value in values.items()}
    show.note(key, unit=unit, step=step, kept=number(kept), written=term(written),
              result=number(result), **said)  # fmt: skip


@dataclass(frozen=True)
class WatchParams:
    """A trained network and what it reads; the benches on forcing and conventions read it too."""

    view: str = view(("map", "unit", "cell", "saturation"), "map")
    kind: str = choice(NETWORK_KINDS, "characters", menu=True)
    cell: str = choice(CELLS, "lstm")
    characters: str = typed("characters", PROSE)
    sentiment: str = typed("sentiment", REVIEW)
    latch: str = typed("latch", tasks.EXAMPLES["latch"])
    count: str = typed("count", tasks.EXAMPLES["count"])
    parity: str = typed("parity", tasks.EXAMPLES["parity"])
    adding: str = typed("adding", tasks.EXAMPLES["adding"])
    lstm: str = choice(activations.LSTM_SYMBOLS, "c", when=on(cell="lstm"))
    gru: str = choice(activations.GRU_SYMBOLS, "h", when=on(cell="gru"))
    rank: int = slider(1, 256, 1, when=on(view=("map", "unit", "cell")), within=units_seen)
    step: int = step_slider(1, MAX_SYMBOLS, 12, within=symbols_of)
    order: str = choice(activations.ORDERS, "correlation", menu=True, more=True)
    # Little jobs have no words: their units are compared with the position alone.
    feature: str = choice(
        activations.FEATURES, "in_word", menu=True, more=True, when=on(kind=WORDED)
    )
    writes: bool = toggle(False, more=True, when=on(cell="gru"))


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


@dataclass(frozen=True)
class ConventionsParams:
    """Whose equations the weights are put into."""

    cell: str = choice(CELLS, "gru")


@dataclass(frozen=True)
class AgreementParams:
    """A sentence, and the two words that could come next."""

    text: str = text_input(AGREEMENT)
    other: str = text_input(SINGULAR)
    singular: str = text_input("was", 20)
    plural: str = text_input("were", 20)


@dataclass(frozen=True)
class LearnParams:
    """A tiny network that learns while you watch."""

    view: str = view(("training", "gates", "longer"), "training")
    task: str = choice(tasks.TASKS, "count", menu=True)
    cell: str = choice(CELLS, "lstm", when=on(view=("training", "gates")))
    symbol: str = choice(activations.LSTM_SYMBOLS, "c", when=on(view="gates", cell="lstm"))
    symbol_gru: str = choice(activations.GRU_SYMBOLS, "h", when=on(view="gates", cell="gru"))
    # The networks of the view "longer" come with the app, and have their seeds.
    seed: int = seed(0, more=True, when=on(view=("training", "gates")))


@dataclass(frozen=True)
class SizeParams:
    """How large a cell is."""

    inputs: int = stops((1, 2, 4, 8, 16, 32, 64, 128, 256, 512), 1)
    hidden: int = stops((1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), 32)
    biases: str = choice(tuple(counting.BIASES), "two")


def chosen(p: WatchParams, cell: str | None = None) -> tuple[str, str]:
    """The network's name and the text it reads."""
    return f"{p.kind}_{cell or p.cell}", getattr(p, p.kind)


def card_line(name: str, show: Show) -> str:
    """How good the network is, beside its baselines, from its card."""
    card = checkpoints.card(name)
    kind = name.split("_")[0]
    if kind == "characters":
        ours, counts = card.alone or card.value, card.five_gram_alone or card.five_gram or 0
        verdict = "note.card_worse" if ours > counts else "note.card_better"
        values = {"value": number(ours), "five_gram": number(counts),
                  "verdict": show.words(verdict)}  # fmt: skip
    else:
        values = {
            "value": percent(card.value),
            "baseline": percent(card.baseline_value),
            "twice": percent(card.twice_as_long or 0),
            "baseline_twice": percent(card.baseline_twice or 0),
        }
    key = f"note.card_{kind if kind in ('characters', 'sentiment') else 'task'}"
    return show.words(key, parameters=f"{card.parameters:,}", date=card.date, **values)


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


def say_what_was_cut(seen: observation.Observation, show: Show, marked: bool = False) -> None:
    """What was not read, or not known; marked: in the text under the figure."""
    if seen.left_out:
        show.note("cut", limit=len(seen.pieces), left=f"{seen.left_out:,}")
    if seen.unknown.any():
        known = "unknown" if marked else "unknown_unmarked"
        show.note(known, count=int(seen.unknown.sum()))


def say_unit(
    seen: observation.Observation, unit: int, order: str, feature: str, show: Show
) -> None:
    """Where a unit goes in words, and what it means that it was chosen as the best of many."""
    up, down = (seen.moves(unit, rises) if seen.kind == "characters" else None
                for rises in (True, False))  # fmt: skip
    low, high = float(seen.values[:, unit - 1].min()), float(seen.values[:, unit - 1].max())
    said = {"symbol": seen.symbol, "unit": unit}
    if up is None or down is None:
        show.note("between", range=between(low, high, show), **said)
    else:
        (letters, spaces), key = (up, "moves") if sum(up) >= sum(down) else (down, "moves_down")
        show.note(key, letters=percent(letters, 0), spaces=percent(spaces, 0),
                  low=number(low), high=number(high), **said)  # fmt: skip
    best = order == "correlation" and unit == seen.order[0] + 1
    if best and searching.comes_back(feature, seen.pieces):
        same = show.run(searching.search, seen, seen, feature, name="same")
        show.note("picked", units=seen.hidden, r=number(abs(same.r_found)),
                  chance=percent(same.by_chance), median=number(same.median_best))  # fmt: skip


def say_saturation(seen: observation.Observation, show: Show) -> None:
    """How often each gate is nearly shut or open, and how many units keep for long."""
    for gate in seen.gates:
        found = activations.saturation(activations.activation(seen.trace, gate))
        show.note("saturation", gate=gate, shut=percent(found.left.mean()),
                  open=percent(found.right.mean()))  # fmt: skip
    show.note("lasting", count=seen.lasting(LASTING), units=seen.hidden, steps=f"{LASTING:g}")


@lesson.bench("watch", WatchParams, leads=True)
def watch(p: WatchParams, show: Show) -> None:
    name, text = chosen(p)
    symbol = p.lstm if p.cell == "lstm" else p.gru
    feature = p.feature if p.kind in WORDED else "position"
    seen = show.run(gates.observe, name, text, symbol, p.order, feature, name="seen")
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
    if p.view == "cell":
        say_arithmetic(now, unit, step, show)
    elif p.view == "saturation":
        say_saturation(seen, show)
    else:
        say_unit(seen, unit, p.order, feature, show)
    piece = escape_markdown(visible_symbols(seen.pieces)[step - 1])
    where = show.words("metric.value.at", unit=unit, step=step, piece=piece)
    show.readout("value", seen.value_at, unit, step, update, beside=where)
    show.readout("constant", seen.time_constant, unit)
    beside = show.option("feature", feature)
    show.readout("correlation", seen.correlation, unit, feature, beside=beside)
    show_answer("answer", seen, show)
    show.caption(card_line(name, show))
    say_what_was_cut(seen, show, marked=p.view != "saturation")


@dataclass(frozen=True)
class MeaningParams:
    """A property of texts, one on which a unit is looked for, and one on which it is scored."""

    feature: str = choice(searching.FEATURES, "quotes", menu=True)
    cell: str = choice(CELLS, "lstm")
    lstm: str = choice(activations.LSTM_SYMBOLS, "c", when=on(cell="lstm"))
    gru: str = choice(activations.GRU_SYMBOLS, "h", when=on(cell="gru"))
    found_on: str = text_input(PROSE, PASTED)
    scored_on: str = text_input(SECOND, PASTED)


@lesson.bench("meaning", MeaningParams)
def meaning(p: MeaningParams, show: Show) -> None:
    symbol = p.lstm if p.cell == "lstm" else p.gru
    name = f"characters_{p.cell}"
    found = show.run(gates.search, name, p.found_on, p.scored_on, symbol, p.feature)
    show.figure(found_and_scored, found)
    show.readouts(found, "r_found", "by_chance", "r_scored", "alone_by_chance")
    said = {
        "unit": found.unit,
        "symbol": symbol,
        "units": len(found.found),
        "feature": show.option("feature", p.feature),
        "first": number(found.r_found),
        "second": number(found.r_scored),
        "chance": percent(found.by_chance),
        "alone": percent(found.alone_by_chance),
        "median": number(found.median_best),
    }
    show.note(f"meaning_{found.verdict}", **said)
    for one_text in (found.first, found.second):
        say_what_was_cut(one_text, show)


@lesson.bench("force", ForceParams, after=("watch",))
def force(p: ForceParams, show: Show) -> None:
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
        return show.note("nothing_forced")
    say_lengths(symbol, free, forced, (first, last), show)
    if whole and values == {"f": 1.0}:
        grows = forced.growth > 0  # not where there is one step, or a state that shrinks
        show.note("of_1997" if grows else "of_1997_short", power=number(forced.growth))
    elif whole and values.get("i") == 0 and values.get("f") == 0:
        show.note("empty_cell")
    elif whole and values == {"z": 1.0}:
        show.note("kept_for_good")
    if whole and forced.kind == "characters" and set(values) == {"f"}:
        lost = forced.bits_per_character() - free.bits_per_character()
        show.target("constant_gate", lost <= HALF_A_BIT, lost=number(lost))


def say_lengths(
    symbol: str,
    free: observation.Observation,
    forced: observation.Observation,
    held: tuple[int, int],
    show: Show,
) -> None:
    """The length of the state at both ends of the text, and from where to where gates are held."""
    said = {
        "first": number(forced.length_at(1)),
        "last": number(forced.length_at_end),
        "free_first": number(free.length_at(1)),
        "free_last": number(free.length_at_end),
    }
    steps = len(forced.pieces)
    if held == (1, steps):
        show.note("held", symbol=symbol, steps=steps, **said)
    else:
        show.note("held_part", symbol=symbol, steps=steps, start=held[0], end=held[1], **said)


@lesson.bench("learn", LearnParams)
def learn(p: LearnParams, show: Show) -> None:
    if p.view == "longer":
        return longer(p, show)
    settings = tiny.recommended(p.task, p.cell, p.seed)
    done = show.job(
        tiny.train_tiny,
        name="done",
        settings=settings,
        then=(drawn.training_curve,) if p.view == "training" else None,
        so_far=(drawn.training_progress, settings),
    )
    if p.view == "gates":
        symbol = p.symbol if p.cell == "lstm" else p.symbol_gru
        example = tasks.EXAMPLES[p.task]
        seen = show.run(observation.observe, done.network, example, symbol, name="seen")
        unit = int(seen.time_constants.argmax()) + 1
        show.figure(maps.gate_map, seen, unit, len(seen.pieces))
        show.note("longest", unit=unit, units=seen.hidden, steps=number(seen.time_constant(unit)),
                  retained=percent(seen.retained(unit)))  # fmt: skip
    doubled = show.run(tiny.longer, done.network, settings.length, p.seed, name="doubled")
    always = show.words("metric.usual.majority", share=percent(tiny.usual_majority(settings)))
    show.readouts(done, usual="accuracy_at_end", beside={"usual": always})
    always = show.words("metric.usual.majority", share=percent(doubled.majority))
    show.readouts(doubled, twice="accuracy", beside={"twice": always})
    always = show.words("metric.usual.majority", share=percent(doubled.majority_whole))
    show.readouts(doubled, whole="whole", beside={"whole": always})
    show.readouts(done.network, "parameters")
    show.note("learned", updates=f"{int(done.updates[-1]):,}", usual=percent(done.accuracy_at_end),
              twice=percent(doubled.accuracy), whole=percent(doubled.whole),
              verdict=show.words("note.learned_above" if doubled.accuracy > doubled.majority
                                 else "note.learned_below", majority=percent(doubled.majority)),
              )  # fmt: skip


def longer(p: LearnParams, show: Show) -> None:
    """Both cells as they come with the app, on sequences up to three times as long."""
    found = show.run(gates.by_length, p.task)
    show.figure(accuracy_by_length, found)
    twice = 2 * found.trained
    for cell in found.cells:
        beside = show.words("metric.whole_lstm.answers",
                            share=percent(found.answers_at(cell, twice)))  # fmt: skip
        show.readout(f"whole_{cell}", found.whole_at, cell, twice, beside=beside)
    show.readout("majority", found.majority_at, twice)
    for cell in found.cells:
        right, often = found.answers_at(cell, twice), found.majority_at(twice)
        show.note("longer_above" if right > often else "longer_below", cell=cell.upper(),
                  length=twice, answers=percent(right), majority=percent(often),
                  whole=percent(found.whole_at(cell, twice)))  # fmt: skip
    if found.counts:
        lstm, gru = found.counts
        show.note("counts", lstm=lstm, gru=gru, trained=(found.trained - 1) // 2)


@lesson.bench("agreement", AgreementParams)
def agree(p: AgreementParams, show: Show) -> None:
    names = tuple(f"characters_{cell}" for cell in CELLS)
    found = show.run(gates.expect, names, p.text, p.singular, p.plural)
    both = None
    if agreement.differing(p.text, p.other) is not None:
        both = show.run(gates.pair, names, p.text, p.other, p.singular, p.plural, name="both")
    show.figure(drawn.agreement, found, *([both] if both else []))
    alike = found.candidates[0] == found.candidates[1]
    for cell, name in zip(CELLS, names, strict=True):
        likelier = escape_markdown(found.likelier_at_end(name))
        more = None if alike else show.words("metric.bits.more", word=likelier)
        show.readout(f"bits_{cell}", found.bits_at_end, name, beside=more)
    if alike:
        return show.note("one_word")
    show.note(
        "agreement",
        first=escape_markdown(found.candidates[0]),
        second=escape_markdown(found.candidates[1]),
    )
    if both is None:
        show.note("no_pair")
    else:
        say_effects(both, show)
    if found.left_out:
        show.note("cut", limit=len(" ".join(found.words)), left=f"{found.left_out:,}")


def hundredths(bits: float) -> str:
    """With two decimals: a difference of bits is not the larger for its first digit's place."""
    return f"{round(bits, 2) + 0.0:.2f}".replace("-", "−")


def say_effects(both: agreement.AgreementPair, show: Show) -> None:
    """What the word in which the sentences differ does there, a word later, and for how long."""
    one, other = (escape_markdown(each.words[both.place - 1]) for each in (both.one, both.other))
    words = len(both.one.words)
    for row, network in enumerate(both.one.networks):
        lasts = both.last_effect(network)
        key = "no_effect" if lasts < 0 else "effect" if lasts else "effect_there"
        if not lasts and both.place == words:
            key = "effect_end"
        bits = {
            "here": both.effect_at(network, 0),
            "end": both.effect_at(network, words),
            "mean": float(both.mean[row, both.place - 1]),
            "margin": float(both.margin[row, both.place - 1]),
        }
        said = {name: hundredths(value) for name, value in bits.items()}
        last = escape_markdown(both.one.words[both.place - 1 + max(lasts, 0)])
        show.note(key, cell=network.rsplit("_", 1)[-1].upper(), one=one, other=other, to=last,
                  count=both.effects.shape[1], **said)  # fmt: skip


def names_of(variants: Sequence[str], show: Show) -> str:
    return (
        show.words("metric.same.joined").join(show.words(f"variant.{v}") for v in variants) or "–"
    )


@lesson.bench("conventions", ConventionsParams, after=("watch",))
def conventions(p: ConventionsParams, show: Show) -> None:
    name, text = chosen(lesson.values("watch"), p.cell)
    found = show.run(gates.compare, name, text)
    show.figure(distance_by_variant, found)
    most = percent(found.furthest_share, 0)
    if not found.certain:
        most = show.words("metric.furthest.beyond", share=percent(FARTHEST, 0))
    same = show.derive(found.same, name="same")
    furthest = show.derive(found.furthest, name="furthest")
    show.metrics(
        same=names_of(same, show),
        furthest=(show.words(f"variant.{furthest}"), most),
    )
    show.readouts(found, size="largest_size")
    others = [v for v in found.variants if v not in same]
    show.note("variants", same=names_of(same, show), others=names_of(others, show),
              furthest=show.words(f"variant.{furthest}"), most=most,
              nearest=percent(found.nearest_share))  # fmt: skip
    if found.furthest_share > FARTHEST:
        show.caption(show.words("note.off_scale", times=FARTHEST))


@lesson.bench("size", SizeParams)
def size(p: SizeParams, show: Show) -> None:
    found = show.run(counting.table, p.inputs, p.hidden, p.biases)
    show.figure(drawn.parameter_bars, found)
    for cell in found.cells:
        formula = show.words("metric.count.formula", count=f"{found.by_formula(cell):,}")
        show.readout(f"count_{cell}", found.count, cell, beside=formula)
    ratios = {cell: number(found.count(cell) / found.count("rnn"), 4) for cell in ("gru", "lstm")}
    show.note("sets", feed_forward=1, **{f"sets_{cell}": found.sets(cell) for cell in found.cells},
              **{f"{cell}_count": f"{found.count(cell):,}" for cell in found.cells},
              **ratios)  # fmt: skip


lesson.exercise(
    "constant",
    cases=[{"gate": gate} for gate in (0.9, 0.98, 0.5, 0.995, 0.8)],
    answer=activations.time_constant,
    share=0.05,
)
