"""Benches on one cell in numbers, wirings of cells, and the collapse without tanh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqviz.compute.recurrent.wirings import influence, notations, step
from seqviz.compute.recurrent.wirings.collapse import CollapseTrace as Replaced
from seqviz.compute.recurrent.wirings.collapse import collapse as linear
from seqviz.compute.recurrent.wirings.graph import (
    CELLS,
    ENTER,
    HISTORY,
    PURPOSES,
    READ,
    WiringGraph,
    compare_wirings,
    suited,
)
from seqviz.compute.recurrent.wirings.notations import NOTATIONS, all_written, written
from seqviz.compute.recurrent.wirings.order import orders
from seqviz.compute.recurrent.wirings.step import MAX_UNITS, OUTPUTS, CellSteps
from seqviz.core.errors import UserError
from seqviz.core.i18n import number
from seqviz.core.units import unbroken
from seqviz.figures.recurrent.wirings.collapse import network_beside_convolution
from seqviz.figures.recurrent.wirings.graph import wiring_lit, wirings_beside
from seqviz.figures.recurrent.wirings.step import notation_blocks, one_step, orders_apart
from seqviz.lessons.framework.controls import (
    choice,
    localized,
    on,
    seed,
    slider,
    step_slider,
    text_input,
    toggle,
    view,
)
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show

CELL = on(view=("step", "notations"))
MAX_UNROLLED_STEPS = 8  # maximum number of steps on the sheet
NEARLY = 0.1  # maximum superposition error of the target, over the largest response


def units_of(values: Mapping[str, Any]) -> int:
    """Return the number of rows of the recurrent matrix."""
    try:
        return len(step.matrix(values["recurrent"], "W_h"))
    except UserError:
        return MAX_UNITS


def lines_of(values: Mapping[str, Any]) -> int:
    """Return the number of lines that the program runs: two for each step, and two more."""
    return 2 * int(values["unrolled"]) + 2


@dataclass(frozen=True)
class StepParams:
    """Controls of the bench on a cell's numbers, word order, and notations of six texts."""

    view: str = view(("step", "order", "notations"), "step")
    x: str = text_input("2 0 0 0 0 0", 100, above=True, typed=True, when=CELL)
    one_text: str = localized(
        text_input("the dog bites the man", 60, above=True, typed=True, when=on(view="order")),
        zh="狗咬人",
    )
    other_text: str = localized(
        text_input("the man bites the dog", 60, above=True, typed=True, when=on(view="order")),
        zh="人咬狗",
    )
    unrolled: int = slider(1, MAX_UNROLLED_STEPS, 6, more=True, when=on(view="step"))
    recurrent: str = text_input("0.8 -0.6; 0.6 0.8", 60, typed=True, when=CELL, more=True)
    inputs: str = text_input("1; 0", 60, typed=True, more=True, when=CELL)
    notation: str = choice(tuple(NOTATIONS), "s2", menu=True, when=on(view="notations"))
    moment: int = step_slider(1, MAX_UNROLLED_STEPS, 3, within="unrolled", when=CELL)
    unit: int = step_slider(1, MAX_UNITS, 1, within=units_of, when=on(view="step"), more=True)
    bias: str = text_input("0 0", 60, typed=True, more=True, when=CELL)
    outputs: str = text_input("2 0; 0 2", 60, typed=True, more=True, when=on(view="step"))
    squash: str = choice(OUTPUTS, "softmax", more=True, when=on(view="step"))
    executed: int = step_slider(1, 2 * MAX_UNROLLED_STEPS + 2, 0, within=lines_of, opens=lines_of,
                                more=True, when=on(view="step"))  # fmt: skip
    seed: int = seed(1, when=on(view="order"))


def read_steps(p: StepParams, show: Show) -> None:
    if p.view == "order":
        return _order(p, show)
    outputs = p.outputs if p.view == "step" else " ".join(["0"] * units_of(vars(p)))
    result = show.run(step.steps, p.recurrent, p.inputs, p.bias, outputs, p.x, p.unrolled, p.squash)
    if p.view == "notations":
        return _notations(p, result, show)
    t, unit = min(p.moment, p.unrolled), min(p.unit, result.a.shape[1])
    show.figure(one_step, result, t, unit, picks=("moment", "unit"))
    show.readout("sum_of", result.sum_of, t, unit)
    show.readout("state_of", result.state_of, t, unit)
    show.readouts(result, "x_apart", used_each_step="parameters")
    _say_step(result, t, unit, show)
    _program(p, result, show)


def _program(p: StepParams, cell_steps: CellSteps, show: Show) -> None:
    """Show the program of forward inference, its lines run so far, and what they last gave."""
    total = lines_of(vars(p))
    executed = min(p.executed or total, total)
    lines = show.derive(cell_steps.program, executed, name="program")
    show.rows("program", {
        "program_line": [line.text for line in lines],
        "program_runs": [str(line.runs) for line in lines],
        "program_value": [", ".join(number(v) for v in line.value) or "–" for line in lines],
    })  # fmt: skip
    if executed < total:
        last = next(line for line in lines if line.is_last)
        show.note("step.program", executed=executed, all=total, text=last.text, runs=last.runs,
                  value=last.value)  # fmt: skip


def _say_step(cell_steps: CellSteps, t: int, unit: int, show: Show) -> None:
    def two(value: float) -> str:
        written = f"{value:.2f}".replace("-", "−")
        return f"({written})" if value < 0 else written

    products = " + ".join(
        two(term.weight) if term.of == "b" else f"{two(term.weight)} · {two(term.value)}"
        for term in cell_steps.terms(t, unit)
    )
    show.note("step.sum", unit=unit, t=t, products=products, sum=cell_steps.sum_of(t, unit),
              state=cell_steps.state_of(t, unit))  # fmt: skip
    y, cell = cell_steps.y[t - 1], cell_steps.cell
    show.note(f"step.{cell_steps.by}", t=t, y=y, sum=y.sum())
    loop = show.derive(cell_steps.loop, name="loop")
    first = ", ".join(f"{v:g}".replace("-", "−") for v in loop["x"])
    show.note(f"step.{loop.variant}", **{**loop, "x": first})
    shapes = {name: unbroken(" × ".join(map(str, getattr(cell, name).shape)))
              for name in ("recurrent", "inputs", "output")}  # fmt: skip
    show.note("step.shapes", d_h=len(cell.bias), d_in=cell.inputs.shape[1],
              d_out=len(cell.output), **shapes)  # fmt: skip


def _order(p: StepParams, show: Show) -> None:
    order_distance = show.run(orders, p.one_text, p.other_text, p.seed)
    show.figure(orders_apart, order_distance)
    show.readouts(order_distance, "apart", "sum_apart")
    show.facts(order_distance.compared, note="step")


def _notations(p: StepParams, cell_steps: CellSteps, show: Show) -> None:
    t = min(p.moment, len(cell_steps.x))
    h, x = cell_steps.h[t - 1], cell_steps.x[t - 1]
    chosen = show.run(written, cell_steps.cell, h, x, p.notation, name="written")
    show.figure(notation_blocks, chosen)
    every = show.run(all_written, cell_steps.cell, h, x, name="every")
    names = {name: show.option("notation", name) for name in every}
    show.rows("notations", {
        "written_by": list(names.values()),
        "written_apart": [number(item.difference) for item in every.values()],
        "written_as": [NOTATIONS[name].formula for name in every],
    })  # fmt: skip
    show.note("step.notation", text=names[p.notation], t=t, formula=chosen.notation.formula,
              difference=chosen.difference)  # fmt: skip
    if chosen.difference and not chosen.notation.bias:
        show.note("step.no_bias")
    show.note("step.state_letter")
    if p.notation not in ("s1", "s2"):
        return
    wrong = show.run(notations.swapped, cell_steps.cell, h, x, name="swapped")
    shape = unbroken(" × ".join(map(str, cell_steps.cell.inputs.shape)))
    key = "swapped" if wrong is not None else "swapped_shape"
    show.note(f"step.{key}", wrong=wrong or 0, shape=shape, units=len(h))


def outputs_of(v: Mapping[str, Any]) -> int:
    """Return the number of outputs of the chosen wiring."""
    return (
        HISTORY[v["origin"]][1] if v["origin"] in HISTORY else WiringGraph(read=v["read_at"])
    ).outputs


OWN_WIRING = on(view="one", origin="own")


@dataclass(frozen=True)
class WiringsParams:
    """Controls of the bench on the seven wirings of texts, and a custom one."""

    view: str = view(("one", "beside"), "one")
    origin: str = choice(("own", *HISTORY), "own", menu=True, more=True, when=on(view="one"))
    cell: str = choice(CELLS, "rnn", more=True,
                       when=lambda v: v["view"] == "beside" or v["origin"] == "own")  # fmt: skip
    layers: int = slider(1, 3, 1, more=True, when=OWN_WIRING)
    backward: bool = toggle(False, when=OWN_WIRING)
    read_at: str = choice(READ, "each", menu=True, when=OWN_WIRING)
    output: int = step_slider(1, 6, 3, within=outputs_of, when=on(view="one"), more=True)
    enter: str = choice(ENTER, "each", more=True, when=OWN_WIRING)
    purpose: str = choice(PURPOSES, "tags", menu=True, when=on(view="beside"))
    seed: int = seed(0, more=True)


def wirings(p: WiringsParams, show: Show) -> None:
    if p.view == "one":
        return _one_wiring(p, show)
    influences = show.run(influence.of_all, p.cell, p.seed)
    fitting = show.derive(suited, influences, p.purpose, name="fitting")
    show.figure(wirings_beside, influences, fitting)
    facts = show.derive(compare_wirings, influences, name="influence")
    names = [show.text(f"figure.wiring_{name}") for name in fitting]
    show.note(f"wirings.purpose.{p.purpose}", count=len(fitting), of=len(influences),
              names=show.words("note.wirings.and").join(names))  # fmt: skip
    show.note(f"wirings.{facts.variant}", cell=show.option("cell", p.cell), **facts)
    show.note("wirings.pairs", **facts)


def _one_wiring(p: WiringsParams, show: Show) -> None:
    if p.origin == "own":
        result = show.run(
            influence.of_one, p.cell, p.layers, p.backward, p.enter, p.read_at, p.seed
        )
    else:
        result = show.run(influence.of_past, p.origin, p.seed)
    output = min(p.output, result.wiring.outputs)
    show.figure(wiring_lit, result, output, picks=("output", ""))
    show.readout("inputs_of", result.inputs_of, output)
    show.readouts(result, "nonzero")
    facts = show.derive(result.dependencies, output, name="dependencies")
    show.metrics(lit="{states} / {all}".format(**facts))
    moved = show.words("note.wirings.and").join(
        f"x{_below(s)} ({number(v, 2)})" for s, v in enumerate(result.norm[output - 1], 1) if v > 0
    )
    at = output + result.wiring.first_output - 1
    y = f"y{_below(at)}"
    show.note(f"wirings.{facts.variant}", y=y, moved=moved, **facts)
    show.note("wirings.band", y=y, at=at)
    if len(result.backward):
        some, inputs = result.backward_read
        show.note(f"wirings.backward_{result.wiring.read}", some=some, inputs=inputs)
    if p.origin != "own":
        _history(p, show)


def _history(p: WiringsParams, show: Show) -> None:
    """State year and size of the chosen network, and list all networks by year."""
    every = {name: show.run(influence.of_past, name, p.seed, name=name) for name in HISTORY}
    names = {name: show.option("origin", name) for name in HISTORY}
    sizes = [influence.parameters(wiring) for _, wiring in HISTORY.values()]
    year, at = HISTORY[p.origin][0], list(HISTORY).index(p.origin)
    show.note("wirings.history", year=year, name=names[p.origin], size=sizes[at],
              place=at + 1, of=len(HISTORY))  # fmt: skip
    show.rows("history", {
        "history_year": [str(year) for year, _ in HISTORY.values()],
        "history_name": list(names.values()),
        "history_inputs": [
            "{} / {}".format(*show.derive(item.inputs_of, min(p.output, item.wiring.outputs)))
            for item in every.values()
        ],
        "history_size": [f"{size:,}" for size in sizes],
    })  # fmt: skip


def _below(index: int) -> str:
    return str(index).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


@dataclass(frozen=True)
class CollapseParams:
    """Controls of the bench on the linear collapse."""

    tanh: float = stops((0.0, 0.1, 1.0, 10.0, 50.0, 100.0), 0.0)
    amplitude: float = stops((0.01, 0.1, 0.3, 1.0, 3.0, 10.0), 1.0)
    hidden_units: int = stops((1, 4, 16, 64), 16)
    with_bias: bool = toggle(True, more=True)
    precision: str = choice(("float32", "float64"), "float32", more=True)
    seed: int = seed(1, more=True)


def collapse(p: CollapseParams, show: Show) -> None:
    share = p.tanh / 100
    result = show.run(linear, share, p.amplitude, p.hidden_units, p.precision, p.seed, p.with_bias)
    show.figure(network_beside_convolution, result)
    show.readouts(result, "superposition", kernel_error="error", weights_there="parameters",
                  kernel_numbers="numbers")  # fmt: skip
    values = {"p": p, "result": result}
    adds_up = result.superposition < NEARLY
    if share == 0:
        show.note("collapse.off", **values)
    else:
        show.note("collapse.nearly" if adds_up else "collapse.on", **values)
        show.note("collapse.close" if result.error < NEARLY else "collapse.apart", **values)
        if p.with_bias:
            _say_without_bias(p, result, show)
    show.note("collapse.size", **values)
    show.target("nearly_linear", share == 1 and adds_up, **values)


def _say_without_bias(p: CollapseParams, result: Replaced, show: Show) -> None:
    """State the result of the control experiment, the same network with b = 0."""
    other = show.run(linear, result.share, p.amplitude, p.hidden_units, p.precision, p.seed,
                     biased=False, name="without_bias")  # fmt: skip
    key = "moved" if other.error < NEARLY <= result.error else "without"
    show.note(f"collapse.{key}", result=other)
