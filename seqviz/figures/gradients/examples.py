"""Every figure of gradients through time, with small seeded networks and what came with the app."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from seqviz.compute import bptt
from seqviz.compute.bptt import Experiment
from seqviz.compute.recall.results import (
    Comparison,
    ComparisonReport,
    LongestDelay,
    LongestDelayReport,
)
from seqviz.compute.recall.settings import RecallSettings
from seqviz.figures.gradients import (
    cliff,
    clipping,
    norms,
    pairs,
    paths,
    recall,
    simplified_gru,
    truncation,
    weights,
)
from seqviz.figures.grammar.example import Example
from seqviz.paths import ASSETS

R = TypeVar("R")
HOSTILE = "<b>a</b> b %{x} & c"


def examples() -> tuple[Example, ...]:
    """Every figure function of the subject; more than one where they have branches."""
    return (*_reaches(), *_pairs(), *_backward(), *_shortened(), *_trained())


def _reaches() -> tuple[Example, ...]:
    cells = ("linear", "rnn", "relu", "lstm", "gru")
    every = [bptt.reach(Experiment(cell, 30, 6)) for cell in cells]
    read = bptt.reach(Experiment("gru", signal="sentence", sentence=HOSTILE, width=6))
    far = bptt.reach(Experiment("linear", 300, 6, gain=2.0))
    wide, shared = bptt.spectrum("gaussian", 6, 2.0, 1), bptt.spectrum("gaussian", 6, 1.0, 1)
    gated = [bptt.simplified_gru(update, 0.7, "gaussian", 8, 1.2, 1, 20) for update in (0.1, 0.0)]
    return (
        Example("reach of all cells", norms.gradient_reach, (cells, every, shared),
                every[3].horizon),
        Example("reach over a sentence", norms.gradient_reach, (("gru",), (read,), shared),
                read.horizon),
        Example("reach beyond float32", norms.gradient_reach, (("linear",), (far,), wide),
                far.horizon),
        Example("gates that do not change", simplified_gru.gated_jacobian, (gated[0], 0.1, 0.7),
                0.1),
        Example("a gate that keeps all", simplified_gru.gated_jacobian, (gated[1], 0.0, 0.7), 0.7),
    )  # fmt: skip


def _pairs() -> tuple[Example, ...]:
    shared = bptt.spectrum("gaussian", 8, 1.0, 1)
    made = []
    for cell, part in (("rnn", "hidden"), ("lstm", "cell_state")):
        asked = Experiment(cell, 30, 8)
        every, one = bptt.pair_norms(asked, part), bptt.pair_spectrum(asked, 5, 20, part)
        made.append(
            Example(f"pairs of steps, {cell}", pairs.pair_map,
                    (every, one, 5, 20, cell, shared), 20)
        )  # fmt: skip
    return tuple(made)


def _backward() -> tuple[Example, ...]:
    found = bptt.paths(Experiment("linear", 6, 4, gain=0.8, loss="mean"), 2)
    back = bptt.recursion(Experiment("rnn", 4, 2, loss="mean"))
    total = float(found.along(found.terms).sum())
    sizes = np.linalg.norm(back.total, axis=1)
    parts = {
        matrix: bptt.weight_steps(Experiment(cell, 8, 4, loss=loss), matrix)
        for matrix, cell, loss in zip(
            bptt.MATRICES, ("linear", "rnn", "linear"), ("last", "mean", "last"), strict=True
        )
    }
    return (
        *(
            Example(f"gradient of {matrix} by step", weights.weights_by_step, (one, matrix, 7),
                    one.length)
            for matrix, one in parts.items()
        ),
        Example("paths of the errors", paths.path_bars, (found,), total),
        Example("paths as printed", paths.path_bars, (found, True), total),
        Example("backward, nothing yet", paths.unrolled_graph, (back, 0), 4),
        Example("backward, one step", paths.unrolled_graph, (back, 1), float(sizes[3])),
        Example("backward, all steps", paths.unrolled_graph, (back, 4), float(sizes[0])),
    )  # fmt: skip


def _shortened() -> tuple[Example, ...]:
    asked = Experiment("rnn", 20, 8, loss="mean")
    curve, parts = bptt.truncation(asked), bptt.truncation(asked, "segments")
    drawn = bptt.randomized(asked, 0.2, 64)
    free, clipped = (bptt.descend("linear", 1.0, theta, updates=20) for theta in (None, 1.0))
    calm = bptt.descend("tanh", 0.9, None, updates=8)
    thrown, held = (bptt.walk(5.0, -2.5, theta, 0.1, 70) for theta in (None, 1.0))
    return (
        Example("terms kept and lost", truncation.kept_and_lost,
                (bptt.terms(asked, 5), curve, 5), float(curve.length[4])),
        Example("no term lost", truncation.kept_and_lost,
                (bptt.terms(asked, 20, "segments"), parts, 20), float(parts.length[19])),
        Example("mean of random truncations", truncation.mean_of_draws, (drawn,), drawn.fixed),
        Example("a cliff", cliff.cliff, (bptt.surface(), thrown, held, 1.0), held.last_error),
        Example("clipping", clipping.with_and_without_clipping, (free, clipped, 1.0),
                float(clipped.loss[-1])),
        Example("clipping that is not needed", clipping.with_and_without_clipping,
                (calm, calm, 10.0), float(calm.loss[-1])),
    )  # fmt: skip


def _trained() -> tuple[Example, ...]:
    race, search = shipped("compare", Comparison), shipped("find_longest_delay", LongestDelay)
    begun = reports(race)[:3]
    return (
        Example("accuracy in a race", recall.race_course, (race,), int(race.updates[-1])),
        Example("accuracy while they train", recall.race_progress, (begun, race.settings),
                begun[-1].update),
        Example("longest delay learned", recall.ladder, (search,), int(search.longest[0])),
        Example("longest delay so far", recall.ladder_progress,
                (rungs(search)[:2], search.settings), int(search.delays[1])),
    )  # fmt: skip


def shipped(name: str, kind: Callable[..., R]) -> R:
    """What the function of this name found at the default settings: it came with the app.

    Only its arrays are read: training takes torch, which is not a figure's business.
    """
    folder, settings = ASSETS / "data" / "measured", RecallSettings()
    wanted = f'"forget_bias": {settings.forget_bias}'  # its views differ in nothing else
    (path,) = (
        folder / entry["file"]
        for entry in json.loads((folder / "index.json").read_text("utf-8"))
        if entry["call"].startswith(f"{name} ") and wanted in entry["call"]
    )
    return kind(settings=settings, **np.load(path, allow_pickle=False), device="cpu")


def reports(done: Comparison) -> list[ComparisonReport]:
    """What it has reported on its way."""
    rows = zip(done.updates.tolist(), done.accuracy, done.loss, done.log10_gradients, strict=True)
    return [ComparisonReport(row[0], done.settings.updates, *row[1:]) for row in rows]


def rungs(done: LongestDelay) -> list[LongestDelayReport]:
    """The last report on each delay."""
    longest = np.maximum.accumulate(done.delays[:, None] * done.learned)
    return [
        LongestDelayReport(
            delay, int(done.updates[rung].max()), done.settings.updates, done.accuracy[rung],
            longest[rung], float(done.delays[: rung + 1].sum() / done.delays.sum()),
        )
        for rung, delay in enumerate(done.delays.tolist())
    ]  # fmt: skip
