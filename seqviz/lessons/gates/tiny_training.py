"""Benches on the training of a tiny network, and on the parameters of a cell."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute.gates import activations, counting, observation, tasks, tiny
from seqviz.experiments import gates
from seqviz.figures.gates import maps
from seqviz.figures.gates import networks as network_figures
from seqviz.figures.gates.lengths import accuracy_by_length
from seqviz.lessons.framework.controls import choice, on, seed, view
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show
from seqviz.lessons.gates.trained_network import CELLS


@dataclass(frozen=True)
class LearnParams:
    """Controls of the bench on the training of a tiny network."""

    view: str = view(("training", "gates", "longer"), "training")
    task: str = choice(tasks.TASKS, "count", menu=True)
    cell: str = choice(CELLS, "lstm", when=on(view=("training", "gates")))
    symbol: str = choice(activations.LSTM_SYMBOLS, "c", when=on(view="gates", cell="lstm"))
    symbol_gru: str = choice(activations.GRU_SYMBOLS, "h", when=on(view="gates", cell="gru"))
    # The view "longer" uses shipped networks with fixed seeds.
    seed: int = seed(0, more=True, when=on(view=("training", "gates")))


def learn(p: LearnParams, show: Show) -> None:
    if p.view == "longer":
        return longer(p, show)
    settings = tiny.recommended(p.task, p.cell, p.seed)
    done = show.job(
        tiny.train_tiny, name="done", settings=settings,
        then=(network_figures.training_curve,) if p.view == "training" else None,
        so_far=(network_figures.training_progress, settings),
    )  # fmt: skip
    if p.view == "gates":
        symbol, example = p.symbol if p.cell == "lstm" else p.symbol_gru, tasks.EXAMPLES[p.task]
        observed = show.run(observation.observe, done.network, example, symbol, name="seen")
        unit = int(observed.time_constants.argmax()) + 1
        show.figure(maps.gate_map, observed, unit, len(observed.pieces))
        show.note("longest", unit=unit, units=observed.hidden, steps=observed.time_constant(unit),
                  retained=observed.retained(unit))  # fmt: skip
    doubled = show.run(tiny.longer, done.network, settings.length, p.seed, name="doubled")
    usual, answers, sequences = (
        show.words("metric.usual.majority", share=share)
        for share in (tiny.usual_majority(settings), doubled.majority, doubled.majority_whole)
    )
    show.readouts(done, usual="accuracy_at_end", caption={"usual": usual})
    show.readouts(doubled, twice="accuracy", whole="exact_match",
                  caption={"twice": answers, "whole": sequences})  # fmt: skip
    show.readouts(done.network, "parameters")
    verdict = "above" if doubled.accuracy > doubled.majority else "below"
    show.note("learned", done=done, twice=doubled, updates=int(done.updates[-1]),
              verdict=show.words(f"note.learned_{verdict}", majority=doubled.majority))  # fmt: skip


def longer(p: LearnParams, show: Show) -> None:
    """Show both shipped cells on sequences up to three times as long."""
    by_length = show.run(gates.by_length, p.task)
    show.figure(accuracy_by_length, by_length)
    twice = 2 * by_length.trained
    for cell in by_length.cells:
        right = show.words("metric.whole_lstm.answers", share=by_length.answers_at(cell, twice))
        show.readout(f"whole_{cell}", by_length.whole_at, cell, twice, caption=right)
    show.readout("majority", by_length.majority_at, twice)
    for cell in by_length.cells:
        facts = by_length.compared(cell, twice)
        show.note(f"longer.{facts.variant}", cell=cell.upper(), **facts)
    if by_length.counts:
        lstm, gru = by_length.counts
        show.note("counts", lstm=lstm, gru=gru, trained=(by_length.trained - 1) // 2)


@dataclass(frozen=True)
class SizeParams:
    """Controls of the bench on the size of a cell."""

    inputs: int = stops((1, 2, 4, 8, 16, 32, 64, 128, 256, 512), 1)
    hidden: int = stops((1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), 32)
    biases: str = choice(tuple(counting.BIASES), "two")


def size(p: SizeParams, show: Show) -> None:
    result = show.run(counting.table, p.inputs, p.hidden, p.biases)
    show.figure(network_figures.parameter_bars, result)
    for cell in result.cells:
        formula = show.words("metric.count.formula", count=result.by_formula(cell))
        show.readout(f"count_{cell}", result.count, cell, caption=formula)
    show.note(
        "sets", feed_forward=1,
        **{f"sets_{cell}": result.sets(cell) for cell in result.cells},
        **{f"{cell}_count": result.count(cell) for cell in result.cells},
        **{cell: result.count(cell) / result.count("rnn") for cell in ("gru", "lstm")},
    )  # fmt: skip
