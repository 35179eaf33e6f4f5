"""One comparison at many seeds, trained side by side.

One small network leaves a processor idle most of the time, because its steps are sequential and
take a few microseconds each. So the weights of all seeds are stacked, and each step runs on all of
them (`torch.func.vmap`). The LSTM has a fused kernel without a stacked form, which is faster one
seed after another: for thirty seeds on one core, 81 ms an update against 192 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from seqviz.compute.training.loop import TrainingRecord
from seqviz.compute.training.progress import Pulse
from seqviz.compute.vanishing_gradients.recall.comparison import TRAIN, held_out, stream
from seqviz.compute.vanishing_gradients.recall.settings import RecallSettings
from seqviz.compute.vanishing_gradients.recall.tasks import draw


def compare_seeds(
    seeds: Sequence[int],
    settings: RecallSettings,
    report: Callable[[TrainingRecord], None] | None = None,
) -> Float[np.ndarray, "seed cell"]:
    """Return the accuracy of each cell after the last update, at each seed, in percent.

    This is a job. A seed draws weights, training and test sequences as `compare` does, and is
    trained on the same batches; only the order in which float32 numbers are added differs.

    Args:
        seeds: the seeds.
        settings: task, cells and training; their seed is ignored.
        report: called after every update; may raise to stop.

    Raises:
        UserError: "race_diverged" if any loss becomes infinite or undefined.
    """
    from seqviz.compute.vanishing_gradients.recall.stacked import Stacked

    each = [replace(settings, seed=seed) for seed in seeds]
    networks = [Stacked(cell, each) for cell in settings.cells]
    batches = [stream(item, TRAIN) for item in each]
    pulse = Pulse(report)
    for update in range(settings.updates):
        rendered = [draw(settings.task, settings.delay, settings.batch, batch) for batch in batches]
        for network in networks:
            network.update(rendered)
            pulse.beat()
        pulse.report(TrainingRecord(update + 1, settings.updates))
    tests = [held_out(item, settings.delay) for item in each]
    return 100 * np.array([network.test(tests) for network in networks]).T
