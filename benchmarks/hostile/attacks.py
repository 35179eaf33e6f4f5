"""Attacks on pages (`benchmarks.hostile`): one function each.

An attack runs until it is cancelled, and records its outcomes in `Attacker.did`.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial, wraps
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

from benchmarks.classroom import FAILURES, SEED, TRAINER, begin_training, training_link
from seqviz import lessons
from seqviz.lessons.framework import controls
from testing.protocol import ProtocolClient, run_async

AGAIN = 0.1  # seconds until an attacker retries after a rejection
EVENTS_BYTES = 368_000
WORDS = "The flights the airline was cancelling were full and nobody knew why . "
# The most expensive option of menus that choose the figure, as measured.
COSTLY = {
    "ar_fitting": {"ar.fit.view": "sampling", "ar.forecast.view": "errors"},
    "vanishing_gradients": {"vg.pairs.cell": "lstm", "vg.cut.view": "random"},
    "gates": {"ga.watch.view": "map"},
    "attention": {
        "at.real.view": "rollout", "at.real.over": "all", "at.bertviz.picture": "model",
        "at.masks.cells": "", "at.ablate.off": "0.2",
    },
    "positions": {"po.encoder.view": "maps", "po.schemes.view": "shift"},
    "bert_accuracy": {"ba.knife.view": "own", "ba.looks.view": "own", "ba.padding.view": "own"},
}  # fmt: skip
# Text inputs: lesson, permalink, and the key of the field.
TEXTS: tuple[tuple[str, Mapping[str, str], str], ...] = (
    ("attention", {}, "at.real.encoder"),
    ("gates", {}, "ga.watch.characters"),
    ("bert_accuracy", {"ba.knife.view": "own"}, "ba.knife.text"),
)
LETTERS = ("word ", "我", "дом ", "🙂", "x", "é", "نص ")
LENGTHS = (32, 120, 1000, 10_000)


@dataclass
class Attacker:
    """An attacker with its addresses, its duration in seconds, and its policy for cookies.

    Attributes:
        did: number of successes, and of failures by kind.
    """

    url: str
    addresses: Sequence[str]
    cookies: str
    seconds: float
    did: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._devices: list[dict[str, str]] = [{} for _ in self.addresses]
        self._tabs = self._turns = 0
        self.draw = random.Random(SEED)

    def turn(self) -> int:
        """Return a number that has not been used before."""
        self._turns += 1
        return self._turns

    def student(self, page: str, link: Mapping[str, str] | None = None) -> ProtocolClient:
        """Open one more tab, from the next of the addresses."""
        at = self._tabs % len(self.addresses)
        self._tabs += 1
        jar = {"kept": self._devices[at], "fresh": {}, "none": None}[self.cookies]
        return ProtocolClient(self.url, page, link or {}, source=self.addresses[at], cookies=jar)

    async def together(self, tabs: int, once: Callable[[int], Awaitable[None]]) -> None:
        """Repeat an action in several tabs until this is cancelled."""

        async def again(tab: int) -> None:
            while True:
                try:
                    await once(tab)
                    self.did["done"] += 1
                except FAILURES as error:
                    self.did[type(error).__name__] += 1
                    await asyncio.sleep(AGAIN)

        await asyncio.gather(*map(again, range(tabs)))


def or_endless(figure: float) -> float:
    """Return a percentile for comparison; infinite for a class without answers, the worst."""
    return math.inf if math.isnan(figure) else figure


Attack = Callable[[Attacker], Awaitable[None]]


def in_tabs(tabs: int) -> Callable[[Callable[[Attacker, int], Awaitable[None]]], Attack]:
    """Return a decorator that makes an attack of an action, repeated in each of several tabs."""

    def decorate(work: Callable[[Attacker, int], Awaitable[None]]) -> Attack:
        @wraps(work)
        async def attack(attacker: Attacker) -> None:
            await attacker.together(tabs, partial(work, attacker))

        return attack

    return decorate


def begin(attack: Attack, attacker: Attacker) -> dict[str, int]:
    """Run an attack in the attacker's process; return its outcomes."""

    async def attacking() -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(attacker.seconds):
                await attack(attacker)

    run_async(attacking())
    return dict(attacker.did)


def costliest(slug: str, turn: int = 0) -> dict[str, str]:
    """Return a lesson's permalink with the largest declared values. turn: varies seed and text.

    >>> costliest("ar_fitting")["ar.process.n"]
    '5000'
    """
    result = {}
    for bench in getattr(lessons, slug).lesson.benches.values():
        for name, control in controls.controls(bench.declaration):
            match control:
                case controls.Slider() | controls.SelectSlider():
                    value: Any = control.bounds()[-1]
                case controls.Choice(many=True, options=options):
                    value = options
                case controls.TextInput(limit=limit):
                    value = (f"{turn} " + WORDS * (limit // len(WORDS) + 1))[:limit]
                case controls.Seed():
                    value = turn
                case _:
                    continue
            result[f"{bench.prefix}.{name}"] = controls.encoded(value)
    return result | COSTLY[slug]


async def links(attacker: Attacker, slug: str, tabs: int, rerun: bool = False) -> None:
    """Open the costliest permalink of a lesson, with all its benches.

    rerun: True for a new seed each time.
    """

    async def once(_: int) -> None:
        turn = attacker.turn() if rerun else 0
        async with attacker.student(slug, costliest(slug, turn)) as tab:
            await tab.open()
            await tab.whole()

    await attacker.together(tabs, once)


@in_tabs(20)
async def exports(attacker: Attacker, number: int) -> None:
    """Request HTML, CSV and data panel of 10,000 x 512 waves."""
    sinusoids = {"po.waves.positions": "10000", "po.waves.d_model": "512"}
    async with attacker.student("positions", sinusoids) as tab:
        await tab.open()
        await tab.scroll("waves")
        kind = ("html", "csv", "data")[number % 3]
        while True:
            await tab.press("po.waves.data" if kind == "data" else "po.waves.export")
            status = await tab.download(f"po.waves.{kind}") if kind != "data" else 200
            attacker.did[f"{kind} {status}"] += 1


@in_tabs(4)
async def notebooks(attacker: Attacker, _: int) -> None:
    """Request 24 notebooks at once, six per tab, of benches that are not drawn."""
    async with attacker.student("ar_fitting") as tab:
        await tab.open()
        for number in range(5):  # and a sixth, which is awaited
            await tab.socket.send(tab.file_request("ar.notebook", f"{number}"))
        attacker.did["asked"] += 6
        attacker.did[f"notebook {await tab.download('ar.notebook')}"] += 1


@in_tabs(3)
async def origins(attacker: Attacker, number: int) -> None:
    """Open websockets from a page of another site, without session or cookie."""
    address = attacker.url.replace("http", "ws", 1) + "/_stcore/stream"
    at = attacker.addresses[number % len(attacker.addresses)]
    foreign = Origin(f"https://{number}.example")
    protocol = [Subprotocol("streamlit")]
    positions: dict[str, Any] = {"local_addr": (at, 0)} if at else {}
    async with connect(address, origin=foreign, subprotocols=protocol, **positions):
        pass


@in_tabs(1)
async def events(attacker: Attacker, _: int) -> None:
    """Send thousands of clicks to one chart in one message."""
    async with attacker.student("vanishing_gradients") as tab:
        await tab.open()
        await tab.scroll("pairs")
        for turn in itertools.count():
            await click(tab, turn, EVENTS_BYTES)
            attacker.did["messages"] += 1


async def click(tab: ProtocolClient, turn: int, size: int) -> float:
    """Send clicks of `size` bytes, at least one, to a chart; return the seconds that it takes."""
    chart = tab.widgets["vg.pairs.chart"]
    item = {"event": "pick", "value": {"x": 20 + turn % 60, "y": 90}}
    message = json.dumps([item] * max(1, size // len(json.dumps([item]))))
    return await tab.ask([WidgetState(id=chart.events, json_trigger_value=message)], chart.fragment)


async def trainings(attacker: Attacker) -> None:
    """Start different trainings in 30 tabs; retry rejected ones in another tab."""

    async def once(_: int) -> None:
        async with attacker.student(TRAINER, training_link(7000 + attacker.turn())) as tab:
            await begin_training(tab)
            attacker.did["trainings" if tab.polls else "refused"] += 1
            while tab.polls:
                await tab.poll()
            await asyncio.sleep(10 * AGAIN)  # time to read the error message

    async with attacker.student(TRAINER):  # gets the cookie before the tabs are opened
        pass
    await attacker.together(30, once)


@in_tabs(10)
async def texts(attacker: Attacker, tab_number: int) -> None:
    """Send ten texts per second of any length and language; reconnect after a rejection."""
    slug, link, key = TEXTS[tab_number % len(TEXTS)]
    async with attacker.student(slug, link) as tab:
        await tab.open()
        await tab.scroll(key.split(".")[1])
        while not tab.warnings:
            length = attacker.draw.choice(LENGTHS)
            text = f"{attacker.turn()} " + attacker.draw.choice(LETTERS) * length
            taken = await tab.move(key, text[:length])
            attacker.did["texts"] += 1
            await asyncio.sleep(max(0.0, 1.0 - taken))
        attacker.did["refused"] += 1


@in_tabs(10)
async def embeds(attacker: Attacker, number: int) -> None:
    """Open embeds with the costliest settings, and another seed or text each time.

    Each connection opens an embed, then sends settings to it in a request body.
    """
    at, address = attacker.addresses[number % len(attacker.addresses)], urlsplit(attacker.url)

    def ask(method: str, path: str, body: str | None = None) -> int:
        source = (at, 0) if at else None
        line = HTTPConnection(address.netloc, timeout=30, source_address=source)
        try:
            line.request(method, path, body, {"content-type": "application/json"})
            answer = line.getresponse()
            answer.read()
            return answer.status
        finally:
            line.close()

    slug = attacker.draw.choice([*COSTLY])
    name = attacker.draw.choice([*getattr(lessons, slug).lesson.benches])
    path, query = f"/embed/{slug}/{name}", costliest(slug, attacker.turn())
    message = json.dumps({"query": {}, "texts": query})
    opened = await asyncio.to_thread(ask, "GET", f"{path}?{urlencode(query)}")
    attacker.did[f"opened {opened}"] += 1
    attacker.did[f"told {await asyncio.to_thread(ask, 'POST', path, message)}"] += 1


@in_tabs(10)
async def sockets(attacker: Attacker, _: int) -> None:
    """Open 20 connections per second that request a page and close."""
    async with attacker.student("gates") as tab:
        await tab.socket.send(tab.request())
    await asyncio.sleep(0.5)


@in_tabs(10)
async def unread(attacker: Attacker, _: int) -> None:
    """Request the whole page repeatedly in tabs that never read the responses."""
    async with attacker.student("positions", costliest("positions")) as tab:
        while True:
            await tab.socket.send(tab.request())
            attacker.did["asked"] += 1
            await asyncio.sleep(0.2)
