"""Stand-ins that several tests need: a clock, a client, and a scheduler on a simulated clock."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.ui.runtime import scheduler as module
from seqviz.ui.runtime.scheduler import Priority, Scheduler, Ticket

TICK = 0.01


class FakeClock:
    """A clock that stands still until a test sets `now` (seconds)."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass
class FakeClient:
    """A client of the scheduler: what it has used lately, and what its next turn will take."""

    recent_cpu_s: float = 0.0
    turn: float = 0.0

    def expected_cpu_s(self, _rank: Priority, /) -> float:
        return self.turn


class SchedulerSimulator:
    """A scheduler on a simulated clock; a ticket takes its seconds, and its client is charged."""

    def __init__(self) -> None:
        self.order, self.now = Scheduler(), 0.0
        self.seconds: dict[Ticket, float] = {}
        self.ends: dict[Ticket, float] = {}
        self.let_in: list[Ticket] = []
        self.together: list[list[Priority]] = []

    def enqueue(
        self, rank: Priority, seconds: float = 0.05, user: FakeClient | None = None
    ) -> Ticket:
        ticket = Ticket(rank, self.now, user or FakeClient())
        self.seconds[ticket] = seconds
        self.order.enqueue(ticket)
        self._enter()
        return ticket

    def tick(self, step: float = TICK) -> None:
        self.now += step
        for item in [o for o in self.order.drawing if self.ends[o] <= self.now + 1e-9]:
            self.order.release(item)
            item.user.recent_cpu_s += self.seconds[item]
            self._enter()
        self._enter()

    def run(self, maximum: float = 1000.0) -> None:
        while self.order.waiting or self.order.drawing:
            old = [t + module.OVERLAP_AFTER_S for t in self.order.drawing.values()]
            then = [t for t in (*old, *map(self.ends.get, self.order.drawing)) if t > self.now]
            self.tick(max(1e-6, min(then, default=self.now) - self.now))
            assert self.now < maximum

    def waited(self, ticket: Ticket) -> float:
        return self.ends[ticket] - self.seconds[ticket] - ticket.enqueued_at

    def _enter(self) -> None:
        for ticket in self.order.dispatch(self.now):
            self.ends[ticket] = self.now + self.seconds[ticket]
            self.let_in.append(ticket)
            self.together.append([other.rank for other in self.order.drawing])
