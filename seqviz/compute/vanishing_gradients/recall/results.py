"""What training the cells side by side reports on its way, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.training.loop import TrainingRecord
from seqviz.compute.vanishing_gradients.recall.settings import RecallSettings
from seqviz.core.units import Share


@dataclass(frozen=True)
class ComparisonReport(TrainingRecord):
    """Where it stands after `update` of `total` updates; cells in the order of the settings.

    accuracy and loss: on the test sequences. log10_gradients: log10 |dJ/dh_t|, t = 1 ... T.
    """

    accuracy: Float[np.ndarray, "cell"]
    loss: Float[np.ndarray, "cell"]
    log10_gradients: Float[np.ndarray, "cell time"]


@dataclass(frozen=True, kw_only=True)
class ByCell:
    """A training of several cells, in the order of the settings.

    seconds: time spent in the updates of each.
    """

    settings: RecallSettings
    seconds: Float[np.ndarray, "cell"]
    device: str

    def cell_index(self, cell: str) -> int:
        """Where a cell stands in arrays over cells."""
        return self.settings.cells.index(cell)


@dataclass(frozen=True, kw_only=True)
class CellComparison(ByCell):
    """All reports of a comparison, and what came out.

    updates: how many had been made at each report, the first being 0, before any. accuracy: share
    of right answers on 400 test sequences, the same ones at every report and for all cells, on
    which none is trained. loss: mean cross-entropy in nats or squared error on these.
    log10_gradients: log10 |dJ/dh_t|, t = 1 ... T, of the mean loss of 32 of them, the norm taken
    over sequences and units together; -inf where the gradient is exactly zero. learned: whether the
    accuracy reached `LEARNED` at some report; first_learned_update: at which one, -1 for none.
    parameters: number of trainable ones.
    """

    updates: Int[np.ndarray, "report"]
    accuracy: Float[np.ndarray, "report cell"]
    loss: Float[np.ndarray, "report cell"]
    log10_gradients: Float[np.ndarray, "report cell time"]
    learned: Bool[np.ndarray, "cell"]
    first_learned_update: Int[np.ndarray, "cell"]
    parameters: Int[np.ndarray, "cell"]

    def accuracy_at_end(self, cell: str) -> Share:
        """Of one cell, after the last update."""
        return float(self.accuracy[-1, self.cell_index(cell)])

    def learned_at(self, cell: str) -> int | None:
        """The update at which one cell had learned it, or None."""
        first = int(self.first_learned_update[self.cell_index(cell)])
        return first if first >= 0 else None


@dataclass(frozen=True)
class LongestDelayReport:
    """Where the search stands: at which delay, after how many of the updates allowed there.

    accuracy: of each cell at this delay when last tested; nan for a cell that failed before.
    longest: the longest delay each cell has learned so far, 0 for none. fraction: share of the
    work done if no cell learned or failed from here on, in [0, 1].
    """

    delay: int
    update: int
    budget: int
    accuracy: Float[np.ndarray, "cell"]
    longest: Int[np.ndarray, "cell"]
    fraction: float


@dataclass(frozen=True, kw_only=True)
class LongestDelay(ByCell):
    """How far each cell came.

    tried, learned: at which delays a cell was trained, and where it reached `LEARNED`. updates:
    made there, up to the test that ended it; 0 where it was not tried. accuracy: at that test, nan
    where it was not tried. longest: the longest delay learned, 0 for none.
    """

    delays: Int[np.ndarray, "rung"]
    tried: Bool[np.ndarray, "rung cell"]
    learned: Bool[np.ndarray, "rung cell"]
    updates: Int[np.ndarray, "rung cell"]
    accuracy: Float[np.ndarray, "rung cell"]
    longest: Int[np.ndarray, "cell"]

    def longest_of(self, cell: str) -> int | None:
        """The longest delay that one cell has learned, or None."""
        return int(self.longest[self.cell_index(cell)]) or None
