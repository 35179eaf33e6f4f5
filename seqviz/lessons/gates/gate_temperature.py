"""Bench on a small trained network with softer or harder gates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seqviz.compute.gates import activations, encoding, observation, tasks, tiny
from seqviz.experiments import gates
from seqviz.figures.gates.cell_diagram import cell_map
from seqviz.figures.gates.tempering import gate_mask
from seqviz.figures.gates.traces import unit_traces
from seqviz.lessons.framework.controls import choice, on, slider, step_slider, view
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show
from seqviz.lessons.gates.trained_network import CELLS
from seqviz.lessons.gates.unit_notes import between, say_arithmetic

TEMPERATURES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)


def units_of(values: Any) -> int:
    """Return the number of units of a task's bundled network."""
    return tiny.recommended(values["task"], values["cell"]).hidden


def steps_of(values: Any) -> int:
    """Return the number of steps of a task's bundled example."""
    return len(encoding.marks(tasks.EXAMPLES[values["task"]], ()))


@dataclass(frozen=True)
class SingleGateParams:
    """Controls of the bench on gate temperature."""

    view: str = view(("cell", "unit", "mask"), "cell")
    temperature: float = stops(TEMPERATURES, 1.0, more=True)
    task: str = choice(tasks.TASKS, "latch", menu=True, more=True)
    cell: str = choice(CELLS, "lstm")
    unit: int = slider(1, 16, 5, more=True, within=units_of)
    gate_lstm: str = choice(
        activations.LSTM_GATES, "f", more=True, when=on(cell="lstm", view="mask")
    )
    gate_gru: str = choice(activations.GRU_GATES, "z", more=True, when=on(cell="gru", view="mask"))
    step: int = step_slider(1, 16, 8, when=on(view=("unit", "cell")), within=steps_of)
    part: int = step_slider(
        1, max(observation.N_QUANTITIES.values()), 2, more=True, when=on(view="cell"),
        within=lambda values: observation.N_QUANTITIES[values["cell"]],
    )  # fmt: skip
    added: float = slider(-6.0, 6.0, 0.0, 0.5, more=True)


def single_gate(p: SingleGateParams, show: Show) -> None:
    name, symbol = f"{p.task}_{p.cell}", "c" if p.cell == "lstm" else "h"
    gate = keeps = "f" if p.cell == "lstm" else "z"
    if p.view == "mask":
        gate = p.gate_lstm if p.cell == "lstm" else p.gate_gru
    tempered = show.run(gates.read_tempered, name, symbol, p.temperature, p.added)
    tried = show.run(gates.by_temperature, name, TEMPERATURES, p.added, name="tried")
    observed, steps = tempered.seen, len(tempered.seen.pieces)
    step = min(p.step, steps)
    show.note(f"task.{p.task}", cell=p.cell.upper(), units=observed.hidden,
              symbols="".join(observed.pieces), stores=show.words("note.stores"))  # fmt: skip
    if p.view == "unit":
        show.figure(unit_traces, observed, p.unit, step)
    elif p.view == "mask":
        show.figure(gate_mask, tempered, gate, p.unit, tried)
        show.note("sigmoid")
    else:
        flow = show.run(observation.unit_flow, observed, p.unit, name="steps")
        show.figure(cell_map, flow, step, p.part, picks=("part", ""))
        say_arithmetic(flow.at(step), p.unit, step, show)
    usual = show.words("metric.answers.majority", share=tried.majority)
    show.readout("answers", tried.accuracy_at, p.temperature, caption=usual)
    of_gate = show.words("metric.saturated.of", gate=gate)
    show.readout("saturated", tempered.saturated, gate, caption=of_gate)
    retained = show.readout("retained", observed.retained, p.unit)
    right, scored = tempered.right_steps()
    answers = show.words(f"note.answers.{'all' if scored == steps else 'some'}",
                         right=right, asked=scored, steps=steps)  # fmt: skip
    show.note("one_unit", gate=keeps, unit=p.unit, steps=steps, retained=retained,
              answers=answers, range=between(*observed.kept_between(p.unit), show))  # fmt: skip
    show.facts(tried.compared, p.temperature, note="mask")
