"""Benches on gated cells: a GRU with constant gates, and cells trained on recall tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from seqviz.compute import vanishing_gradients
from seqviz.compute.vanishing_gradients import recall
from seqviz.core.errors import UserError
from seqviz.figures.vanishing_gradients.recall import (
    accuracy_by_delay,
    accuracy_by_delay_progress,
    race_course,
    race_progress,
)
from seqviz.figures.vanishing_gradients.simplified_gru import gated_jacobian
from seqviz.lessons.framework.controls import choice, on, seed, slider, view
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.lesson import SeedExperiment as ClassRun
from seqviz.lessons.framework.lesson import read_params
from seqviz.lessons.framework.show import Show
from seqviz.lessons.vanishing_gradients.error_reach import (
    MOST_STEPS,
    MOST_WIDTH,
    ReachParams,
    beside_one,
    list_cells,
)

UPDATES = (100, 200, 400, 600, 900, 1200, 2000)
OPEN = ("course", "ladder")  # views with a chosen initial gate bias
RATES = (0.0003, 0.001, 0.003, 0.01)


@dataclass(frozen=True)
class GatesParams:
    """Controls of the bench on constant gates."""

    update: float = slider(0.0, 1.0, 0.1, 0.02)
    reset: float = slider(0.0, 1.0, 1.0, 0.02)


def gates(p: GatesParams, show: Show) -> None:
    world = read_params("reach", ReachParams)
    steps, width = min(world.steps, MOST_STEPS), min(world.width, MOST_WIDTH)
    simplified_gru = show.run(
        vanishing_gradients.simplified_gru, p.update, p.reset, world.init, width, world.gain,
        world.seed, steps,
    )  # fmt: skip
    show.figure(gated_jacobian, simplified_gru, p.update, p.reset)
    powers = dict.fromkeys(("gru_power", "rnn_power"), f"k = {steps}")
    show.readouts(
        simplified_gru, gru_radius="radius", rnn_radius="radius_rnn", gru_power="last_norm",
        rnn_power="last_norm_rnn", caption=powers,
    )  # fmt: skip
    if (steps, width) != (world.steps, world.width):
        show.caption(show.words("note.modest_gates", steps=steps, width=width))
    limits = {(1.0, 0.0): "zero", (1.0, 1.0): "plain"}
    key = "identity" if p.update == 0 else limits.get((p.update, p.reset), "gated")
    radius, radius_rnn = map(beside_one, (simplified_gru.radius, simplified_gru.radius_rnn))
    show.note(key, gru=simplified_gru, steps=steps, radius=radius, radius_rnn=radius_rnn)


@dataclass(frozen=True)
class RaceParams:
    """Controls of the bench on recall training."""

    view: str = view(("course", "closed", "ladder"), "course")
    task: str = choice(recall.TASKS, "first", more=True)
    delay: int = slider(1, 200, 50, unit="steps")
    cells: tuple[str, ...] = choice(recall.CELLS, recall.CELLS, many=True, more=True)
    bias: float = slider(0.0, 6.0, 4.0, 0.5, when=on(task="first", view=OPEN))
    bias_adding: float = slider(0.0, 6.0, 2.0, 0.5, when=on(task="adding", view=OPEN))
    updates: int = stops(UPDATES, 600, more=True, when=on(task="first"))
    updates_adding: int = stops(UPDATES, 1200, more=True, when=on(task="adding"))
    hidden: int = stops((8, 16, 32, 64), 32, more=True)
    rate: float = stops(RATES, 0.001, more=True, when=on(task="first"))
    rate_adding: float = stops(RATES, 0.01, more=True, when=on(task="adding"))
    seed: int = seed(0, more=True)


def tell_race(p: RaceParams, done: recall.CellComparison, show: Show) -> None:
    for cell in p.cells:
        update = done.learned_at(cell)
        verdict = show.words(f"metric.learned.{'never' if update is None else 'at'}", update=update)
        show.readout(f"learned_{cell}", done.accuracy_at_end, cell, caption=verdict)
    names = [show.option("cells", cell) for cell in p.cells]
    winners, losers = (
        [name for name, ok in zip(names, done.learned, strict=True) if ok == won]
        for won in (True, False)
    )
    key = "race_none" if not winners else "race_won" if losers else "race_all"
    joined = {"winners": winners, "losers": losers}
    values = {name: show.words("road.names").join(cells) for name, cells in joined.items()}
    show.note(key, updates=int(done.updates[-1]), **values)
    norms = dict(zip(names, done.log10_gradients[-1, :, 0].tolist(), strict=True))
    key = "race_felt" if p.task == "first" else "race_felt_adding"
    show.note(key, gradients=list_cells("norm", norms, show))


def of_race(p: RaceParams) -> recall.RecallSettings:
    """Return the settings of the training."""
    bias, updates, rate = p.bias, p.updates, p.rate
    if p.task == "adding":
        bias, updates, rate = p.bias_adding, p.updates_adding, p.rate_adding
    return recall.RecallSettings(
        p.task, p.delay, p.cells, p.hidden, updates=updates, learning_rate=rate,
        forget_bias=0.0 if p.view == "closed" else bias, seed=p.seed,
    )  # fmt: skip


def class_race(p: RaceParams, show: Show) -> ClassRun:
    """Return the class experiment: accuracy of each seat's cells after half of the updates.

    Raises:
        UserError: the view is "ladder", which has several delays.
    """
    if p.view == "ladder":
        raise UserError("class_ladder", "A class runs one delay. Choose another view.")
    usual = of_race(p)
    settings = replace(usual, seed=0, updates=usual.updates // 2)
    probability = recall.baseline(p.task).accuracy
    return ClassRun(
        partial(recall.compare_seeds, settings=settings),
        show.words("class.race.quantity", updates=settings.updates),
        show.words("class.race.settings", delay=p.delay, updates=settings.updates,
                   usual=usual.updates, bias=settings.forget_bias,
                   task=show.option("task", p.task), chance=probability),
        kinds=[show.option("cells", cell) for cell in p.cells],
        at_once=10, long=True,
    )  # fmt: skip


def race(p: RaceParams, show: Show) -> None:
    settings = of_race(p)
    if p.view != "ladder":
        done = show.job(
            recall.compare, name="done", settings=settings, then=(race_course,),
            so_far=(race_progress, settings),
        )  # fmt: skip
        return tell_race(p, done, show)
    longest = show.job(
        recall.find_longest_delay, name="done", settings=settings, then=(accuracy_by_delay,),
        so_far=(accuracy_by_delay_progress, settings),
    )  # fmt: skip
    for cell in p.cells:
        show.readout(f"longest_{cell}", longest.longest_of, cell)
    reached = {show.option("cells", cell): longest.longest_of(cell) or "–" for cell in p.cells}
    show.note("ladder", reached=list_cells("delay", reached, show), updates=settings.updates)
    last = int(longest.delays[-1])
    ended = [show.option("cells", c) for c in p.cells if longest.longest_of(c) == last]
    if ended:
        show.note("ladder_end", cells=show.words("road.names").join(ended), last=last)
