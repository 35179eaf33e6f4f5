"""deploy/: the proxy's configuration in front of two real servers; the manifest as Ray reads it."""

from __future__ import annotations

import json
import secrets
import time
import urllib.error
import urllib.request
from contextlib import ExitStack

import pytest
import yaml

from seqviz.core.paths import ROOT
from seqviz.ui.classroom.routes import OURS, TEACHER
from testing.cluster import NO_RAY
from testing.proxy import haproxy, proxied
from testing.server import serve

MANIFEST = ROOT / "deploy" / "rayservice.yaml"


def ask(url: str, cookie: str = "") -> tuple[str, str]:
    """The answer's text and the proxy's cookie."""
    request = urllib.request.Request(url, headers={"Cookie": cookie} if cookie else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        cookies = answer.headers.get_all("Set-Cookie") or []
        mine = [
            cookie.partition(";")[0] for cookie in cookies if cookie.startswith("SEQVIZ_REPLICA=")
        ]
        return answer.read().decode("utf-8", "replace"), mine[0] if mine else ""


@pytest.mark.nightly
@pytest.mark.skipif(not haproxy(), reason="there is no haproxy here (it comes with ray[serve])")
def test_proxy_keeps_replica_affinity_and_fails_over():
    with ExitStack() as stack:
        two = [stack.enter_context(serve()) for _ in range(2)]
        front = stack.enter_context(proxied(two))
        _, cookie = ask(f"{front}/")
        assert cookie in ("SEQVIZ_REPLICA=a", "SEQVIZ_REPLICA=b")
        for _ in range(6):  # the proxy sends no other cookie to who has a good one
            assert ask(f"{front}/_stcore/health", cookie) == ("ok", "")
        others = {ask(f"{front}/")[1] for _ in range(20)}
        assert others == {"SEQVIZ_REPLICA=a", "SEQVIZ_REPLICA=b"}
        with pytest.raises(OSError, match="403"):
            ask(f"{front}/metrics")
        two["ab".index(cookie[-1])].process.kill()
        last = time.monotonic() + 10
        while (moved := ask(f"{front}/", cookie)[1]) in ("", cookie):
            assert time.monotonic() < last
            time.sleep(0.2)
        assert ask(f"{front}/_stcore/health", moved) == ("ok", "")


def at_room(front: str, path: str, words: dict | None, **headers: str) -> tuple[int, dict]:
    """Status and answer of a route of rooms."""
    body = None if words is None else json.dumps(words).encode()
    request = urllib.request.Request(f"{front}/room{path}", body, {OURS: "1", **headers})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as refused:
        return refused.code, {}


@pytest.mark.nightly
@pytest.mark.skipif(not haproxy(), reason="there is no haproxy here (it comes with ray[serve])")
@pytest.mark.parametrize("first", ["teacher", "student"])
def test_proxy_routes_room_to_its_replica_and_restores_it_elsewhere(first):
    """Whoever comes back first; and it stays there when the first process is back, too."""
    key = {"SEQVIZ_ROOM_KEY": secrets.token_urlsafe(32)}
    with ExitStack() as stack:
        two = [stack.enter_context(serve(environment=key)) for _ in range(2)]
        front = stack.enter_context(proxied(two))
        _, room = at_room(front, "", {})
        path = f"/{room['code']}"
        teaches = {TEACHER: room["token"]}
        seats = [at_room(front, f"{path}/seat", {}) for _ in range(10)]
        assert [status for status, _ in seats] == [200] * 10

        def comes_back(caller: str) -> bool:
            if caller == "teacher":
                code = {"code": room["code"]}
                return at_room(front, f"{path}/teacher", {}, **teaches) == (200, code)
            return at_room(front, f"{path}/seat", seats[6][1]) == seats[6]

        def homes() -> list[int]:
            """Of each process whether it has the room."""
            return [at_room(item.url, f"{path}/summary", None, **teaches)[0] for item in two]

        for _ in range(5):  # a second device of the teacher comes to the same room
            assert comes_back("teacher")
        assert sorted(homes()) == [200, 404]
        home = homes().index(200)
        two[home].kill()
        until(lambda: comes_back(first))
        assert comes_back("student" if first == "teacher" else "teacher")
        two[home].start()  # it is back, and has no room
        time.sleep(3.0)
        assert [at_room(front, f"{path}/seat", seat) for _, seat in seats] == seats
        assert comes_back("teacher")
        assert homes()[home] == 404


def until(holds) -> None:
    last = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < last
        time.sleep(0.3)


def applications() -> dict:
    manifest = yaml.safe_load(MANIFEST.read_text("utf-8"))
    return yaml.safe_load(manifest["spec"]["serveConfigV2"])


def test_manifest_deploys_applications_of_app():
    manifest = yaml.safe_load(MANIFEST.read_text("utf-8"))
    assert (manifest["apiVersion"], manifest["kind"]) == ("ray.io/v1", "RayService")
    config = manifest["spec"]["rayClusterConfig"]
    pin = (ROOT / "requirements-ray.txt").read_text("utf-8")
    assert f"=={config['rayVersion']}" in pin
    groups = [config["headGroupSpec"], *config["workerGroupSpecs"]]
    for group in groups:
        (container,) = group["template"]["spec"]["containers"]
        assert container["image"]
        assert container["resources"]["limits"]
    for application in applications()["applications"]:
        assert application["name"] == f"seqviz-{application['args']['model']}"
        assert application["import_path"] == "seqviz.integrations.ray.cluster:app"


@pytest.mark.skipif(bool(NO_RAY), reason=NO_RAY)
def test_manifest_applications_match_ray_schema():
    from ray.serve.schema import ServeDeploySchema

    read = ServeDeploySchema(**applications())
    assert [application.name for application in read.applications] == [
        "seqviz-minilm",
        "seqviz-smollm2",
    ]
    assert read.proxy_location == "Disabled"
