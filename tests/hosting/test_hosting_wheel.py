"""The wheel, built and installed as by a student: figures without Streamlit, and the app with it.

Nothing is fetched: the new environment sees the libraries of this one, less those that a plain
installation would not bring. All of it: twenty seconds on two cores.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from seqviz import __main__ as command_line
from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES
from seqviz.core.paths import ROOT
from testing.protocol import ProtocolClient, run_async
from tools import constraints, supply_chain_audit

SOURCES = (  # what the build reads
    "seqviz", "assets", "docs/teaching", "pages", ".streamlit", "app.py", "setup.py", "MANIFEST.in",
    "pyproject.toml", "README.md", "LICENSE",
)  # fmt: skip
LESSON = catalog.LESSONS[0]
# Libraries that are not there, for Python itself: the first argument names them.
LACKING = """
import json, sys
from importlib.machinery import PathFinder

LACKS = {*json.loads(sys.argv[1])}

class Lacking(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if path is None and name in LACKS else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Lacking
"""
DRAW = """
import seqviz
sys.path.append(sys.argv[2])
from testing.figure_examples import examples
from seqviz.plotting.style import Style
from seqviz.core import paths
from seqviz.models import checkpoints
from seqviz.core.i18n import LANGUAGES

figures = {one.name: one.figure for one in examples()}
drawn = {lang: [draw(Style(lang=lang)) for draw in figures.values()] for lang in LANGUAGES}
en, zh = ([one if isinstance(one, str) else one.to_json() for one in drawn[lang]] for lang in drawn)
print(json.dumps({
    "figures": len(figures),
    "same": [name for name, one, other in zip(figures, en, zh, strict=True) if one == other],
    "networks": [checkpoints.load(name).name for name in checkpoints.names()],
    "places": [seqviz.__file__, str(paths.ROOT)],
    "lacking": [name for name in sys.modules if name.partition(".")[0] in LACKS],
}))
"""


@dataclass(frozen=True)
class Installed:
    """The wheel; the environment that it is installed in; an empty folder; examples of figures."""

    wheel: Path
    place: Path
    elsewhere: Path
    examples: Path

    def run(self, script: str, *words: str) -> subprocess.CompletedProcess[str]:
        """A script in the environment, from a folder far from the checkout."""
        return subprocess.run(
            [self.place / "bin/python", "-c", script, *words],
            cwd=self.elsewhere, capture_output=True, text=True, timeout=120, env=environment(),
        )  # fmt: skip


def environment() -> dict[str, str]:
    """This process's, without what would lead Python elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def pip(*words: object) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Installed:
    """Built in a copy, as a build leaves folders behind, and after another build."""
    position = tmp_path_factory.mktemp("wheel")
    leave = shutil.ignore_patterns("__pycache__")
    for name in SOURCES:
        source, target = ROOT / name, position / "source" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=leave)
        else:
            shutil.copy2(source, target)
    stale = position / "source/build/lib/seqviz/removed.py"
    stale.parent.mkdir(parents=True)
    stale.write_text("raise SystemExit\n")
    offline = ("--no-deps", "--no-index")
    pip("wheel", *offline, "--no-build-isolation", "-w", position, position / "source")
    (wheel,) = position.glob("*.whl")
    new = position / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", new], check=True)
    pip("--python", new / "bin/python", "install", *offline, wheel)
    (packages,) = new.glob("lib/python*/site-packages")
    ours = [path for path in sys.path if path.endswith("-packages")]
    (packages / "libraries.pth").write_text("\n".join(ours) + "\n")
    (position / "elsewhere").mkdir()
    examples = Path("testing", "figure_examples")  # no part of the wheel
    shutil.copytree(ROOT / examples, position / "examples" / examples, ignore=leave)
    shutil.copy(ROOT / "testing" / "fake.py", position / "examples" / "testing")
    return Installed(wheel, new, position / "elsewhere", position / "examples")


def too_much() -> list[str]:
    """The modules of this environment that a plain installation of SeqViz would not bring."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    expected = [*project["dependencies"], "pytest"]  # imported by a helper that draws
    brought = {
        *map(supply_chain_audit.normal, constraints.closure([*map(Requirement, expected)])),
        "seqviz",
    }
    return [
        module
        for module, owners in packages_distributions().items()
        if not brought & {*map(supply_chain_audit.normal, owners)}
    ]


def test_wheel_contains_app_once_and_nothing_else(installed):
    with zipfile.ZipFile(installed.wheel) as packed:
        names = [item.filename for item in packed.infolist()]
    carried = {name.partition("/_app/")[2] for name in names if "/_app/" in name}
    folders = ("assets", "docs/teaching", "pages", ".streamlit")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    expected = {str(p.relative_to(ROOT)) for p in files if "__pycache__" not in p.parts} | {
        "app.py"
    }
    assert carried == {name.removeprefix("assets/") if name.startswith("assets/static/") else name
                       for name in expected}  # fmt: skip
    assert len(names) == len({*names})
    assert "seqviz/removed.py" not in names
    assert not [name for name in names if not name.startswith(("seqviz/", "seqviz-"))]
    assert installed.wheel.stat().st_size < 22.5e6


def test_wheel_draws_every_figure_without_streamlit(installed):
    """In both languages, from an empty folder, with nothing but what is declared."""
    lacking = too_much()
    assert {"streamlit", "transformers", "prometheus_client", "beartype"} <= {*lacking}
    done = installed.run(LACKING + DRAW, json.dumps(lacking), str(installed.examples))
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert all(Path(position).is_relative_to(installed.place) for position in result["places"])
    assert result["lacking"] == []
    assert result["figures"] > 150
    assert result["same"] == []
    assert len(result["networks"]) > 4
    assert [*installed.elsewhere.iterdir()] == []


def test_command_without_streamlit_names_app_extra(installed):
    start = "from seqviz.__main__ import main\nmain(['--server.port', '8600'])"
    done = installed.run(LACKING + start, '["streamlit"]')
    assert done.returncode == 1
    (sentence,) = done.stderr.splitlines()
    assert "Streamlit, which is not installed" in sentence
    assert "[app]" in sentence


@contextlib.contextmanager
def serving(installed: Installed, folder: Path) -> Iterator[tuple[int, Path]]:
    """`seqviz` on a free port, from its health to its end; the port, and its log."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "log"
    command = [installed.place / "bin/seqviz", "--server.port", str(port)]
    settings = {"SEQVIZ_LOG_FORMAT": "json", "HF_HUB_OFFLINE": "1"}
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, "--server.headless=true", "--server.address=127.0.0.1"],
            cwd=folder, stdout=output, stderr=output, env=environment() | settings,
        )  # fmt: skip
        try:
            deadline = time.monotonic() + 60
            while True:
                assert process.poll() is None, log.read_text("utf-8")
                assert time.monotonic() < deadline, log.read_text("utf-8")
                with contextlib.suppress(OSError):
                    if get(port, "/_stcore/health")[0] == 200:
                        break
                time.sleep(0.1)
            yield port, log
        finally:
            process.terminate()
            try:
                process.wait(20)
            finally:
                process.kill()


def get(port: int, address: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", address)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.nightly
def test_command_serves_lessons_from_any_folder(installed, tmp_path):
    """Also from one that has an app and settings of its own."""
    (tmp_path / "app.py").write_text("raise SystemExit('not this one')\n")
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit/config.toml").write_text("[server]\nenableStaticServing = false\n")

    async def visit(url: str, slug: str, lang: str) -> tuple[list[str], list[str]]:
        async with ProtocolClient(url, slug, {"lang": lang}) as student:
            await student.open()
            return student.errors, [*student.widgets]

    with serving(installed, tmp_path) as (port, log):
        static = ROOT / "assets/static"
        for path in sorted(path for path in static.rglob("*") if path.is_file()):
            address = f"/app/static/{path.relative_to(static).as_posix()}"
            assert get(port, address) == (200, path.read_bytes())
        for lang in LANGUAGES:
            errors, widgets = run_async(visit(f"http://127.0.0.1:{port}", LESSON.slug, lang))
            assert errors == []
            assert any(key.startswith(f"{LESSON.code}.") for key in widgets)
        lines = [
            json.loads(line) for line in log.read_text("utf-8").splitlines() if line[:1] == "{"
        ]
    (start,) = [line for line in lines if line.get("message") == "start"]
    assert start["version"] == "0.2.0"
    assert not [line for line in lines if line.get("level") in ("WARNING", "ERROR")]


# The command's words, without a server


@pytest.fixture
def served(monkeypatch) -> list[list[str]]:
    from streamlit.web import cli

    calls: list[list[str]] = []
    monkeypatch.setattr(cli, "main", lambda words, prog_name: calls.append(words))
    return calls


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], []),
        (["serve"], []),
        (["--server.port", "8600"], ["--server.port", "8600"]),
        (["--server.port=8600", "--server.headless", "true"],
         ["--server.port=8600", "--server.headless", "true"]),
        (["serve", "--server.port", "8600"], ["--server.port", "8600"]),
    ],
)  # fmt: skip
def test_command_defaults_to_streamlit_run_with_options(words, options, served):
    command_line.main(words)
    assert served == [["run", str(ROOT / "app.py"), *options]]


@pytest.mark.parametrize(
    ("word", "code", "stream", "said"),
    [
        ("draw_me", 2, "err", "invalid choice: 'draw_me'"),
        ("--help", 0, "out", "seqviz --server.port 8600"),
    ],
)
def test_command_does_not_serve_on_help_or_unknown_word(word, code, stream, said, served, capsys):
    with pytest.raises(SystemExit) as end:
        command_line.main([word])
    assert end.value.code == code
    assert said in getattr(capsys.readouterr(), stream)
    assert served == []
