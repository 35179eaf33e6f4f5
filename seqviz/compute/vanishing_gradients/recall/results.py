"""Reports and results of training the cells side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.training.loop import TrainingRecord
from seqviz.compute.vanishing_gradients.recall.settings import RecallSettings
from seqviz.core.units import Share


@dataclass(frozen=True)
class ComparisonReport(TrainingRecord):
    """Progress of a comparison after `update` of `total` updates; cells in the settings' order.

    Attributes:
        accuracy: accuracy on the test sequences.
        loss: loss on the test sequences.
        log10_gradients: log10 |dJ/dh_t|, t = 1 ... T.
    """

    accuracy: Float[np.ndarray, "cell"]
    loss: Float[np.ndarray, "cell"]
    log10_gradients: Float[np.ndarray, "cell time"]


@dataclass(frozen=True, kw_only=True)
class ByCell:
    """Training of several cells, in the order of the settings.

    Attributes:
        seconds: time of each cell's updates.
    """

    settings: RecallSettings
    seconds: Float[np.ndarray, "cell"]
    device: str

    def cell_index(self, cell: str) -> int:
        """Return the index of a cell in arrays over cells."""
        return self.settings.cells.index(cell)


@dataclass(frozen=True, kw_only=True)
class CellComparison(ByCell):
    """All reports of a comparison, and its results.

    Attributes:
        updates: number of updates at each report, from 0.
        accuracy: share of correct answers on 400 test sequences, the same at every report and for
            all cells, on which none is trained.
        loss: mean cross-entropy in nats, or squared error, on these.
        log10_gradients: log10 |dJ/dh_t|, t = 1 ... T, of the mean loss of 32 of them, the norm
            taken over sequences and units together; -inf where the gradient is exactly zero.
        learned: True where the accuracy reached `LEARNED` at some report.
        first_learned_update: number of updates at the first such report, -1 for none.
        parameters: number of trainable parameters.
    """

    updates: Int[np.ndarray, "report"]
    accuracy: Float[np.ndarray, "report cell"]
    loss: Float[np.ndarray, "report cell"]
    log10_gradients: Float[np.ndarray, "report cell time"]
    learned: Bool[np.ndarray, "cell"]
    first_learned_update: Int[np.ndarray, "cell"]
    parameters: Int[np.ndarray, "cell"]

    def accuracy_at_end(self, cell: str) -> Share:
        """Return the accuracy of a cell after the last update."""
        return float(self.accuracy[-1, self.cell_index(cell)])

    def learned_at(self, cell: str) -> int | None:
        """Return the number of updates at which a cell had learned the task, or None."""
        first = int(self.first_learned_update[self.cell_index(cell)])
        return first if first >= 0 else None


@dataclass(frozen=True)
class LongestDelayReport:
    """Progress of the search: delay, and number of the updates allowed there.

    Attributes:
        update: number of updates at this delay.
        budget: largest number of updates at one delay.
        accuracy: accuracy of each cell at this delay when last tested; nan for a cell that failed
            before.
        longest: longest delay that each cell has learned so far, 0 for none.
        fraction: share of the work done if no cell learned or failed from here on, in [0, 1].
    """

    delay: int
    update: int
    budget: int
    accuracy: Float[np.ndarray, "cell"]
    longest: Int[np.ndarray, "cell"]
    fraction: float


@dataclass(frozen=True, kw_only=True)
class LongestDelay(ByCell):
    """Results of each cell at each delay.

    Attributes:
        delays: the delays, in increasing order.
        tried: True where a cell was trained.
        learned: True where it reached `LEARNED`.
        updates: number of updates up to the test that ended the run; 0 where not tried.
        accuracy: accuracy at that test; nan where not tried.
        longest: longest delay that each cell learned, 0 for none.
    """

    delays: Int[np.ndarray, "rung"]
    tried: Bool[np.ndarray, "rung cell"]
    learned: Bool[np.ndarray, "rung cell"]
    updates: Int[np.ndarray, "rung cell"]
    accuracy: Float[np.ndarray, "rung cell"]
    longest: Int[np.ndarray, "cell"]

    def longest_of(self, cell: str) -> int | None:
        """Return the longest delay that a cell has learned, or None."""
        return int(self.longest[self.cell_index(cell)]) or None
