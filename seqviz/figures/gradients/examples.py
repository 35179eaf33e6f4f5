"""Every figure of gradients through time, with small seeded networks."""

from __future__ import annotations

import numpy as np

from seqviz.compute import bptt
from seqviz.compute.bptt import Experiment
from seqviz.compute.recall.results import (
    Comparison,
    ComparisonReport,
    LongestDelay,
    LongestDelayReport,
)
from seqviz.compute.recall.settings import CELLS, RecallSettings, parameter_count
from seqviz.compute.recall.tasks import LEARNED
from seqviz.figures.gradients import (
    clipping,
    norms,
    pairs,
    paths,
    recall,
    simplified_gru,
    truncation,
)
from seqviz.figures.grammar.example import Example

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
    return (
        Example("paths of the errors", paths.path_bars, (found,), total),
        Example("paths as printed", paths.path_bars, (found, True), total),
        Example("backward, nothing yet", paths.unrolled_graph, (back, 0), 4),
        Example("backward, one step", paths.unrolled_graph, (back, 1), float(sizes[3])),
        Example("backward, all steps", paths.unrolled_graph, (back, 4), float(sizes[0])),
    )


def _shortened() -> tuple[Example, ...]:
    asked = Experiment("rnn", 20, 8, loss="mean")
    curve, parts = bptt.truncation(asked), bptt.truncation(asked, "segments")
    drawn = bptt.randomized(asked, 0.2, 64)
    free, clipped = (bptt.descend("linear", 1.0, theta, updates=20) for theta in (None, 1.0))
    calm = bptt.descend("tanh", 0.9, None, updates=8)
    return (
        Example("terms kept and lost", truncation.kept_and_lost,
                (bptt.terms(asked, 5), curve, 5), float(curve.length[4])),
        Example("no term lost", truncation.kept_and_lost,
                (bptt.terms(asked, 20, "segments"), parts, 20), float(parts.length[19])),
        Example("mean of random truncations", truncation.mean_of_draws, (drawn,), drawn.fixed),
        Example("clipping", clipping.with_and_without_clipping, (free, clipped, 1.0),
                float(clipped.loss[-1])),
        Example("clipping that is not needed", clipping.with_and_without_clipping,
                (calm, calm, 10.0), float(calm.loss[-1])),
    )  # fmt: skip


def _trained() -> tuple[Example, ...]:
    first = comparison("first", CELLS)
    adding, tried = comparison("adding", ("gru", "rnn")), longest_delay()
    return (
        Example("accuracy on first", recall.race_course, (first,), 60),
        Example("accuracy on adding", recall.race_course, (adding,), 60),
        Example("accuracy while they train", recall.race_progress,
                (reports(first)[:3], first.settings), 40),
        Example("longest delay learned", recall.ladder, (tried,), 5),
        Example("longest delay so far", recall.ladder_progress,
                (delays_so_far(), tried.settings), 1),
    )  # fmt: skip


def comparison(task: str, cells: tuple[str, ...]) -> Comparison:
    """As if 60 updates had been made; of three cells two have learned.

    Nothing is trained, which would take torch and seconds: the accuracies are made up. The
    gradients are those of small networks.
    """
    settings = RecallSettings(task, 9, cells, hidden=6, updates=60)
    updates = np.array([0, 20, 40, 60])
    accuracy = np.array(
        [[0.2, 0.25, 0.3], [0.25, 0.6, 0.3], [0.3, 0.9975, 0.8], [0.2725, 1.0, 0.96]]
    )[:, : len(cells)]  # fmt: skip
    reaches = [[_slopes(cell, seed) for cell in cells] for seed in (1, 2, 3, 4)]
    learned = np.asarray(accuracy >= LEARNED)
    return Comparison(
        settings=settings,
        updates=updates,
        accuracy=accuracy,
        loss=1 - accuracy,
        log10_gradients=np.array(reaches),
        learned=np.asarray(learned.any(axis=0)),
        first_learned_update=np.where(learned.any(axis=0), updates[learned.argmax(axis=0)], -1),
        parameters=np.array([parameter_count(settings, cell) for cell in cells]),
        seconds=np.zeros(len(cells)),
        device="cpu",
    )


def reports(done: Comparison) -> list[ComparisonReport]:
    """What it has reported on its way."""
    rows = zip(done.updates.tolist(), done.accuracy, done.loss, done.log10_gradients, strict=True)
    return [ComparisonReport(row[0], done.settings.updates, *row[1:]) for row in rows]


def _slopes(cell: str, seed: int) -> np.ndarray:
    return bptt.reach(Experiment(cell, 10, 6, seed=seed)).norms.hidden


def longest_delay() -> LongestDelay:
    """As if a search had ended at a delay of 10, the RNN falling out at 5 (made up as above)."""
    accuracy = np.array([[1.0, 1, 1], [0.96, 1, 0.9975], [0.3, 0.98, 1], [np.nan, 0.5, 0.7]])
    tried, learned = np.isfinite(accuracy), accuracy >= LEARNED
    delays = np.array([1, 2, 5, 10])
    return LongestDelay(
        settings=RecallSettings(delay=10, updates=60),
        delays=delays,
        tried=tried,
        learned=learned,
        updates=np.where(tried, 60, 0),
        accuracy=accuracy,
        longest=(delays[:, None] * learned).max(axis=0),
        seconds=np.zeros(3),
        device="cpu",
    )


def delays_so_far() -> list[LongestDelayReport]:
    """Two reports on a delay of 1, which all have learned, and one on 2, the RNN being slow."""
    one, none, all_ = np.array([0.2, 1, 1]), np.array([0, 1, 1]), np.ones(3, int)
    return [
        LongestDelayReport(1, 5, 60, one, none, 0.02),
        LongestDelayReport(1, 30, 60, np.ones(3), all_, 0.06),
        LongestDelayReport(2, 5, 60, np.array([0.2, 0.9, 0.5]), all_, 0.07),
    ]
