"""Longest delay that each cell learns, by comparisons at increasing delays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from seqviz.compute.training.loop import run
from seqviz.compute.training.progress import Pulse
from seqviz.compute.vanishing_gradients.recall.comparison import TRAIN, held_out, stream
from seqviz.compute.vanishing_gradients.recall.results import LongestDelay, LongestDelayReport
from seqviz.compute.vanishing_gradients.recall.settings import RecallSettings
from seqviz.compute.vanishing_gradients.recall.tasks import LEARNED, draw

DELAYS = (1, 2, 5, 10, 20, 50, 100, 200)


def find_longest_delay(
    settings: RecallSettings,
    report: Callable[[LongestDelayReport], None] | None = None,
    device: str = "cpu",
) -> LongestDelay:
    """Train every cell at the delays of `DELAYS` up to `settings.delay`, until it fails at one.

    Each delay is a separate run with newly drawn weights, so that nothing learned at a shorter
    delay helps (that would be a curriculum). At one delay the cells see the same batches. A cell is
    done with it once its accuracy on the test sequences reaches `LEARNED`, and out if
    `settings.updates` updates were not enough. The result therefore says what a cell learns within
    this many updates, with these settings and this seed, not what it can represent.

    With `delay=200, updates=800` and otherwise default settings (24 to 35 seconds on one core), for
    seeds 0 to 4, the RNN reached 10, 5, 5, 5 and 10, the LSTM 100, 100, 200, 200 and 200 and the
    GRU 200 every time.

    Args:
        settings: task, cells, training and largest delay.
        report: as in `compare`.
        device: torch device.

    Raises:
        UserError: as `compare`.
    """
    from seqviz.compute.vanishing_gradients.recall.runners import CellTrainer

    delays = np.array([delay for delay in DELAYS if delay <= settings.delay])
    shape = len(delays), len(settings.cells)
    tried, learned = np.zeros(shape, bool), np.zeros(shape, bool)
    updates, accuracy = np.zeros(shape, int), np.full(shape, np.nan)
    longest, seconds = np.zeros(shape[1], int), np.zeros(shape[1])
    pulse = Pulse(report)

    def climb(rung: int, delay: int, remembering: list[int]) -> None:
        here = replace(settings, delay=delay)
        runners = {c: CellTrainer(settings.cells[c], here, device) for c in remembering}
        tried[rung, remembering] = True
        batches, test = stream(settings, TRAIN), held_out(settings, delay)

        def running() -> list[int]:
            return [c for c in remembering if not learned[rung, c]]

        def update(number: int) -> None:
            batch = draw(settings.task, delay, settings.batch, batches)
            for c in running():
                runners[c].update(batch)
                pulse.beat()

        def measure(done: int, new: int) -> LongestDelayReport:
            for c in running():
                accuracy[rung, c] = runners[c].test(test).accuracy
                updates[rung, c] = done
                learned[rung, c] = accuracy[rung, c] >= LEARNED
                pulse.beat()
            longest[learned[rung]] = delay
            share = done / settings.updates if running() else 1.0
            # A step of a sequence costs the same at every delay, so a run costs its delay.
            work = float((delays[:rung].sum() + share * delay) / delays.sum())
            so_far = accuracy[rung].copy(), longest.copy()
            return LongestDelayReport(delay, done, settings.updates, *so_far, work)

        run(update, measure, settings.updates, pulse, stop=lambda record: not running())
        for c, runner in runners.items():
            seconds[c] += runner.seconds

    remembering = list(range(shape[1]))
    for rung, delay in enumerate(delays.tolist()):
        if remembering:
            climb(rung, delay, remembering)
            remembering = [c for c in remembering if learned[rung, c]]
    return LongestDelay(
        settings=settings, delays=delays, tried=tried, learned=learned, updates=updates,
        accuracy=accuracy, longest=longest, seconds=seconds, device=device,
    )  # fmt: skip
