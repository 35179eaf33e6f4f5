"""`benchmarks.room` speaks the protocol of the rooms."""

from __future__ import annotations

import asyncio

from benchmarks import room


def test_room_benchmark_counts_every_vote_and_picture(server):
    result = asyncio.run(room.attend(server, students=3, presses=2, dragging=1, rests=False))
    assert result.errors == []
    assert len(result.votes) == 6
    assert result.pushed == 2 * 3
