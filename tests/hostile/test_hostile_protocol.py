"""Messages that no browser of ours sends: the sender may lose the session, nobody else does."""

from __future__ import annotations

import asyncio
import json
import struct
from contextlib import suppress

import pytest
from websockets.exceptions import ConnectionClosed

from testing.protocol import ProtocolClient, Widget, run_async
from tests.tiers import first_only

NAN, INF = float("nan"), float("inf")
SLIDER, STEPS, BUTTONS, SEED, TEXT = (
    "vg.reach.gain.slider", "vg.reach.width.slider", "vg.reach.cells", "vg.reach.seed.slider",
    "vg.reach.sentence",
)  # fmt: skip
SLUG, SENTENCE = "vanishing_gradients", {"vg.reach.signal": "sentence"}
PATIENCE = 120.0
CHART, SETTLE, NEAR = "vg.pairs.chart", "vg.reach.debounce", "vg.lazy"


def student(
    server, parameters=SENTENCE, page: str = SLUG, patience: float = PATIENCE
) -> ProtocolClient:
    return ProtocolClient(server.url, page, parameters, patience)


async def visit(server) -> ProtocolClient:
    async with student(server) as item:
        await item.open()
        await item.whole()
    return item


def check_others_are_served(server) -> None:
    """The process lives, and a new visitor gets a whole page."""
    assert server.healthy(30)
    observed = run_async(visit(server))
    assert not observed.errors
    assert observed.charts >= 5


def doubles(*values: float) -> dict:
    return {"double_array_value": {"data": list(values)}}


def integers(*values: int) -> dict:
    return {"int_array_value": {"data": list(values)}}


def event(name: str, value: object) -> dict:
    return {"json_trigger_value": json.dumps([{"event": name, "value": value}])}


WRONG = [
    (SLIDER, {"string_value": "0.5"}),
    (SLIDER, {"int_value": 2**63 - 1}),
    (SLIDER, {"trigger_value": True}),
    (SLIDER, {"json_value": '{"__proto__": 1}'}),
    (SLIDER, {"bytes_value": b"\xff" * 100}),
    (SLIDER, doubles(*[0.5] * 1_000_000)),
    (f"{SLIDER}__events", doubles(0.5)),
    *(
        (f"{SLIDER}__events", event("value", value))
        for value in (
            "",
            "nan",
            "inf",
            "-1e308",
            "1e999",
            0.5,
            True,
            None,
            ["0.5"],
            {"x": "0.5"},
            10**400,
            "0.5" * 100_000,
        )
    ),
    *(
        (f"{STEPS}__events", event("value", value))
        for value in (
            "nan",
            "1e9",
            "-1",
            "no such stop",
            32,
        )
    ),
    (BUTTONS, integers(99)),
    (BUTTONS, integers(-99)),
    (BUTTONS, integers(*[0] * 1_000_000)),
    (BUTTONS, {"string_array_value": {"data": ["__class__"]}}),
    (BUTTONS, {"string_value": "rnn"}),
    (SEED, {"double_value": NAN}),
    (SEED, {"double_value": 1e300}),
    (SEED, {"int_value": -(2**63)}),
    (SEED, {"string_value": "x"}),
    (TEXT, {"string_value": "x" * 1_000_000}),
    (TEXT, {"int_value": 5}),
    (TEXT, doubles(1.0)),
    ("lang", integers(7)),
    ("lang", {"string_array_value": {"data": ["xx"]}}),
    ("present", {"string_value": "yes"}),
    (f"{CHART}__events", event("pick", {"x": "a", "y": None})),
    (f"{CHART}__events", event("pick", {"x": 1e308, "y": NAN})),
    (f"{CHART}__events", event("pick", {"x": INF, "y": -INF})),
    (f"{CHART}__events", event("pick", {})),
    (f"{CHART}__events", event("pick", [1, 2])),
    (f"{CHART}__events", event("pick", "x")),
    (f"{CHART}__events", event("pick", {"x": 10**400, "y": True})),
    (f"{CHART}__events", event("no such event", 1)),
    (f"{CHART}__events", {"json_trigger_value": "{"}),
    (f"{CHART}__events", {"json_trigger_value": '{"event": 1}'}),
    (f"{CHART}__events", {"string_value": "pick"}),
    (CHART, {"json_value": '{"pick": {"x": "a"}}'}),
    (CHART, {"json_value": "[" * 10_000}),
    (f"{SETTLE}__events", event("settled", {"x": "a"})),
    (f"{NEAR}__events", event("visible", {"x": "a"})),
    (f"{NEAR}__events", event("visible", ["no such bench", 5, None])),
    (f"{NEAR}__events", event("visible", 10**400)),
    (f"{NEAR}__events", event("answered", ["no such question", 5, None])),
    ("theme__events", event("theme", {"x": "a"})),
    ("theme", {"json_value": "[]"}),
]


def the_id(widgets: dict[str, Widget], key: str) -> str:
    base, happened, _ = key.partition("__events")
    return widgets[base].events if happened else widgets[base].id


async def tell(server, wrong: list[tuple[str, dict]]) -> list[tuple[str, str]]:
    """One message after another; those that were left without a chart, a sentence, or an end.

    A visitor whose connection was closed comes again.
    """
    unanswered, left = [], list(wrong)
    while left:
        with suppress(ConnectionClosed):
            async with student(server) as item:
                await item.open()
                await item.whole()
                widgets = dict(item.widgets)
                while left:
                    key, value = left.pop(0)
                    item.errors.clear()
                    await item.say({the_id(widgets, key): value})
                    if not item.charts and not item.errors:
                        unanswered.append((key, str(value)[:60]))
    return unanswered


@pytest.mark.parametrize("part", first_only(range(2)))
def test_server_isolates_session_with_wrong_state_types(server, part):
    assert run_async(tell(server, WRONG[part::2])) == []
    check_others_are_served(server)


async def unknown(server) -> ProtocolClient:
    async with student(server, {}) as item:
        await item.open()
        await item.whole()
        await item.say({f"$$ID-{n:032x}-None": {"string_value": "x"} for n in range(20_000)})
    return item


@pytest.mark.nightly
def test_server_ignores_unknown_widgets(server):
    observed = run_async(unknown(server))
    assert not observed.errors
    assert observed.charts >= 5


def broken_messages() -> list[bytes | str]:
    sent = ProtocolClient("http://here", SLUG).request()
    return [
        b"",
        b"\x00" * 1000,
        b"\xff" * 100_000,
        sent[: len(sent) // 2],
        sent[:-1] + b"\xff",
        "text where bytes are meant",
        '{"json": true}',
        struct.pack("<Q", 2**63) * 5000,
        b"\x0a" + b"\xff\xff\xff\xff\x0f" + b"x" * 50,  # a length of four billion
        b"\x0a\x80" * 50_000,  # nested without an end
    ]


async def send_all(server) -> None:
    for message in broken_messages():
        with suppress(ConnectionClosed):
            async with student(server) as item:
                await item.socket.send(message)
                await item.open()
    # A page that does not exist, a fragment that does not exist, queries beyond all bounds.
    for page, query, fragment in (
        ("no/such/page", "lang=en", ""),
        (SLUG, "lang=en", "no such fragment"),
        (SLUG, "&=&" * 400 + "a=" * 400, ""),
        (SLUG, "vg.reach.sentence=" + "x" * 2_000_000, ""),
    ):
        with suppress(TimeoutError, ConnectionClosed):  # it need not answer
            async with student(server, query, page, patience=3) as item:
                await item.ask(fragment=fragment)


def test_server_isolates_session_with_broken_messages(server):
    run_async(send_all(server))
    check_others_are_served(server)


async def send_much(server, megabytes: int) -> None:
    async with student(server) as item:
        await item.open()
        await item.socket.send(b"\x0a" * (megabytes * 2**20))
        await asyncio.sleep(2)
        await item.open()


@pytest.mark.nightly
def test_server_rejects_300_mb_message_and_serves_others(server):
    with pytest.raises(ConnectionClosed):
        run_async(send_much(server, 300))
    check_others_are_served(server)
