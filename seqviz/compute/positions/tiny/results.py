"""Progress reports and results of a training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.positions.tiny.settings import OrderSettings
from seqviz.compute.positions.tiny.tasks import LetterExamples
from seqviz.compute.training.loop import TrainingRecord
from seqviz.core.units import Share
from seqviz.stats.proportions import Proportion

TEST_SEQUENCES = 1000  # gives an accuracy of 0.5 an interval of 0.03 to either side
EXAMPLES = 8  # number of these that are part of the result, with all answers


@dataclass(frozen=True)
class OrderReport(TrainingRecord):
    """Progress of a training after `update` of `total` updates.

    Attributes:
        accuracy: share of right answers on the sequences of the updates since the last report, each
            answered before it was learned from; nan at update 0. Encodings in the order of the
            settings.
    """

    accuracy: Float[np.ndarray, "encoding run"]


@dataclass(frozen=True)
class TaskScores:
    """Accuracy on 1,000 sequences of `length` letters, the same for all networks.

    Attributes:
        accuracy: share of right answers over all slots; nan where a network cannot read so long a
            sequence (a learned table has no rows there). In its 95% intervals sequences count as
            the independent trials, not slots: exact for tasks with one answer; for the others, with
            correlated answers within a sequence, conservative.
        baseline: best expected accuracy without reading, see `tasks.chance_accuracy`.
        order_blind: best expected accuracy without encoding and mask, see `tasks.order_blind`.
    """

    length: int
    accuracy: Proportion  # [encoding, run]
    baseline: float
    order_blind: float

    @property
    def mean(self) -> Float[np.ndarray, "encoding"]:
        """Mean accuracy over the runs."""
        return self.accuracy.share.mean(axis=1)


@dataclass(frozen=True)
class OrderResult:
    """Result of a training; encodings in the order of the settings.

    Attributes:
        curve: accuracy at each report.
        test: scores on sequences as long as those of the training, excluded from it except for
            `count`.
        longer: scores on sequences twice as long (for `count` with no more a than a training
            sequence can have).
        examples: the first 8 test sequences.
        given: answers of each network to the examples.
        parameters: number of trainable parameters of a network.
    """

    settings: OrderSettings
    updates: Int[np.ndarray, "report"]
    curve: Float[np.ndarray, "report encoding run"]
    test: TaskScores
    longer: TaskScores
    examples: LetterExamples
    given: Int[np.ndarray, "encoding run example slot"]
    parameters: Int[np.ndarray, "encoding"]
    device: str

    def right(self, encoding: str) -> Share:
        """Return the accuracy on the test sequences, mean over the runs."""
        return float(self.test.mean[self.settings.encodings.index(encoding)])

    def right_longer(self, encoding: str) -> Share:
        """Return the accuracy on the sequences twice as long, mean over the runs."""
        return float(self.longer.mean[self.settings.encodings.index(encoding)])

    @property
    def best_longer(self) -> str:
        """Encoding with the highest accuracy on the sequences twice as long."""
        return self.settings.encodings[int(np.nanargmax(self.longer.mean))]

    @property
    def keepers(self) -> tuple[str, ...]:
        """Encodings that learned the task and keep 95% of their accuracy at twice the length.

        Learned: 5 points above the accuracy without reading and, where the task needs order,
        without order.
        """
        floor = max(self.test.baseline, self.test.order_blind) + 0.05
        if self.test.order_blind == 1:  # a task that needs no order
            floor = self.test.baseline + 0.05
        return tuple(
            encoding
            for encoding in self.settings.encodings
            if self.right(encoding) > floor
            and self.right_longer(encoding) >= 0.95 * self.right(encoding)
        )
