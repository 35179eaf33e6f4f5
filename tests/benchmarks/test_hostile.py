"""What `benchmarks.hostile` is made of: legal links, devices, addresses, attacks that happen."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.classroom import Times
from benchmarks.hostile import __main__ as hostile
from benchmarks.hostile import attacks, rooms
from benchmarks.hostile.attacks import Attacker
from seqviz import lessons
from seqviz.lessons.framework.controls import controls
from testing.protocol import ProtocolClient, run_async
from testing.server import serve

PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: device=A7=; Path=/\r\n\r\nhi"
FULL = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize("slug", attacks.COSTLY)
def test_costliest_link_uses_declared_parameters(slug):
    result, other = attacks.costliest(slug), attacks.costliest(slug, 1)
    for bench in getattr(lessons, slug).lesson.benches.values():
        for name, control in controls(bench.declaration):
            if (raw := result.pop(f"{bench.prefix}.{name}", None)) is not None:
                control.parse(raw)
    assert result == {}
    assert other != attacks.costliest(slug)  # another seed, or another text


async def asked(answer: bytes, student: ProtocolClient) -> tuple[list[str], str]:
    """The requests that a student makes of a server that knows one answer, and from where."""
    heads, sources = [], []

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sources.append(writer.get_extra_info("peername")[0])
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                heads.append(head.decode())
                writer.write(answer)
        except asyncio.IncompleteReadError:
            writer.close()

    async with await asyncio.start_server(reply, "127.0.0.1", 0) as server:
        student.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await student._visit()
        await student._visit()
        student._line[1].close()
    (source,) = set(sources)
    return heads, source


def test_attacker_keeps_cookies_and_source_address():
    tab = Attacker("", ["127.0.0.9"], "kept", 1.0).student("gates")
    (first, second), source = run_async(asked(PAGE, tab))
    assert source == "127.0.0.9"
    assert tab.cookies == {"device": "A7="}
    assert "Cookie" not in first
    assert "\r\nCookie: device=A7=\r\n" in second


def test_attacker_cookies_follow_device_mode():
    """Devices of an attacker: kept per address, fresh for each tab, or none at all."""
    retained, fresh, none = (Attacker("", ["", ""], how, 1.0) for how in ("kept", "fresh", "none"))
    item, other, again = (retained.student("gates").cookies for _ in range(3))
    assert item is again
    assert item is not other  # at another address is another device
    assert fresh.student("gates").cookies is not fresh.student("gates").cookies
    assert none.student("gates").cookies is None


def test_protocol_client_raises_on_503():
    with pytest.raises(ConnectionRefusedError, match="503"):
        run_async(asked(FULL, ProtocolClient("", "gates", cookies={})))


def test_chosen_matches_row_prefixes():
    assert hostile.chosen(["links", "class 300"]) == [
        "links 1", "links 10", "links 10 anew", "class 300",
    ]  # fmt: skip
    assert set(hostile.chosen([])) == {*hostile.ROWS, "class 150", *rooms.ROWS}
    with pytest.raises(SystemExit, match="There is no link"):
        hostile.chosen(["link"])


def test_figures_measures_page_wait_and_missing_pictures():
    times = Times(presses=[0.2, 0.4], rests=[0.1, 0.5], pictures=1, errors=["dropped"])
    result = hostile.figures(times)
    assert (result["p50_ms"], result["page_p95_ms"]) == (300.0, 390.0)
    assert (result["without_picture"], result["errors"]) == (1, 1)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", ["embeds", "exports", "notebooks", "sockets", "texts", "trainings"]
)
def test_attack_performs_its_action_on_live_server(name):
    """Every attack really happens, and the server stays healthy."""
    with serve(environment={"HF_HUB_OFFLINE": "1"}) as server:
        attacker = Attacker(server.url, ["127.0.0.7"], "kept", 30.0)
        did = attacks.begin(hostile.ROWS[name].attacks[name], attacker)
        assert server.healthy(30.0)
    assert sum(count for what, count in did.items() if not what.endswith("Error")) > 0, did
