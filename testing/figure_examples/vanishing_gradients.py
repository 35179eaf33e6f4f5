"""Examples of figures of gradients through time, with small seeded networks."""

from __future__ import annotations

import numpy as np

from seqviz.compute import vanishing_gradients as gradients
from seqviz.compute.vanishing_gradients import GradientExperiment
from seqviz.compute.vanishing_gradients.recall.results import (
    CellComparison,
    ComparisonReport,
    LongestDelay,
    LongestDelayReport,
)
from seqviz.compute.vanishing_gradients.recall.settings import RecallSettings
from seqviz.compute.vanishing_gradients.recall.tasks import LEARNED
from seqviz.figures.vanishing_gradients import (
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
from testing.fake import fake
from testing.figure_examples import Example

HOSTILE = "<b>a</b> b %{x} & c"


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    return (*_of_reaches(), *_of_pairs(), *_of_backward(), *_of_truncation(), *_of_training())


def _of_reaches() -> tuple[Example, ...]:
    cells = ("linear", "rnn", "relu", "lstm", "gru")
    every = [gradients.reach(GradientExperiment(cell, 30, 6)) for cell in cells]
    sentence = GradientExperiment("gru", signal="sentence", sentence=HOSTILE, width=6)
    read = gradients.reach(sentence)
    far = gradients.reach(GradientExperiment("linear", 300, 6, gain=2.0))
    wide, shared = (gradients.spectrum("gaussian", 6, gain, 1) for gain in (2.0, 1.0))
    slow, still = (
        gradients.simplified_gru(update, 0.7, "gaussian", 8, 1.2, 1, 20) for update in (0.1, 0.0)
    )
    return (
        Example("reach of all cells", norms.gradient_reach, (cells, every, shared),
                every[3].horizon),
        Example("reach over a sentence", norms.gradient_reach, (("gru",), (read,), shared),
                read.horizon),
        Example("reach beyond float32", norms.gradient_reach, (("linear",), (far,), wide),
                far.horizon),
        Example("gates that do not change", simplified_gru.gated_jacobian, (slow, 0.1, 0.7), 0.1),
        Example("a gate that keeps all", simplified_gru.gated_jacobian, (still, 0.0, 0.7), 0.7),
    )  # fmt: skip


def _of_pairs() -> tuple[Example, ...]:
    def pair(cell: str, part: str) -> Example:
        experiment, shared = (
            GradientExperiment(cell, 30, 8),
            gradients.spectrum("gaussian", 8, 1.0, 1),
        )
        every = gradients.pair_norms(experiment, part)
        item = gradients.pair_spectrum(experiment, 5, 20, part)
        args = every, item, 5, 20, cell, shared
        return Example(f"pairs of steps, {cell}", pairs.pair_map, args, 20)

    return pair("rnn", "hidden"), pair("lstm", "cell_state")


def _of_backward() -> tuple[Example, ...]:
    result = gradients.paths(GradientExperiment("linear", 6, 4, gain=0.8, loss="mean"), 2)
    back = gradients.recursion(GradientExperiment("rnn", 4, 2, loss="mean"))
    total = float(result.along(result.terms).sum())
    sizes = np.linalg.norm(back.total, axis=1)
    kinds = (("linear", "last"), ("rnn", "mean"), ("linear", "last"))
    return (
        *(
            Example(f"gradient of {matrix} by step", weights.weights_by_step,
                    (gradients.weight_steps(GradientExperiment(cell, 8, 4, loss=loss), matrix),
                     matrix, 7), 8)
            for matrix, (cell, loss) in zip(gradients.MATRICES, kinds, strict=True)
        ),
        Example("paths of the errors", paths.path_bars, (result,), total),
        Example("paths as printed", paths.path_bars, (result, True), total),
        Example("backward, nothing yet", paths.unrolled_graph, (back, 0), 4),
        Example("backward, one step", paths.unrolled_graph, (back, 1), sizes[3]),
        Example("backward, all steps", paths.unrolled_graph, (back, 4), sizes[0]),
    )  # fmt: skip


def _of_truncation() -> tuple[Example, ...]:
    experiment = GradientExperiment("rnn", 20, 8, loss="mean")
    curve, parts = gradients.truncation(experiment), gradients.truncation(experiment, "segments")
    kept, segments = gradients.terms(experiment, 5), gradients.terms(experiment, 20, "segments")
    samples = gradients.randomized(experiment, 0.2, 64)
    free, clipped = (gradients.descend("linear", 1.0, theta, updates=20) for theta in (None, 1.0))
    calm = gradients.descend("tanh", 0.9, None, updates=8)
    thrown, held = (gradients.walk(5.0, -2.5, theta, 0.1, 70) for theta in (None, 1.0))
    return (
        Example("terms kept and lost", truncation.kept_and_lost, (kept, curve, 5), curve.length[4]),
        Example("no term lost", truncation.kept_and_lost, (segments, parts, 20), parts.length[19]),
        Example("mean of random truncations", truncation.mean_of_draws, (samples,), samples.fixed),
        Example("a cliff", cliff.cliff, (gradients.surface(), thrown, held, 1.0), held.last_error),
        Example("clipping", clipping.with_and_without_clipping, (free, clipped, 1.0),
                clipped.loss[-1]),
        Example("clipping that is not needed", clipping.with_and_without_clipping,
                (calm, calm, 10.0), calm.loss[-1]),
    )  # fmt: skip


def _of_training() -> tuple[Example, ...]:
    race, search = race_of(), search_of()
    begun, settings = reports(race)[:3], race.settings
    return (
        Example("accuracy in a race", recall.race_course, (race,), int(race.updates[-1])),
        Example("accuracy while they train", recall.race_progress, (begun, settings),
                begun[-1].update),
        Example("longest delay learned", recall.accuracy_by_delay, (search,),
                int(search.longest[0])),
        Example("longest delay so far", recall.accuracy_by_delay_progress,
                (rungs(search)[:2], settings), int(search.delays[1])),
    )  # fmt: skip


def race_of(**sizes: int) -> CellComparison:
    """Return a comparison of three cells at the default settings, with these further sizes."""
    updates = np.arange(0, 601, 100)
    return fake(CellComparison, settings=RecallSettings(), updates=updates, cell=3, **sizes)


def search_of() -> LongestDelay:
    """Return a search with three cells, two of which fail at a delay and skip longer ones."""
    delays = np.array([1, 2, 5])
    accuracy = np.array([[1, 1, 1], [0.5, 1, 1], [np.nan, 0.6, 1]])
    learned = accuracy >= LEARNED
    return fake(
        LongestDelay, settings=RecallSettings(), delays=delays, accuracy=accuracy,
        tried=np.isfinite(accuracy), learned=learned, longest=(delays[:, None] * learned).max(0),
    )  # fmt: skip


def reports(done: CellComparison) -> list[ComparisonReport]:
    """Return the progress reports of a comparison."""
    rows = zip(done.updates.tolist(), done.accuracy, done.loss, done.log10_gradients, strict=True)
    return [ComparisonReport(row[0], done.settings.updates, *row[1:]) for row in rows]


def rungs(done: LongestDelay) -> list[LongestDelayReport]:
    """Return the last report on each delay."""
    longest = np.maximum.accumulate(done.delays[:, None] * done.learned)
    return [
        LongestDelayReport(
            delay, int(done.updates[rung].max()), done.settings.updates, done.accuracy[rung],
            longest[rung], float(done.delays[: rung + 1].sum() / done.delays.sum()),
        )
        for rung, delay in enumerate(done.delays.tolist())
    ]  # fmt: skip
