"""Benches on trained networks: their gates, the meaning of a unit, verb agreement."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from seqviz.compute.gates import activations, agreement, observation, searching, tasks
from seqviz.compute.gates.networks import NETWORK_KINDS
from seqviz.compute.gates.observation import MAX_SYMBOLS
from seqviz.experiments import gates
from seqviz.figures.gates import maps
from seqviz.figures.gates import networks as network_figures
from seqviz.figures.gates.cell_diagram import gru_cell, lstm_cell
from seqviz.figures.gates.searching import found_and_scored
from seqviz.figures.gates.style import visible_symbols
from seqviz.figures.gates.traces import unit_traces
from seqviz.lessons.framework.controls import (
    choice,
    for_course,
    on,
    slider,
    step_slider,
    text_input,
    toggle,
    view,
)
from seqviz.lessons.framework.show import Show
from seqviz.lessons.gates.unit_notes import between, say_arithmetic
from seqviz.models import checkpoints

CELLS = ("lstm", "gru")
WORDED = ("characters", "sentiment")  # kinds with words as input
MAX_PASTED_CHARS = 10_000  # limit of a text field; MAX_SYMBOLS symbols are read
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
LASTING = 20.0  # time constant in steps above which a unit counts as lasting


def typed(kind: str, text: str) -> Any:
    """Return the text control of one kind of network."""
    return text_input(text, MAX_PASTED_CHARS, when=on(kind=kind))


def symbols_of(values: Any) -> int:
    """Return the number of symbols that the chosen network reads."""
    kind = values["kind"]
    return symbols_in(f"{kind}_{values['cell']}", values[kind])


@lru_cache(64)
def symbols_in(network: str, text: str) -> int:
    """Return the number of symbols of a text that a network reads."""
    return observation.symbols_read(checkpoints.load(network), text)


def units_seen(values: Any) -> int:
    """Return the number of units of the chosen network."""
    return checkpoints.load(f"{values['kind']}_{values['cell']}").weights.hidden


@dataclass(frozen=True)
class WatchParams:
    """Controls of the trained network and text; the benches on forcing and variants read them."""

    view: str = view(("map", "unit", "cell", "saturation"), "map")
    kind: str = choice(NETWORK_KINDS, "characters", menu=True, more=True)
    cell: str = choice(CELLS, "lstm", more=True)
    characters: str = typed("characters", PROSE)
    sentiment: str = typed("sentiment", REVIEW)
    latch: str = typed("latch", tasks.EXAMPLES["latch"])
    count: str = typed("count", tasks.EXAMPLES["count"])
    parity: str = typed("parity", tasks.EXAMPLES["parity"])
    adding: str = typed("adding", tasks.EXAMPLES["adding"])
    lstm: str = choice(activations.LSTM_SYMBOLS, "c", when=on(cell="lstm"), more=True)
    gru: str = choice(activations.GRU_SYMBOLS, "h", when=on(cell="gru"), more=True)
    rank: int = slider(1, 256, 1, when=on(view=("map", "unit", "cell")), within=units_seen)
    step: int = step_slider(1, MAX_SYMBOLS, 12, within=symbols_of)
    order: str = choice(activations.ORDERS, "correlation", menu=True, more=True)
    # The small tasks have no words, so their units are compared with the position only.
    feature: str = choice(
        activations.FEATURES, "in_word", menu=True, more=True, when=on(kind=WORDED)
    )
    writes: bool = for_course(toggle(False, more=True, when=on(cell="gru")))


def chosen(p: WatchParams, cell: str | None = None) -> tuple[str, str]:
    """Return the network's name and its text."""
    return f"{p.kind}_{cell or p.cell}", getattr(p, p.kind)


def card_line(name: str, show: Show) -> str:
    """Return the network's quality and its baselines, from its card."""
    card, kind = checkpoints.card(name), name.split("_")[0]
    if kind != "characters":
        return show.words(f"note.card_{kind if kind == 'sentiment' else 'task'}", card=card)
    value, counts = card.alone or card.value, card.five_gram_alone or card.five_gram or 0
    verdict = show.words("note.card_worse" if value > counts else "note.card_better")
    return show.words("note.card_characters", card=card, value=value, five_gram=counts,
                      choices=2**value, verdict=verdict)  # fmt: skip


def show_answer(name: str, observed: observation.Observation, show: Show) -> None:
    """Show the answer after the last step and its probability."""
    if observed.kind == "characters":
        show.readout(name, observed.bits_per_character, caption=show.words("metric.answer.bits"))
    elif observed.kind == "sentiment":
        side = "positive" if observed.probability[-1] > 0.5 else "negative"
        sure = show.words("metric.answer.sure", p=observed.probability[-1])
        show.metrics(**{name: (show.words(f"metric.answer.{side}"), sure)})
    else:
        show.readout(name, observed.answer_at_end, caption=show.words("metric.answer.at_end"))


def draw_passage(
    observed: observation.Observation, unit: int, step: int | None, show: Show
) -> None:
    """Show the text, colored by the chosen unit's value at each symbol."""
    gap = "" if observed.kind == "characters" else " "
    show.passage(
        [piece + gap for piece in observed.pieces],
        observed.values[:, unit - 1],
        signed=observed.symbol in activations.SIGNED,
        title=show.words("note.passage", symbol=observed.symbol, unit=unit),
        selected=step,
        unknown=[bool(u) for u in observed.unknown],
    )


def say_what_was_cut(observed: observation.Observation, show: Show, marked: bool = False) -> None:
    """State what was not read or is unknown, `marked` where the passage marks it."""
    if observed.left_out:
        show.notice("cut", limit=len(observed.pieces), left=observed.left_out)
    if observed.unknown.any():
        existing = "unknown" if marked else "unknown_unmarked"
        show.notice(existing, count=int(observed.unknown.sum()))


def say_unit(
    observed: observation.Observation, unit: int, order: str, feature: str, show: Show
) -> None:
    """State the range or direction of a unit, and the selection effect of the best of many."""
    facts = observed.direction(unit)
    if facts.variant == "none":
        span = between(facts["low"], facts["high"], show)
        show.note("between", range=span, **facts)
    else:
        show.note(f"moves.{facts.variant}", **facts)
    best = order == "correlation" and unit == observed.order[0] + 1
    if best and searching.comes_back(feature, observed.pieces):
        same = show.run(searching.search, observed, observed, feature, name="same")
        show.note("picked", units=observed.hidden, r=abs(same.r_found),
                  chance=same.by_chance, median=same.median_best)  # fmt: skip


def say_saturation(observed: observation.Observation, show: Show) -> None:
    """State how often each gate is saturated, and the number of lasting units."""
    for gate in observed.gates:
        result = activations.saturation(activations.activation(observed.trace, gate))
        show.note("saturation", gate=gate, shut=result.left.mean(), open=result.right.mean())
    show.note("lasting", count=observed.lasting(LASTING), units=observed.hidden, steps=LASTING)


def watch(p: WatchParams, show: Show) -> None:
    name, text = chosen(p)
    symbol = p.lstm if p.cell == "lstm" else p.gru
    feature = p.feature if p.kind in WORDED else "position"
    observed = show.run(gates.observe, name, text, symbol, p.order, feature, name="seen")
    unit, step = observed.unit_at(p.rank), min(p.step, len(observed.pieces))
    update: Literal["keep", "write"] = "write" if p.writes else "keep"
    if p.view == "map":
        show.figure(maps.gate_map, observed, unit, step, picks=("step", "rank"))
    elif p.view == "unit":
        show.figure(unit_traces, observed, unit, step)
    elif p.view == "cell":
        now = show.run(observation.one_step, observed, unit, step, update, name="now")
        show.figure(lstm_cell if p.cell == "lstm" else gru_cell, now)
    else:
        show.figure(maps.gate_saturation, observed)
    if p.view != "saturation":
        draw_passage(observed, unit, step, show)
    if p.writes and symbol == "z":
        show.note("renamed")
    if p.view == "cell":
        say_arithmetic(now, unit, step, show)
    elif p.view == "saturation":
        say_saturation(observed, show)
    else:
        say_unit(observed, unit, p.order, feature, show)
    piece = visible_symbols(observed.pieces)[step - 1]
    where = show.words("metric.value.at", unit=unit, step=step, piece=piece)
    show.readout("value", observed.value_at, unit, step, update, caption=where)
    show.readout("constant", observed.time_constant, unit)
    beside = show.option("feature", feature)
    show.readout("correlation", observed.correlation, unit, feature, caption=beside)
    show_answer("answer", observed, show)
    show.caption(card_line(name, show))
    say_what_was_cut(observed, show, marked=p.view != "saturation")


@dataclass(frozen=True)
class MeaningParams:
    """Controls of the bench on the meaning of a unit."""

    feature: str = choice(searching.FEATURES, "quotes", menu=True)
    cell: str = choice(CELLS, "lstm", more=True)
    lstm: str = choice(activations.LSTM_SYMBOLS, "c", when=on(cell="lstm"))
    gru: str = choice(activations.GRU_SYMBOLS, "h", when=on(cell="gru"))
    found_on: str = text_input(PROSE, MAX_PASTED_CHARS)
    scored_on: str = text_input(SECOND, MAX_PASTED_CHARS, more=True)


def meaning(p: MeaningParams, show: Show) -> None:
    symbol = p.lstm if p.cell == "lstm" else p.gru
    name = f"characters_{p.cell}"
    result = show.run(gates.search, name, p.found_on, p.scored_on, symbol, p.feature)
    show.figure(found_and_scored, result)
    show.note(f"meaning.{result.verdict}", search=result, units=len(result.correlation))
    for name, one_text in (("first_text", result.first), ("second_text", result.second)):
        show.notice(name, symbol=symbol, unit=result.unit)
        draw_passage(one_text, result.unit, None, show)
    show.readouts(result, "r_found", "by_chance", "r_scored", "alone_by_chance")
    for one_text in (result.first, result.second):
        say_what_was_cut(one_text, show, marked=True)


@dataclass(frozen=True)
class AgreementParams:
    """Controls of the bench on verb agreement."""

    text: str = text_input(AGREEMENT)
    other: str = text_input(SINGULAR)
    singular: str = text_input("was", 20)
    plural: str = text_input("were", 20)


def agree(p: AgreementParams, show: Show) -> None:
    names = tuple(f"characters_{cell}" for cell in CELLS)
    expectation = show.run(gates.expect, names, p.text, p.singular, p.plural)
    both = None
    if agreement.differing(p.text, p.other) is not None:
        both = show.run(gates.pair, names, p.text, p.other, p.singular, p.plural, name="both")
    show.figure(network_figures.agreement, expectation, *([both] if both else []))
    alike = expectation.candidates[0] == expectation.candidates[1]
    for cell, name in zip(CELLS, names, strict=True):
        likelier = expectation.likelier_at_end(name)
        more = None if alike else show.words("metric.bits.more", word=likelier)
        show.readout(f"bits_{cell}", expectation.bits_at_end, name, caption=more)
    if alike:
        return show.notice("one_word")
    show.note("agreement", first=expectation.candidates[0], second=expectation.candidates[1])
    if both is None:
        show.notice("no_pair")
    else:
        say_effects(both, show)
    if expectation.left_out:
        show.notice("cut", limit=len(" ".join(expectation.words)), left=expectation.left_out)
    return None


def say_effects(both: agreement.AgreementPair, show: Show) -> None:
    """State the effect of the differing word at its step, one word later, and its duration."""
    for network in both.first.networks:
        facts = both.compared(network)
        show.note(f"effect.{facts.variant}", cell=network.rsplit("_", 1)[-1].upper(), **facts)
    show.facts(both.at_end)
