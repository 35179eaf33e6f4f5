"""Rooms of a server as it is served: its end, its restart, and bodies that are cut off."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from seqviz.ui.classroom.routes import OURS, SEAT, TEACHER
from testing.protocol import ProtocolClient, run_async
from testing.server import HOST, ROOT, Server, serve
from tests.tiers import first_only


def post(server: Server, path: str, body: object = None, **headers: str) -> tuple[int, dict]:
    """Status and answer."""
    with closing(http.client.HTTPConnection(HOST, server.port, timeout=20)) as line:
        line.request("POST", path, json.dumps(body or {}), {OURS: "1", **headers})
        answer = line.getresponse()
        return answer.status, json.loads(answer.read() or b"{}")


def listen(server: Server, code: str, **headers: str) -> socket.socket:
    """An open stream that has told something."""
    line = socket.create_connection((HOST, server.port), 20)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    line.sendall(f"GET /room/{code}/events HTTP/1.1\r\nHost: {HOST}\r\n{lines}\r\n".encode())
    while b"data: {" not in line.recv(65_536):
        pass
    return line


@pytest.mark.parametrize(("number", "sign"), first_only(
    [(30, signal.SIGTERM), (30, signal.SIGINT), (300, signal.SIGTERM)]))  # fmt: skip
def test_server_stops_fast_with_class_and_restores_rooms(tmp_path, number, sign):
    """Its rooms come back with the next process: teacher and students as before, nobody else."""
    environment = {"SEQVIZ_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    with serve(environment=environment) as server, ExitStack() as stack:
        _, room = post(server, "/room")
        path, teaches = f"/room/{room['code']}", {TEACHER: room["token"]}
        seats = [post(server, f"{path}/seat")[1] for _ in range(number)]
        lines = [stack.enter_context(closing(listen(server, room["code"], **{SEAT: seat["seat"]})))
                 for seat in seats]  # fmt: skip
        started = time.monotonic()
        server.process.send_signal(sign)
        server.process.wait(20)
        took = time.monotonic() - started
        print(f"ended {took:.2f} s after {sign.name} with {number} streams")
        assert took < 3.0
        for line in lines:
            line.settimeout(5)
            while line.recv(65_536):
                pass
        server.start()
        assert post(server, f"{path}/teacher", **{TEACHER: seats[0]["seat"]})[0] == 404
        assert post(server, f"{path}/seat", {"seat": seats[6]["seat"]}) == (200, seats[6])
        assert post(server, f"{path}/teacher", **teaches) == (200, {"code": room["code"]})
        assert post(server, f"{path}/messages", {"kind": "end"}, **teaches)[0] == 204
        server.kill()
        server.start()
        assert post(server, f"{path}/teacher", **teaches)[0] == 404
        assert post(server, f"{path}/seat", {"seat": seats[6]["seat"]})[0] == 404
    assert (Path(tmp_path) / "room.key").stat().st_mode & 0o777 == 0o600


LONG_TRAINING = {
    "ar.networks.preset": "own", "ar.networks.cell": "lstm", "ar.networks.hidden": "64",
    "ar.networks.layers": "3", "ar.networks.epochs": "1000",
}  # fmt: skip
DRAGGED = {
    "ar_fitting/process": "ar.process.phi",
    "gates/one": "ga.one.temperature",
    "vanishing_gradients/reach": "vg.reach.gain",
}


class Readers:
    """A student whose network is in training, and readers who drag in embedded figures."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.trains = threading.Event()
        self.answers: Counter[str] = Counter()
        positions = [*DRAGGED] * 3
        self.threads = [
            threading.Thread(target=self._drag, args=(position,)) for position in positions
        ]
        self.threads.append(threading.Thread(target=run_async, args=(self._train(),)))
        for thread in self.threads:
            thread.start()

    def _drag(self, location: str) -> None:
        token = ""
        line = http.client.HTTPConnection(HOST, self.server.port, timeout=20)
        with closing(line), suppress(OSError, http.client.HTTPException):
            while True:
                value = f"{0.3 + 0.01 * (self.answers[location] % 60):.2f}"
                payload = {"query": {DRAGGED[location]: value, "lang": "en"}, "texts": {}}
                headers = {"Content-Type": "application/json", "X-SeqViz-Session": token}
                line.request("POST", f"/embed/{location}", json.dumps(payload), headers)
                answer = line.getresponse()
                body = answer.read()
                if answer.status != 200:
                    return
                token = json.loads(body)["live"]["token"]
                self.answers[location] += 1

    async def _train(self) -> None:
        with suppress(ConnectionClosed):
            async with ProtocolClient(self.server.url, "ar_fitting", LONG_TRAINING) as student:
                await student.open()
                await student.whole()
                await student.press("ar.networks.start")
                while True:
                    await student.poll()
                    if student.progress and not student.progress.endswith(" 0%"):
                        self.trains.set()

    def join(self) -> None:
        for thread in self.threads:
            thread.join(30)
        assert not any(thread.is_alive() for thread in self.threads)


@pytest.mark.timing
@pytest.mark.parametrize(("number", "sign", "workers"), first_only(
    [(20, signal.SIGINT, "0"), (300, signal.SIGINT, "0"), (300, signal.SIGTERM, "0"),
     (300, signal.SIGINT, "1"), (300, signal.SIGTERM, "1")],
))  # fmt: skip
def test_server_stops_fast_under_full_load(number, sign, workers):
    """Room streams, embedded figures that are dragged, and a training."""
    environment = {"HF_HUB_OFFLINE": "1", "SEQVIZ_WORKERS": workers}
    with serve(environment=environment) as server, ExitStack() as stack:
        _, room = post(server, "/room")
        path = f"/room/{room['code']}"
        for _ in range(number):
            _, seat = post(server, f"{path}/seat")
            stack.enter_context(closing(listen(server, room["code"], **{SEAT: seat["seat"]})))
        readers = Readers(server)
        try:
            assert readers.trains.wait(90)
            assert {*readers.answers} == {*DRAGGED}
            started = time.monotonic()
            server.process.send_signal(sign)
            server.process.wait(20)
            took = time.monotonic() - started
        finally:
            server.kill()
            readers.join()
        print(f"ended {took:.2f} s after {sign.name}: {number} streams, {workers} workers, "
              f"{readers.answers.total()} answers before")  # fmt: skip
        assert took < 3.0
        assert "Traceback" not in server.log.read_text("utf-8")


STUCK = """
import asyncio, threading, time
from seqviz.ui.server import shutdown

async def main():
    with shutdown.announced():
        threading.Thread(target=time.sleep, args=(60,)).start()
        print("ready", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.timing
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_shutdown_exits_despite_hanging_thread(sign):
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    started = time.monotonic()
    process.send_signal(sign)
    process.communicate(timeout=20)
    assert time.monotonic() - started < 3.0


def cut(server: Server, head: str, body: bytes) -> None:
    """A request whose visitor leaves before its body has ended."""
    with closing(socket.create_connection((HOST, server.port), 20)) as line:
        line.sendall(f"{head}\r\nHost: {HOST}\r\n{OURS}: 1\r\n".encode() + b"\r\n" + body)


def test_server_logs_no_traceback_for_truncated_bodies(server):
    """Of a room, of an embedded figure, and of a file that is uploaded."""
    before = server.log.stat().st_size
    length = "Content-Length: 900"
    boundary = "Content-Type: multipart/form-data; boundary=x"
    part = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n1,2'
    for _ in range(100):
        cut(server, f"POST /room HTTP/1.1\r\n{length}", b"{")
        cut(server, f"POST /room/KMTRAX/seat HTTP/1.1\r\n{length}", b"{")
        cut(server, f"POST /embed/ar_fitting/process HTTP/1.1\r\n{length}\r\n"
            "Content-Type: application/json", b"{")  # fmt: skip
        cut(server, f"PUT /_stcore/upload_file/a/b HTTP/1.1\r\n{length}\r\n{boundary}", part)
    time.sleep(1.0)
    assert server.healthy(10)
    written = server.log.read_text("utf-8")[before:]
    assert "Traceback" not in written
    assert written.count("\n") <= 10


def test_room_rejects_removed_device_after_server_kill(tmp_path):
    """It opens the page anew, and keeps the name that the process before has given it."""

    def page(server: Server, cookie: str = "") -> str:
        with closing(http.client.HTTPConnection(HOST, server.port, timeout=20)) as line:
            line.request("GET", "/", headers={"Accept": "text/html", "Cookie": cookie})
            answer = line.getresponse()
            answer.read()
            return answer.headers.get("Set-Cookie", "").split(";")[0]

    environment = {"SEQVIZ_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    with serve(environment=environment) as server:
        _, room = post(server, "/room")
        path, teaches = f"/room/{room['code']}", {TEACHER: room["token"]}
        sent_out, other = page(server), page(server)
        _, seat = post(server, f"{path}/seat", cookie=sent_out)
        remove = {"kind": "remove", "seat": seat["number"]}
        assert post(server, f"{path}/messages", remove, **teaches)[0] == 204
        server.kill()
        server.start()
        assert post(server, f"{path}/teacher", **teaches)[0] == 200
        for _ in range(2):
            assert post(server, f"{path}/seat", cookie=sent_out) == (403, {"problem": "sent_out"})
            assert page(server, sent_out) in (sent_out, "")
        assert post(server, f"{path}/seat", cookie=other)[0] == 200
    written = (Path(tmp_path) / "room.closed").read_text("ascii")
    assert sent_out.partition("=")[2] not in written
