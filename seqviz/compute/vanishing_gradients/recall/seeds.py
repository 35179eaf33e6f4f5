"""The same comparison at many seeds, trained side by side.

One small network leaves a processor idle most of the time: its steps come one after another, each
of a few microseconds. The weights of all seeds are stacked, and each step is taken of all of them
(`torch.func.vmap`). The LSTM has a fused kernel, of which PyTorch has no stacked form and which is
faster one seed after another: of thirty seeds on one core, 81 ms an update against 192 ms.
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
    """A job: the accuracy of each cell after the last update, at each seed, in percent.

    A seed draws weights, training and test sequences as `compare` does, and is trained on the same
    batches: what differs is the order in which float32 numbers are added. The seed of the settings
    does not count. Raises UserError "race_diverged" when the loss of any becomes infinite or
    undefined.
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
