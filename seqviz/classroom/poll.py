"""A poll of a class: two rounds of votes, hidden until they are revealed.

Students vote, discuss and vote again. Nothing is shown between the rounds; afterwards, the flow
from first to second answers is shown.

References:
    Crouch and Mazur (2001), Peer instruction: Ten years of experience and results, American Journal
        of Physics 69.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

State = Literal["open", "closed", "revealed"]
ROUNDS = 2


@dataclass
class Poll:
    """A question with fixed options, and its votes.

    Attributes:
        key: key of the question.
        options: number of options.
        number: number of this question in the room, counted from 1 together with drawn predictions.
        state: "open", "closed" or "revealed".
        votes: for each round, option by seat.
        devices: for each round, the voting seat by device, for devices that can be distinguished.
    """

    key: str
    options: int
    number: int = 1
    state: State = "open"
    votes: list[dict[int, int]] = field(default_factory=lambda: [{}])
    devices: list[dict[str, int]] = field(default_factory=lambda: [{}])

    @property
    def round(self) -> int:
        """The current round, 1 or 2."""
        return len(self.votes)

    def vote(self, seat: int, option: int, device: str = "") -> bool:
        """Count a vote; a seat may change it until the round is closed.

        A device that can be distinguished has one vote: that of the tab that voted last. Returns
        False if the round is not open or the option does not exist.

        Args:
            seat: the voting seat.
            option: the option, counted from 0.
            device: identifies the device; "" where it cannot be distinguished.
        """
        if self.state != "open" or not 0 <= option < self.options:
            return False
        self._count(self.round, seat, option, device)
        return True

    def recall(self, round_: int, seat: int, option: int, device: str = "") -> bool:
        """Restore a vote that a restarted server has lost; a counted vote is not replaced.

        Returns False if the round or the option does not exist.
        """
        if not (1 <= round_ <= self.round and 0 <= option < self.options):
            return False
        if seat not in self.votes[round_ - 1] and device not in self.devices[round_ - 1]:
            self._count(round_, seat, option, device)
        return True

    def _count(self, round_: int, seat: int, option: int, device: str) -> None:
        votes = self.votes[round_ - 1]
        if device:
            before = self.devices[round_ - 1].get(device, seat)
            if before != seat:
                votes.pop(before, None)
            self.devices[round_ - 1][device] = seat
        votes[seat] = option

    def close(self) -> None:
        """Accept no more votes in this round."""
        if self.state == "open":
            self.state = "closed"

    def reopen(self) -> bool:
        """Open the second round; return False if it was opened before, or the poll is revealed."""
        if self.state == "revealed" or self.round == ROUNDS:
            return False
        self.votes.append({})
        self.devices.append({})
        self.state = "open"
        return True

    def reveal(self) -> None:
        """Reveal the votes."""
        self.state = "revealed"

    def counts(self) -> list[list[int]]:
        """Return the number of votes of each option, one list per round."""
        return [tally(votes.values(), self.options) for votes in self.votes]

    def flow(self) -> list[list[int]] | None:
        """Return the number of voters from each first (row) to each second option (column).

        Only seats that voted twice are counted. Returns None before the second round.
        """
        if self.round < ROUNDS:
            return None
        first, second = self.votes
        pairs = Counter((first[seat], to) for seat, to in second.items() if seat in first)
        return [[pairs[a, b] for b in range(self.options)] for a in range(self.options)]


def tally(votes: Iterable[int], options: int) -> list[int]:
    """Return the number of votes of each option 0, 1, ..."""
    counted = Counter(votes)
    return [counted[option] for option in range(options)]
