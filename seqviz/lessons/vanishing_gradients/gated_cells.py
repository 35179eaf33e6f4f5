"""Gated cells: a GRU whose gates do not change, and cells that learn to remember."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from seqviz.compute import vanishing_gradients
from seqviz.compute.vanishing_gradients import recall
from seqviz.core.errors import UserError
from seqviz.core.i18n import format_log10, percent
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
from seqviz.lessons.vanishing_gradients.error_reach import MOST_STEPS, MOST_WIDTH, ReachParams

UPDATES = (100, 200, 400, 600, 900, 1200, 2000)
OPEN = ("course", "ladder")  # views in which the gates start as the student says
RATES = (0.0003, 0.001, 0.003, 0.01)


@dataclass(frozen=True)
class GatesParams:
    """Two gates that do not change."""

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
    if p.update == 0:
        show.note("identity")
    elif (p.update, p.reset) == (1, 0):
        show.note("zero")
    elif (p.update, p.reset) == (1, 1):
        show.note("plain")
    else:
        show.note(
            "gated",
            radius=simplified_gru.radius_rnn,
            gated=simplified_gru.radius,
            steps=steps,
            rnn=simplified_gru.last_norm_rnn,
            gru=simplified_gru.last_norm,
        )


@dataclass(frozen=True)
class RaceParams:
    """Who learns to remember, live."""

    view: str = view(("course", "closed", "ladder"), "course")
    task: str = choice(recall.TASKS, "first")
    delay: int = slider(1, 200, 50, unit="steps")
    cells: tuple[str, ...] = choice(recall.CELLS, recall.CELLS, many=True)
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
        verdict = show.words("metric.learned.never")
        if update is not None:
            verdict = show.words("metric.learned.at", update=update)
        show.readout(f"learned_{cell}", done.accuracy_at_end, cell, caption=verdict)
    winners, losers = (
        [show.option("cells", c) for c, ok in zip(p.cells, done.learned, strict=True) if ok == won]
        for won in (True, False)
    )
    values = {
        name: show.words("road.names").join(those)
        for name, those in (("winners", winners), ("losers", losers))
    }
    key = "race_none" if not winners else "race_won" if losers else "race_all"
    show.note(key, **values, updates=int(done.updates[-1]))
    felt = [
        f"{show.option('cells', cell)} {format_log10(float(norm))}"
        for cell, norm in zip(p.cells, done.log10_gradients[-1, :, 0], strict=True)
    ]
    key = "race_felt" if p.task == "first" else "race_felt_adding"
    show.note(key, gradients=show.words("road.comma").join(felt))


def of_race(p: RaceParams) -> recall.RecallSettings:
    """What the cells are trained with."""
    bias, updates, rate = (
        (p.bias, p.updates, p.rate)
        if p.task == "first"
        else (p.bias_adding, p.updates_adding, p.rate_adding)
    )
    return recall.RecallSettings(
        p.task, p.delay, p.cells, p.hidden, updates=updates, learning_rate=rate,
        forget_bias=0.0 if p.view == "closed" else bias, seed=p.seed,
    )  # fmt: skip


def class_race(p: RaceParams, show: Show) -> ClassRun:
    """What each seat's own cells have learned after half of the updates."""
    if p.view == "ladder":
        raise UserError("class_ladder", "A class runs one delay. Choose another view.")
    usual = of_race(p)
    settings = replace(usual, seed=0, updates=usual.updates // 2)
    probability = percent(recall.baseline(p.task).accuracy)
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
    train: Any = recall.find_longest_delay
    draw: Any = accuracy_by_delay
    so_far: Any = accuracy_by_delay_progress
    if p.view != "ladder":
        train, draw, so_far = recall.compare, race_course, race_progress
    reports = (so_far, settings)
    done = show.job(train, name="done", settings=settings, then=(draw,), so_far=reports)
    if p.view != "ladder":
        return tell_race(p, done, show)
    for cell in p.cells:
        show.readout(f"longest_{cell}", done.longest_of, cell)
    reached = [f"{show.option('cells', c)} {done.longest_of(c) or '–'}" for c in p.cells]
    reached_by = show.words("road.comma").join(reached)
    show.note("ladder", reached=reached_by, updates=settings.updates)
    last = int(done.delays[-1])
    ended = [show.option("cells", c) for c in p.cells if done.longest_of(c) == last]
    if ended:
        show.note("ladder_end", cells=show.words("road.names").join(ended), last=last)
