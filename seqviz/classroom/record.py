"""What is left of a lecture: a copy of what a room holds, and the table that is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqviz.classroom.drawn_predictions import DrawnPredictions
from seqviz.classroom.poll import Poll
from seqviz.classroom.seed_experiment import SeedExperimentRun


@dataclass(frozen=True)
class RoomSummary:
    """A copy that another thread may read while the room goes on.

    Attributes:
        seats: how many there are.
        ballots: questions with their votes, in the order in which they were put.
        sketches: drawn questions, likewise.
        sent: what students have sent, as in `room.shows`.
        texts: those on the board.
        goals: how many have reached which goal.
        runs: benches that the class has run.
    """

    seats: int
    ballots: Sequence[Poll]
    sketches: Sequence[DrawnPredictions]
    sent: Sequence[Mapping[str, Any]]
    texts: Sequence[Mapping[str, Any]]
    goals: Mapping[str, int]
    runs: Sequence[SeedExperimentRun]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it, without seats."""
        return {
            "seats": self.seats,
            "questions": [
                {
                    "key": ballot.key,
                    "options": ballot.options,
                    "counts": ballot.counts(),
                    "flow": ballot.flow(),
                }
                for ballot in self.ballots
            ],
            "sketches": [
                {
                    "key": sketch.key,
                    "kind": sketch.kind,
                    "most": [*sketch.limits],
                    "drawn": sketch.cloud,
                }
                for sketch in self.sketches
            ],
            "sent": [dict(position) for position in self.sent],
            "texts": [dict(text) for text in self.texts],
            "goals": dict(self.goals),
            "runs": [run.summary() for run in self.runs],
        }
