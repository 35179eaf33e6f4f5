"""`RoomSummary`: a copy of a room's content for export after a lecture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqviz.classroom.drawn_predictions import DrawnPredictions
from seqviz.classroom.poll import Poll
from seqviz.classroom.seed_experiment import SeedExperimentRun


@dataclass(frozen=True)
class RoomSummary:
    """A copy of a room's content that another thread can read while the room continues.

    Attributes:
        seats: number of seats.
        ballots: polls with their votes, in the order of asking.
        sketches: drawn predictions, in the order of asking.
        sent: locations that students have sent (see `room.shows`).
        texts: the approved texts.
        goals: number of seats that reached each target.
        runs: seed experiments of the room.
    """

    seats: int
    ballots: Sequence[Poll]
    sketches: Sequence[DrawnPredictions]
    sent: Sequence[Mapping[str, Any]]
    texts: Sequence[Mapping[str, Any]]
    goals: Mapping[str, int]
    runs: Sequence[SeedExperimentRun]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as JSON values, without seats."""
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
