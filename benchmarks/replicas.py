"""Two processes of the app behind a proxy, a Redis and a Ray cluster on this machine.

    python -m benchmarks.replicas [--parts store class] [--students 100] [--engine ray]

store: what an exchange of one device's use costs (`ui.quota.redis_sync`), and one of as many as a
process has seats, beside the same arithmetic in an actor of a Ray cluster and in this process;
with the ratio of the two.

class: HAProxy with deploy/haproxy.cfg in front of two replicas; a cluster of two workers with
MiniLM on it. Students (`testing.protocol`) open a lesson, each with a link of its own, take a seat
in a room and hear its stream; they press and their pictures are kept. One training is asked for at
both replicas. Then the replica that has the room is killed. Its students come back as browsers do:
the page at its link, the teacher's page opens the room again, everybody sits down with the old
secret. Counted are errors, who has another device, number or picture (byte by byte) than before,
how long it took, and how many trainings ran.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import secrets
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.classroom import FAILURES, TRAINER, begin_training, fresh, pressed, training_link
from benchmarks.room import line, said
from seqviz.content import catalog
from seqviz.lessons.framework.controls import encoded
from seqviz.ui.classroom.routes import SEAT, TEACHER
from seqviz.ui.quota import charging
from seqviz.ui.runtime.clients import COOKIE, ClientQuota
from testing.cluster import NO_RAY, cluster
from testing.protocol import ProtocolClient
from testing.proxy import haproxy, proxied
from testing.redis import NO_REDIS, Store, store
from testing.server import Server, serve

LESSON = catalog.SHOWN
SEATS = 180
TIMES = 1000
BACK = 60.0  # seconds after which who is not back counts as an error


class Levels:
    """The arithmetic of `replicas.EXCHANGE`, to be an actor's."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, Any]] = {}

    def exchange(self, messages: list[tuple[str, str, int, int, list[float]]]) -> list[list[float]]:
        """Of accounts: name, who says it, tabs, jobs, and of each bucket told, drawn, rate."""
        return [self._one(*item) for item in messages]

    def _one(self, key: str, me: str, tabs: int, jobs: int, numbers: list[float]) -> list[float]:
        now = time.time()
        retained = self._kept.setdefault(key, {"at": now, "levels": [0.0] * 3, "of": {}})
        past, mine = now - retained["at"], retained["of"].get(me, (0, 0, 0, [0.0] * 3))[3]
        for i in range(3):
            payload, rendered, rate = numbers[3 * i : 3 * i + 3]
            new = max(0.0, rendered - max(payload, mine[i]))
            retained["levels"][i] = max(0.0, retained["levels"][i] - past * rate) + new
        others = [item for name, item in retained["of"].items() if name != me and now - item[0] < 5]
        retained["at"], retained["of"][me] = now, (now, tabs, jobs, numbers[1::3])
        return [
            *retained["levels"],
            sum(item[1] for item in others),
            sum(item[2] for item in others),
        ]


def told(seconds: list[float]) -> dict[str, float]:
    """Median and 95th percentile in ms."""
    return {
        "median_ms": round(1e3 * statistics.median(seconds), 3),
        "p95_ms": round(1e3 * float(np.percentile(seconds, 95)), 3),
    }


def timed(does: Callable[[], object], times: int) -> dict[str, float]:
    """Of so many, after ten that do not count."""
    seconds = []
    for n in range(times + 10):
        began = time.perf_counter()
        does()
        if n >= 10:
            seconds.append(time.perf_counter() - began)
    return told(seconds)


def operations() -> dict[str, Any]:
    """The same exchange by Redis, by an actor, and in this process."""
    from seqviz.ui.quota.redis_sync import Replicas, _buckets

    accounts = [ClientQuota(key=f"k{n}") for n in range(SEATS)]

    def use(of: list[ClientQuota]) -> None:
        for item in of:
            item.seconds.consume(0.01, *charging.seconds_of(item))
            item.seconds.retry_after(*charging.seconds_of(item))

    result: dict[str, Any] = {
        "here": timed(lambda: use(accounts[:1]), TIMES),
        f"here x{SEATS}": timed(lambda: use(accounts), TIMES // 10),
    }
    with store() as retained:
        replicas = Replicas(retained.address)
        while replicas.state != "connected":
            time.sleep(0.1)

        def redis(of: list[ClientQuota]) -> None:
            use(of)
            assert replicas.exchange(of)

        result["redis"] = timed(lambda: redis(accounts[:1]), TIMES)
        result[f"redis x{SEATS}"] = timed(lambda: redis(accounts), TIMES // 10)
        replicas.close()
    with cluster(1) as there:
        os.environ.update(there.environment)
        import ray

        ray.init(address=there.address, namespace="x", log_to_driver=False)
        actor: Any = ray.remote(Levels).options(num_cpus=0).remote()

        def ask(of: list[ClientQuota]) -> None:
            use(of)
            messages = []
            for item in of:
                numbers: list[float] = []
                for bucket, (_, rate) in _buckets(item):
                    numbers += [bucket.told, bucket.drawn, rate]
                messages.append((item.key, "me", 0, 0, numbers))
            for item, levels in zip(of, ray.get(actor.exchange.remote(messages)), strict=True):
                for (bucket, (maximum, _)), level in zip(_buckets(item), levels, strict=False):
                    bucket.told = bucket.drawn
                    bucket.sync(level, maximum)

        result["actor"] = timed(lambda: ask(accounts[:1]), TIMES)
        result[f"actor x{SEATS}"] = timed(lambda: ask(accounts), TIMES // 10)
        ray.shutdown()
    for many in ("", f" x{SEATS}"):
        ratio = result[f"actor{many}"]["median_ms"] / result[f"redis{many}"]["median_ms"]
        result[f"actor / redis{many}"] = round(ratio, 2)
    return result


@dataclass
class Class:
    """What a class has met. back, seated: seconds until page and seat were there again."""

    errors: list[str] = field(default_factory=list)
    presses: list[float] = field(default_factory=list)
    back: list[float] = field(default_factory=list)
    seated: list[float] = field(default_factory=list)
    others: dict[str, int] = field(
        default_factory=lambda: {"devices": 0, "seats": 0, "pictures": 0, "replicas": 0}
    )
    told: int = 0


@dataclass
class Member:
    """A student with a link of its own. seat: its secret; picture: what its link draws."""

    front: str
    code: str
    key: str
    value: float
    number: int
    cookies: dict[str, str] = field(default_factory=dict)
    seat: str = ""
    picture: bytes = b""
    student: ProtocolClient = field(init=False)

    async def open(self, bench: str) -> None:
        """The page at its link."""
        link = {self.key: encoded(self.value), "room": self.code}
        self.student = ProtocolClient(self.front, LESSON, link, cookies=self.cookies)
        await self.student.__aenter__()
        await self.student.open()
        while f"{self.key}.slider" not in self.student.widgets:
            if not await self.student.scroll(bench):
                raise KeyError(f"no slider; {self.student.errors}")

    async def draw(self) -> bytes:
        """What the link draws and says, whole, but for how long it took to compute."""
        self.student._arrays.clear()
        status = await self.student.picture(self.key, self.value)
        if status != 200:
            raise ConnectionError(f"picture: {status}")
        head, _, figure = self.student.body.partition(b"\n")
        around = json.loads(head)
        del around["badge"]
        return json.dumps(around).encode() + figure

    async def sit(self) -> None:
        """Take a seat, or the old one."""
        device = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        path = f"/room/{self.code}/seat"
        result = await said(self.front, path, {"seat": self.seat}, f"Cookie: {device}")
        self.seat = result["seat"]

    async def hear(self, result: Class) -> None:
        """The stream, to its end."""
        head = f"GET /room/{self.code}/events HTTP/1.1\r\n{SEAT}: {self.seat}\r\n\r\n"
        reader, writer, _ = await line(self.front, head)
        try:
            while text := await reader.readline():
                result.told += text.startswith(b"data: ")
        finally:
            writer.close()


async def again(does: Callable[[], Any], draw: random.Random) -> float:
    """As a browser does, until it goes well; seconds. Raises what went wrong last."""
    began, wait = time.monotonic(), 1.0
    while True:
        try:
            await does()
            return time.monotonic() - began
        except FAILURES:
            if time.monotonic() - began > BACK:
                raise
        await asyncio.sleep(wait * (0.5 + draw.random()))
        wait = min(15.0, 2 * wait)


async def attend(
    front: str, two: list[Server], students: int, arrive: float, seconds: float, shared: bool
) -> dict[str, Any]:
    """A whole class; the replica of its room dies in the middle."""
    result, draw = Class(), random.Random(0)
    lesson = catalog.lesson(LESSON)
    bench, name = pressed(lesson)
    key = f"{lesson.code}.{bench}.{name}"
    room = await said(front, "/room", {})
    async with ProtocolClient(two[0].url, LESSON) as probe:
        await probe.open()
        while f"{key}.slider" not in probe.widgets:
            await probe.scroll(bench)
        values = fresh(probe, key, draw)
        links = [next(values) for _ in range(students)]
    members = [Member(front, room["code"], key, link, n) for n, link in enumerate(links)]
    dying = asyncio.Event()

    async def come(member: Member) -> None:
        own = random.Random(member.number)
        await asyncio.sleep(own.random() * arrive)
        try:
            await member.open(bench)
            member.picture = await member.draw()
            await member.sit()
        except FAILURES as error:
            result.errors.append(f"came: {type(error).__name__}: {error}")

    async def press(member: Member) -> None:
        own = random.Random(member.number)
        values = fresh(member.student, key, own)
        while not dying.is_set():
            await asyncio.sleep(6.0 * (0.5 + own.random()))
            if dying.is_set():
                return
            try:
                result.presses.append(await member.student.move(key, next(values)))
            except FAILURES as error:
                result.errors.append(f"pressed: {type(error).__name__}: {error}")
                return

    training = asyncio.create_task(train(two)) if shared else None
    await asyncio.gather(*(come(member) for member in members))
    streams = [asyncio.create_task(member.hear(result)) for member in members]
    pressing = [asyncio.create_task(press(member)) for member in members]
    await asyncio.sleep(seconds)
    trained = await training if training else None
    dying.set()
    await asyncio.gather(*pressing)
    has = await asyncio.to_thread(lambda: [in_room(item, room) for item in two])
    assert sum(has) == 1, has
    before = {member.number: member.cookies.get("SEQVIZ_REPLICA") for member in members}
    dead = "ab"[has.index(True)]
    two[has.index(True)].kill()
    killed = time.monotonic()

    async def teach() -> None:
        path, proof = f"/room/{room['code']}/teacher", f"{TEACHER}: {room['token']}"
        await again(lambda: said(front, path, {}, proof), random.Random(-1))

    async def return_(member: Member) -> None:
        own = random.Random(1000 + member.number)
        device, number = member.cookies.get(COOKIE), member.seat.partition(".")[0]
        moved = before[member.number] == dead
        try:
            await asyncio.sleep(own.random())
            if moved:
                with suppress(*FAILURES):
                    await member.student.socket.close()
                await again(lambda: member.open(bench), own)
                result.back.append(time.monotonic() - killed)
            await again(member.sit, own)
            result.seated.append(time.monotonic() - killed)
            result.others["pictures"] += await member.draw() != member.picture
        except FAILURES as error:
            result.errors.append(f"returned: {type(error).__name__}: {error}")
        result.others["devices"] += device != member.cookies.get(COOKIE)
        result.others["seats"] += number != member.seat.partition(".")[0]
        result.others["replicas"] += moved

    async def tell() -> int:
        """After all are back: the teacher shows something, and everybody hears of it."""
        for stream in streams:
            stream.cancel()
        result.told = 0
        now = [asyncio.create_task(member.hear(result)) for member in members]
        await asyncio.sleep(2.0)
        received = result.told
        anchor = {"kind": "navigate", "lesson": LESSON, "bench": bench, "values": {}}
        head = f"{TEACHER}: {room['token']}"
        await said(front, f"/room/{room['code']}/messages", anchor, head)
        await asyncio.sleep(2.0)
        for stream in now:
            stream.cancel()
        return result.told - received

    await asyncio.gather(teach(), *(return_(member) for member in members))
    events = await tell()
    for entry in members:
        result.errors += entry.student.errors
        with suppress(*FAILURES):
            await entry.student.socket.close()
    for error in sorted(set(result.errors))[:5]:
        print(error)
    return {
        "students": students, "errors": len(result.errors), "presses": len(result.presses),
        "press": told(result.presses), "moved": result.others["replicas"],
        "back_s": spread(result.back), "seated_s": spread(result.seated),
        "other_than_before": {k: v for k, v in result.others.items() if k != "replicas"},
        "heard_after": events, "training": trained,
    }  # fmt: skip


def spread(seconds: list[float]) -> dict[str, float]:
    """Median and longest."""
    if not seconds:
        return {}
    return {"median": round(statistics.median(seconds), 1), "longest": round(max(seconds), 1)}


def in_room(server: Server, room: dict[str, str]) -> bool:
    """Whether this process has it."""
    import urllib.request

    path = f"{server.url}/room/{room['code']}/summary"
    request = urllib.request.Request(path, headers={TEACHER: room["token"]})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


async def train(two: list[Server]) -> dict[str, Any]:
    """One training at both: seconds at each, and how many the cluster had at a time, at most."""
    most, ended = 0.0, asyncio.Event()

    async def watch() -> None:
        nonlocal most
        while not ended.is_set():
            now = await asyncio.to_thread(two[0].counter, "seqviz_cluster_runs")
            most = max(most, now)
            await asyncio.sleep(0.5)

    async def one(server: Server) -> float:
        began = time.monotonic()
        async with ProtocolClient(server.url, TRAINER, link) as student:
            await begin_training(student)
            while student.polls:
                await student.poll()
            assert not student.errors, student.errors
        return round(time.monotonic() - began, 1)

    link = {**training_link(77), "ar.networks.epochs": "300"}
    watching = asyncio.create_task(watch())
    try:
        seconds = await asyncio.gather(*(one(server) for server in two))
    finally:
        ended.set()
        await watching
    answered = [
        item.counter("seqviz_engine_calls_total", kind="training", how="answered") for item in two
    ]
    return {"seconds": seconds, "answered": answered, "ran_at_a_time": most}


def whole_class(students: int, arrive: float, seconds: float, ray: bool) -> dict[str, Any]:
    """Everything that it takes, and the class."""
    with ExitStack() as stack:
        retained: Store = stack.enter_context(store())
        environment = {
            "SEQVIZ_REDIS_URL": retained.address, "SEQVIZ_PROXIES": "1", "HF_HUB_OFFLINE": "1",
            "SEQVIZ_METRICS_TOKEN": secrets.token_urlsafe(16),
        }  # fmt: skip
        if ray:
            there = stack.enter_context(cluster(1))
            there.deploy("minilm", "--most", "1", "--processors", "0.5")
            there.begin(1)
            environment |= {
                **there.environment, "SEQVIZ_ENGINE": "ray", "SEQVIZ_RAY_ADDRESS": there.address,
            }  # fmt: skip
        two = [stack.enter_context(serve(environment=environment)) for _ in range(2)]
        front = stack.enter_context(proxied(two))
        while ray and not all(item.counter("seqviz_engine", state="connected") for item in two):
            time.sleep(1.0)
        result = asyncio.run(attend(front, two, students, arrive, seconds, ray))
        alive = next(item for item in two if item.process.poll() is None)
        result["shared"] = {
            "state_here": alive.counter("seqviz_shared", state="connected"),
            "exchanges": alive.counter("seqviz_shared_exchanges_total"),
        }
        return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", default=["store", "class"])
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--arrive", type=float, default=30.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--engine", choices=("ray", "local"), default="ray")
    request = parser.parse_args()
    if missing := NO_RAY or NO_REDIS or ("" if haproxy() else "haproxy is missing"):
        raise SystemExit(missing)
    result: dict[str, Any] = {"name": "replicas"}
    if "store" in request.parts:
        result["store"] = operations()
        print(json.dumps(result["store"], indent=1), flush=True)
    if "class" in request.parts:
        result["class"] = whole_class(
            request.students, request.arrive, request.seconds, request.engine == "ray"
        )
    print(json.dumps(result))


if __name__ == "__main__":
    main()
