"""Rooms of a server as it is served: its end, its restart, and bodies that are cut off."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import time
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from rings import one_of

from driver.server import HOST, Server, serve
from seqviz.ui.shared.room_route import OURS, SEAT, TEACHER


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
    line.sendall(f"GET /room/{code}/heard HTTP/1.1\r\nHost: {HOST}\r\n{lines}\r\n".encode())
    while b"data: {" not in line.recv(65_536):
        pass
    return line


@pytest.mark.parametrize(("number", "sign"), one_of(
    [(30, signal.SIGTERM), (30, signal.SIGINT), (300, signal.SIGTERM)]))  # fmt: skip
def test_a_server_ends_within_seconds_while_a_class_is_connected(tmp_path, number, sign):
    """Its rooms come back with the next process: teacher and students as before, nobody else."""
    environment = {"SEQVIZ_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    with serve(environment=environment) as server, ExitStack() as stack:
        _, room = post(server, "/room")
        path, teaches = f"/room/{room['code']}", {TEACHER: room["token"]}
        seats = [post(server, f"{path}/seat")[1] for _ in range(number)]
        lines = [stack.enter_context(closing(listen(server, room["code"], **{SEAT: one["seat"]})))
                 for one in seats]  # fmt: skip
        started = time.monotonic()
        server.process.send_signal(sign)
        server.process.wait(20)
        assert time.monotonic() - started < 3.0
        for line in lines:
            line.settimeout(5)
            while line.recv(65_536):
                pass
        server.start()
        assert post(server, f"{path}/teacher", **{TEACHER: seats[0]["seat"]})[0] == 404
        assert post(server, f"{path}/seat", {"seat": seats[6]["seat"]}) == (200, seats[6])
        assert post(server, f"{path}/teacher", **teaches) == (200, {"code": room["code"]})
        assert post(server, f"{path}/said", {"kind": "end"}, **teaches)[0] == 204
        server.kill()
        server.start()
        assert post(server, f"{path}/teacher", **teaches)[0] == 404
        assert post(server, f"{path}/seat", {"seat": seats[6]["seat"]})[0] == 404
    assert (Path(tmp_path) / "room.key").stat().st_mode & 0o777 == 0o600


def cut(server: Server, head: str, body: bytes) -> None:
    """A request whose visitor leaves before its body has ended."""
    with closing(socket.create_connection((HOST, server.port), 20)) as line:
        line.sendall(f"{head}\r\nHost: {HOST}\r\n{OURS}: 1\r\n".encode() + b"\r\n" + body)


def test_bodies_that_are_cut_off_leave_the_log_as_it_is(server):
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


def test_a_device_that_was_sent_out_gets_no_seat_after_the_server_is_killed(tmp_path):
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
        assert post(server, f"{path}/said", remove, **teaches)[0] == 204
        server.kill()
        server.start()
        assert post(server, f"{path}/teacher", **teaches)[0] == 200
        for _ in range(2):
            assert post(server, f"{path}/seat", cookie=sent_out) == (403, {"problem": "sent_out"})
            assert page(server, sent_out) in (sent_out, "")
        assert post(server, f"{path}/seat", cookie=other)[0] == 200
    written = (Path(tmp_path) / "room.closed").read_text("ascii")
    assert sent_out.partition("=")[2] not in written
