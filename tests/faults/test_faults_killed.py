"""A process that is killed at any moment leaves no half file, and the next one works.

Half of the moments are drawn from the whole of a run, half from the few milliseconds in which a
file is written: from when something in the folder changes.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest

from seqviz.compute.gates.tasks import TASKS
from seqviz.models import checkpoints, store
from tests.models.hub import REPO, leftovers

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600)]
KILLS = 25  # of each kind of work: a hundred in all
SECONDS = 130.0  # for each; on a machine that is too slow for as many there are fewer
FEWEST = 5
LONG = 120.0
WRITING = 0.02  # seconds after something new has appeared
SEED = int(os.environ.get("SEQVIZ_TEST_SEED", "") or random.SystemRandom().randrange(10**6))

# Begins the same work again and again, in processes that need not load torch anew.
HOST = """
import os, sys
from dataclasses import replace
from pathlib import Path
import torch, transformers
from seqviz.compute.gates import tiny
from seqviz.experiments.bert_accuracy import features
from seqviz.data.reviews import Labeled
from seqviz.experiments.bake import bake
from seqviz.models import registry
from tools import checkpoints, train_tiny

def training(folder, times):
    checkpoints.FOLDER = Path(folder)
    train_tiny.recommended = lambda *of: replace(tiny.recommended(*of), updates=2)
    train_tiny.FRESH = tiny.TESTED = 20
    for _ in range(int(times)):
        train_tiny.main()

def baking():
    registry.DEFAULTS.clear()
    registry.DEFAULTS["encoder"] = "tiny_bert"
    every = features.parts()
    few = {name: Labeled(one.texts[:300], one.positive[:300]) for name, one in every.items()}
    features.parts = lambda: few
    os._exit(bake())

out, sys.argv[1:] = os.dup(1), []
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
for line in sys.stdin:
    name, *words = line.split()
    pid = os.fork()
    if not pid:
        try:
            globals()[name](*words)
            os._exit(0)
        finally:
            os._exit(1)
    os.write(out, b"%d\\n" % pid)
    os.write(out, b"%d\\n" % os.waitpid(pid, 0)[1])
"""


class Program(subprocess.Popen[bytes]):
    """A process of its own."""

    def __init__(self, *words: str) -> None:
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        super().__init__([sys.executable, "-m", *words], cwd=REPO, **silent)


class Fork:
    """As much of a Popen as is used here, of what the host begins."""

    def __init__(self, host: subprocess.Popen[str], *words: str) -> None:
        self.host = host
        host.stdin.write(" ".join(words) + "\n")
        host.stdin.flush()
        self.pid = int(host.stdout.readline())

    def poll(self) -> int | None:
        return None if psutil.pid_exists(self.pid) else 0

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float) -> int:
        del timeout
        return os.waitstatus_to_exitcode(int(self.host.stdout.readline()))


@pytest.fixture
def fork() -> Iterator[Callable[..., Fork]]:
    command = [sys.executable, "-c", HOST]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=REPO, text=True, **pipes) as host:
        yield partial(Fork, host)
        host.stdin.close()


@dataclass
class Work:
    """What is begun, and the folder in which it writes.

    start: begins it. once: begins what comes to its end. seconds: that this takes.
    """

    start: Callable[[], Program | Fork]
    once: Callable[[], Program | Fork]
    folder: Path
    seconds: float = 0.0

    def run(self) -> None:
        """To its end."""
        started = time.monotonic()
        assert self.once().wait(LONG) == 0
        self.seconds = time.monotonic() - started

    def lies(self) -> dict[str, tuple[int, int]]:
        """What is in the folder."""
        result = {}
        for position, _, names in os.walk(self.folder):
            for path in (os.path.join(position, name) for name in names):
                with suppress(FileNotFoundError):  # it has just been moved
                    result[path] = (os.stat(path).st_size, os.stat(path).st_mtime_ns)
        return result

    def killed(self, lot: random.Random, writing: bool) -> bool:
        """Start it and kill it; False where it had ended before."""
        before, last = self.lies(), time.monotonic() + LONG
        process = self.start()
        while writing and self.lies() == before and process.poll() is None:
            assert time.monotonic() < last
        time.sleep(lot.uniform(0, WRITING if writing else self.seconds))
        process.kill()
        return process.wait(LONG) == -signal.SIGKILL


def kill_often(work: Work, check: Callable[[], object]) -> None:
    """Again and again; `check()` fails where something half lies under a final name."""
    lot, kills, end = random.Random(SEED), 0, time.monotonic() + SECONDS
    work.run()  # the first one fetches
    check()
    work.run()
    check()
    while kills < KILLS and time.monotonic() < end:
        kills += work.killed(lot, writing=bool(kills % 2))
        check()
    print(f"SEQVIZ_TEST_SEED={SEED}: {kills} kills, {work.seconds:.1f} s a run")
    assert kills >= FEWEST
    work.run()
    check()


def test_draw_command_leaves_whole_file_when_killed(tmp_path):
    """What was there before stays until the new one is whole."""
    out = tmp_path / "reach.html"
    words = ("seqviz", "draw", "vanishing_gradients", "reach", "-o", str(out))
    work = Work(partial(Program, *words), partial(Program, *words), tmp_path)

    def check() -> None:
        page = out.read_text("utf-8")
        assert page == "before" or page.rstrip().endswith("</html>")
        out.write_text("before", "utf-8")

    kill_often(work, check)


def test_checkpoint_save_leaves_whole_files_when_killed(fork, tmp_path, monkeypatch):
    """Networks and their cards, one after another, again and again."""
    monkeypatch.setattr(checkpoints, "FOLDER", tmp_path)
    again, once = (partial(fork, "training", str(tmp_path), times) for times in ("1000", "1"))
    work = Work(again, once, tmp_path)

    def check() -> None:
        checkpoints.load.cache_clear()
        assert len(checkpoints.names()) == 2 * len(TASKS)
        for name in checkpoints.names():
            assert checkpoints.card(name).sha256
            assert checkpoints.load(name).parameters

    kill_often(work, check)


def test_model_fetch_leaves_whole_model_when_killed(cache, hub, monkeypatch):
    """That is to take the place of a copy that is there."""
    monkeypatch.setenv("SEQVIZ_MODELS", "encoder:tiny/bert")
    hub.faults.block, hub.faults.pause = 4_000, 0.02
    words = ("seqviz.models", "fetch", "--again", "tiny_bert")
    work = Work(partial(Program, *words), partial(Program, *words), cache)

    def check() -> None:
        names = {name for name in leftovers(cache) if not name.startswith(".unfinished-")}
        assert names <= {"tiny_bert"}
        if names:
            store.verify("tiny_bert")

    kill_often(work, check)
    assert leftovers(cache) == {"tiny_bert"}  # the last one has cleared up


def test_bake_leaves_whole_files_when_killed(request, cache, hub, monkeypatch):
    """Fetch, compare, compute the sentence vectors."""
    monkeypatch.setenv("SEQVIZ_MODELS", "encoder:tiny/bert")
    fork = request.getfixturevalue("fork")  # from here on, with this hub
    work, lot = Work(partial(fork, "baking"), partial(fork, "baking"), cache), random.Random(SEED)

    def check() -> None:
        if (cache / "models" / "tiny_bert").exists():
            store.verify("tiny_bert")
        result = sorted((cache / "features").glob("*.npz"))
        for path in result:
            with np.load(path, allow_pickle=False) as file:
                assert all(np.isfinite(file[name]).all() for name in file.files)
        if result:  # so that there is something to do
            lot.choice(result).unlink()

    kill_often(work, check)
