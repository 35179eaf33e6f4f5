"""A question put to a class: votes in two rounds, hidden until they are revealed.

Vote, talk, vote again (Crouch and Mazur, 2001, "Peer instruction", American Journal of Physics 69):
between the rounds nothing is shown, and afterwards the flow from the first answers to the second.
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
    """key: of the question. options: how many answers it has. number: as of `Sketches`. votes: of
    each round, by seat. devices: who of them has voted, where devices are told apart: the seat of
    each, a round.
    """

    key: str
    options: int
    number: int = 1
    state: State = "open"
    votes: list[dict[int, int]] = field(default_factory=lambda: [{}])
    devices: list[dict[str, int]] = field(default_factory=lambda: [{}])

    @property
    def round(self) -> int:
        """1 or 2."""
        return len(self.votes)

    def vote(self, seat: int, option: int, device: str = "") -> bool:
        """Count a vote; a seat may change its own until the round is closed.

        A device that can be told apart has one vote: that of the tab that voted last.

        Returns False where the round is not open or there is no such answer.
        """
        if self.state != "open" or not 0 <= option < self.options:
            return False
        self._count(self.round, seat, option, device)
        return True

    def recall(self, round_: int, seat: int, option: int, device: str = "") -> bool:
        """Count a vote again that a server has forgotten; one that is counted stays as it is."""
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
        """No more votes in this round."""
        if self.state == "open":
            self.state = "closed"

    def reopen(self) -> bool:
        """Open the second round. Returns False where there has been one, or all is revealed."""
        if self.state == "revealed" or self.round == ROUNDS:
            return False
        self.votes.append({})
        self.devices.append({})
        self.state = "open"
        return True

    def reveal(self) -> None:
        """Show what was voted."""
        self.state = "revealed"

    def counts(self) -> list[list[int]]:
        """How often each answer was given, a list a round."""
        return [tally(votes.values(), self.options) for votes in self.votes]

    def flow(self) -> list[list[int]] | None:
        """How many went from each answer (row) to each (column), of who voted twice; else None."""
        if self.round < ROUNDS:
            return None
        first, second = self.votes
        pairs = Counter((first[seat], to) for seat, to in second.items() if seat in first)
        return [[pairs[a, b] for b in range(self.options)] for a in range(self.options)]


def tally(votes: Iterable[int], options: int) -> list[int]:
    """How often each of the answers 0, 1, ... was given."""
    counted = Counter(votes)
    return [counted[option] for option in range(options)]
