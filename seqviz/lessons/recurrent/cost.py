"""Bench on the cost of a recurrent network: parameters, time, loss terms."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute.recurrent.costs import counting
from seqviz.compute.recurrent.costs.counting import NetworkSizes
from seqviz.compute.recurrent.costs.terms import ENDS
from seqviz.core.units import unbroken
from seqviz.experiments.recurrent import costs
from seqviz.experiments.recurrent.costs import BATCHES, LENGTHS
from seqviz.figures.recurrent.costs.measured import terms_of_loss, time_by_length, timed_so_far
from seqviz.figures.recurrent.costs.parameters import matrices, parameters_by_length
from seqviz.lessons.framework.controls import (
    choice,
    for_course,
    on,
    slider,
    text_input,
    toggle,
    view,
)
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show

READER = "characters_gru"
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SIZED = on(view=("length", "shapes"))
AT_ONCE = {"one": BATCHES[0], "many": BATCHES[1]}
TERMS = on(view="terms")


@dataclass(frozen=True)
class CellCostParams:
    """Controls of the bench on cost."""

    view: str = view(("length", "time", "shapes", "terms"), "length")
    given: str = text_input("The music", 150, when=TERMS, above=True)
    answer: str = text_input("is wonderful, and the film is not.", 150, when=TERMS, above=True)
    n_inputs: int = stops(SIZES, 1, more=True, when=SIZED)
    n_hidden: int = stops(SIZES, 32, more=True, when=SIZED)
    n_layers: int = slider(1, 4, 1, when=on(view="length"))
    n_directions: int = slider(1, 2, 1, when=SIZED, more=True)
    n_steps: int = stops(LENGTHS, 128, when=on(view=("length", "time")))
    n_outputs: int = stops((0, 1, 2, 10, 100), 1, more=True, when=SIZED)
    n_biases: str = choice(tuple(counting.BIASES), "two", more=True, when=on(view="length"))
    of_cell: str = choice(counting.CELLS, "rnn", when=on(view="shapes"))
    batch_axis: bool = for_course(toggle(True, when=on(view="shapes")))
    at_once: str = choice(tuple(AT_ONCE), "one", when=on(view="time"))
    read_from: str = choice(("before", "same"), "before", when=TERMS)
    summed_to: str = for_course(choice(ENDS, "ty", when=TERMS))


def bill(p: CellCostParams, show: Show) -> None:
    {"length": _length, "time": _time, "shapes": _shapes, "terms": _terms}[p.view](p, show)


def _wiring(p: CellCostParams) -> NetworkSizes:
    return NetworkSizes(p.n_inputs, p.n_hidden, p.n_layers, p.n_directions, p.n_biases, p.n_outputs)


def _length(p: CellCostParams, show: Show) -> None:
    result = show.run(counting.bill, _wiring(p), p.n_steps)
    show.figure(parameters_by_length, result)
    for cell, formula in zip(result.cells, result.formula, strict=True):
        caption = show.words("metric.bill_rnn.formula", count=formula)
        show.readout(f"bill_{cell}", result.count, cell, caption=caption)
    show.facts(result.totals, note="bill.shared")
    show.facts(result.sharing, "rnn", note="bill")


def _time(p: CellCostParams, show: Show) -> None:
    step_times = show.job(costs.time_steps, so_far=(timed_so_far,))
    batch = AT_ONCE[p.at_once]
    show.figure(time_by_length, step_times, batch, p.n_steps)
    show.readout("bill_ratio", step_times.ratio, batch, p.n_steps)
    show.readout("bill_step", step_times.a_step, batch, p.n_steps)
    show.facts(step_times.compared, batch, p.n_steps, note="bill")
    other = next(item for item in step_times.batches if item != batch)
    show.note("bill.other_batch", batch=other, ratio=step_times.ratio(other, p.n_steps))


def _shapes(p: CellCostParams, show: Show) -> None:
    result = show.derive(counting.shapes, p.of_cell, _wiring(p), name="shapes")
    show.figure(matrices, result)
    tried = show.run(costs.as_printed, p.n_inputs, p.n_hidden, p.batch_axis, name="tried")
    written = {name: unbroken(" × ".join(map(str, shape))) for name, shape in result.items()}
    show.note("bill.shapes", p=p, rows=result["W_h"][0], **written)
    show.note("bill.output" if p.n_outputs else "bill.no_output", p=p, **written)
    show.note("bill.works" if tried.state else "bill.fails", input=list(tried.input),
              state=list(tried.hidden), after=list(tried.state or ()),
              error=tried.error)  # fmt: skip


def _terms(p: CellCostParams, show: Show) -> None:
    result = show.run(costs.score, READER, p.given, p.answer)
    show.figure(terms_of_loss, result, p.read_from, p.summed_to)
    show.readout("bill_bits", result.bits, p.read_from, p.summed_to)
    show.readout("bill_perplexity", result.perplexity, p.read_from, p.summed_to)
    show.facts(result.totals, p.read_from, p.summed_to, note="bill.terms")
    if p.summed_to == "tx":
        show.facts(result.missing, p.read_from, note="bill")
    show.facts(result.outputs, note=f"bill.{p.read_from}")
    if result.unknown.any():
        show.notice("bill.unknown", unknown=int(result.unknown.sum()), ty=len(result.pieces),
                  share=float(result.unknown.mean()))  # fmt: skip
