"""What a training reports on the way, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.positions.tiny.settings import OrderSettings
from seqviz.compute.positions.tiny.tasks import LetterExamples
from seqviz.compute.training.loop import TrainingRecord
from seqviz.core.units import Share
from seqviz.stats.proportions import Proportion

TEST_SEQUENCES = 1000  # an accuracy of 0.5 then has an interval of 0.03 to either side
EXAMPLES = 8  # of these, are part of the result with all answers


@dataclass(frozen=True)
class OrderReport(TrainingRecord):
    """Where a training stands after `update` of `total` updates.

    accuracy: share of right answers on the sequences of the updates since the last report, each
    answered before it was learned from; nan at update 0. Encodings in the order of the settings.
    """

    accuracy: Float[np.ndarray, "encoding run"]


@dataclass(frozen=True)
class TaskScores:
    """Accuracy on 1,000 sequences of `length` letters, the same for all networks.

    accuracy: share of right answers over all slots; nan where a network cannot read so long a
    sequence (a learned table has no rows there). In its 95% intervals sequences count as the
    independent trials, not slots: exact for tasks with one answer; for the others, whose answers
    within one sequence go right and wrong together, at least as wide as they must be.
    baseline: the best expected accuracy without reading, see `tasks.chance`. order_blind: the best
    expected accuracy without encoding and mask, see `tasks.order_blind`.
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
    """What came out; encodings in the order of the settings.

    updates, curve: the reports on the way. test: on sequences as long as those of the training,
    which were kept out of it except for `count`. longer: on sequences twice as long (and for
    `count` with no more a than a training sequence can have). examples: the first 8 test
    sequences; given: what each network answers there. parameters: trainable numbers of a network.
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
        """Share of right answers on the test sequences, mean over the runs."""
        return float(self.test.mean[self.settings.encodings.index(encoding)])

    def right_longer(self, encoding: str) -> Share:
        """The same on the sequences twice as long."""
        return float(self.longer.mean[self.settings.encodings.index(encoding)])

    @property
    def best_longer(self) -> str:
        """The encoding with the most right answers on the sequences twice as long."""
        return self.settings.encodings[int(np.nanargmax(self.longer.mean))]

    @property
    def keepers(self) -> tuple[str, ...]:
        """Encodings that keep at twice the length what they had learned, but for a twentieth.

        Learned: more than can be had without reading or without order, by 5 points.
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
