"""`benchmarks.room` speaks the protocol of the rooms."""

from __future__ import annotations

import asyncio

from benchmarks import room


def test_room_benchmark_counts_every_vote_and_compares_every_picture(server):
    found = asyncio.run(room.attend(server, students=3, presses=2, dragging=1, rests=False))
    assert found.errors == []
    assert len(found.votes) == 6
    assert found.pushed == 2 * 3
