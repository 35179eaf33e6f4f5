"""A tiny network that learns while you watch, and how many parameters a cell has."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute.gates import activations, counting, observation, tasks, tiny
from seqviz.core.i18n import number, percent
from seqviz.experiments import gates
from seqviz.figures.gates import maps
from seqviz.figures.gates import networks as drawn
from seqviz.figures.gates.lengths import accuracy_by_length
from seqviz.lessons.framework.controls import choice, on, seed, view
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.show import Show
from seqviz.lessons.gates.trained_network import CELLS


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


@dataclass(frozen=True)
class SizeParams:
    """How large a cell is."""

    inputs: int = stops((1, 2, 4, 8, 16, 32, 64, 128, 256, 512), 1)
    hidden: int = stops((1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), 32)
    biases: str = choice(tuple(counting.BIASES), "two")


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
