"""What a page still says when the reader has gone on to the next lesson changes nothing there.

A slider that comes to rest, a bench that comes near: their messages may reach the server behind
"next lesson". Drawn, they would take the new page for the old one, and the browser would empty it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from seqviz.content import catalog
from testing.protocol import ProtocolClient, run_async
from tests.tiers import first_only

CASES = ((slug, after) for slug in ("ar_fitting", "gates") for after in ("under way", "ended"))


async def _pages(student: ProtocolClient, silence: float = 1.5, maximum: int = 9) -> list[str]:
    """Hashes of the pages whose runs begin, until nothing more comes or so many have."""
    results = []
    with suppress(TimeoutError):
        while len(results) < maximum:
            async with asyncio.timeout(silence):
                message = await student._receive()
            student._take(message)
            if message.WhichOneof("type") == "new_session":
                results.append(message.new_session.page_script_hash)
    return results


@pytest.mark.parametrize(("slug", "after"), CASES)
def test_late_message_never_reruns_previous_page(server, slug, after):
    async def lesson() -> list[str]:
        async with ProtocolClient(server.url, slug) as student:
            await student.open()
            if slug == "gates":
                await student.scroll("watch")  # the first that others follow
            onward = WidgetState(id=student.widgets["go.next"].id, trigger_value=True)
            rests = next(
                widget for key, widget in student.widgets.items() if key.endswith(".debounce")
            )
            message = '[{"event": "commit", "value": []}]'
            state = WidgetState(id=rests.events, json_trigger_value=message)
            late = student.request([state], rests.fragment)  # a press is said once
            await student.socket.send(student.request([onward]))
            observed = await _pages(student, maximum=9 if after == "ended" else 1)
            await student.socket.send(late)
            observed += await _pages(student)
            assert not student.errors
            return observed

    left, *later = run_async(lesson())
    assert later
    assert left not in later


@pytest.mark.parametrize("whole", first_only([False, True]))
def test_fragment_ids_are_unique_across_lessons(server, whole):
    """A name that two had would let a message of one draw in the other.

    By day those that are there as a page opens; by night those of all benches, too.
    """

    async def fragments(slug: str) -> set[str]:
        async with ProtocolClient(server.url, slug) as student:
            await student.open()
            if whole:
                await student.whole()
            return {widget.fragment for widget in student.widgets.values() if widget.fragment}

    results = [run_async(fragments(lesson.slug)) for lesson in catalog.LESSONS]
    assert all(results)
    assert sum(map(len, results)) == len(set().union(*results))
