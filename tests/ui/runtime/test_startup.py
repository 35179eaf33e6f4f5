"""Once per process: one thread per computation, and a setting of the server's owner wins."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from functools import partial
from itertools import product

import pytest

from seqviz.content import catalog
from seqviz.core.i18n import ASSETS, LANGUAGES
from seqviz.ui.runtime import startup
from testing.protocol import run_async

SCRIPT = """
import gc, os
import numpy  # as Streamlit does before
from seqviz.ui.runtime import startup
startup.configure_process()
frozen = gc.get_freeze_count()
startup.configure_process()
print(os.environ["OMP_NUM_THREADS"], os.environ["MKL_NUM_THREADS"])
print(os.environ["TOKENIZERS_PARALLELISM"], frozen > 1000, gc.isenabled())
import scipy.linalg, threadpoolctl
blas = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
print(len(blas), max(pool["num_threads"] for pool in blas))
"""


# How many heaps malloc has after forty threads have had memory of it at once.
HEAPS = """
import ctypes, re, tempfile, threading
from seqviz.ui.runtime import startup
startup.configure_process()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
meet = threading.Barrier(40)
def work():
    kept = [bytearray(5000) for _ in range(50)]
    meet.wait()
threads = [threading.Thread(target=work) for _ in range(40)]
for thread in threads: thread.start()
for thread in threads: thread.join()
with tempfile.NamedTemporaryFile() as file:
    stream = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
    libc.malloc_info(0, stream)
    libc.fclose(stream)
    print(len(re.findall(rb"<heap nr", file.read())))
"""


def prepared(script: str = SCRIPT, **settings: str) -> list[str]:
    names = {
        "OMP_NUM_THREADS", "MKL_NUM_THREADS", "TOKENIZERS_PARALLELISM", "MALLOC_ARENA_MAX",
    }  # fmt: skip
    plain = {key: value for key, value in os.environ.items() if key not in names}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ASSETS.parent, capture_output=True, text=True,
        timeout=150, env={**plain, "PYTHONPATH": str(ASSETS.parent), **settings},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_configure_process_sets_one_thread_and_freezes_gc():
    """One thread also in the copies of BLAS that numpy (loaded before) and scipy (after) have."""
    assert prepared() == ["1", "1", "false", "True", "True", "2", "1"]


def test_configure_process_keeps_owner_settings():
    assert prepared(OMP_NUM_THREADS="2", TOKENIZERS_PARALLELISM="true") == [
        "2", "1", "true", "True", "True", "2", "2",
    ]  # fmt: skip


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="not glibc")
def test_configure_process_limits_malloc_arenas():
    assert int(prepared(HEAPS)[0]) <= startup.ARENAS
    assert int(prepared(HEAPS, MALLOC_ARENA_MAX="5")[0]) > startup.ARENAS  # the owner decides


FIRST = """
import sys
from streamlit.testing.v1 import AppTest
import seqviz
from seqviz.ui.live import handler
from seqviz.ui.page import lazy_loading
from seqviz.ui.app import application
lazy_loading.LAZY.on = True
for path in ("app.py", "pages/ar_fitting.py"):
    assert not AppTest.from_file(path, default_timeout=120).run().exception
heavy = {"torch", "transformers", "scipy", "sklearn", "statsmodels", "pandas", "altair"}
print(*heavy & set(sys.modules))
"""


def test_home_and_first_lesson_import_no_heavy_library():
    assert prepared(FIRST) == []


BEFORE = """
import json, sys
from pathlib import Path
from seqviz.models import store
from seqviz.ui.prerender import shell
from seqviz.ui.app import application
application.configure()
for layer in reversed(application.middleware()):
    layer.cls(None, *layer.args, **layer.kwargs)
application.startup.configure_process()
kept = shell._file("gates", "en")
kept.parent.mkdir()
kept.write_text(json.dumps({"html": "", "payload": {}, "figures": {}}))
for slug in ("", "gates"):
    shell.page(slug, "en", True, application._undrawn)
needless = {"numpy", "pandas", "seqviz.lessons.framework.lesson", "seqviz.figures"}
needless |= {"seqviz.ui.live.handler"}
print(*needless & set(sys.modules))
"""


def test_server_sends_first_page_without_lesson_imports(tmp_path):
    assert prepared(BEFORE, SEQVIZ_CACHE=str(tmp_path)) == []


def test_preload_imports_lessons_then_libraries(monkeypatch):
    """One lesson at once, the libraries when somebody has come and has read for a while.

    The search is built after the lessons: the first one to type does not wait for it.
    """
    loaded, waited, built = [], [], []

    async def sleep(seconds: float) -> None:
        waited.append((seconds, len(loaded)))

    monkeypatch.setattr(startup.importlib, "import_module", loaded.append)
    monkeypatch.setattr(startup.asyncio, "sleep", sleep)
    monkeypatch.setattr(
        startup.search_index, "rows", lambda lang: built.append((lang, len(loaded)))
    )
    here = iter((False, False, True))
    run_async(startup.preload_in_background(lambda: next(here)))
    lessons = [f"seqviz.lessons.{lesson.slug}" for lesson in catalog.LESSONS]
    assert loaded == [startup.PAGE, *lessons, *startup.LIBRARIES, "torch"]
    there = 1 + len(lessons)
    assert built == [(lang, there) for lang in LANGUAGES]
    assert waited == [
        (startup.ARRIVING_SECONDS, 2), *[(1.0, there)] * 2, (startup.READING_SECONDS, there),
    ]  # fmt: skip


def test_preload_calls_what_lessons_declare_after_the_libraries(monkeypatch):
    from seqviz.lessons.language_models.lesson import lesson

    called, loaded = [], []

    async def sleep(seconds: float) -> None:
        pass

    monkeypatch.setattr(startup.importlib, "import_module", loaded.append)
    monkeypatch.setattr(startup.asyncio, "sleep", sleep)
    monkeypatch.setattr(startup.search_index, "rows", lambda lang: None)
    monkeypatch.setattr(lesson, "warm_up", tuple(
        partial(lambda *kind: called.append((kind, loaded[-1])), *function.args)
        for function in lesson.warm_up
    ))  # fmt: skip
    run_async(startup.preload_in_background(lambda: True))
    kinds = product(("en", "zh"), ("letters", "words"))
    assert called == [(kind, "torch") for kind in kinds]


IMPORTS = """
import os, sys
from streamlit.testing.v1 import AppTest
from seqviz.content import catalog
from seqviz.models import pretrained
from seqviz.ui.runtime import startup
startup.configure_process()
startup.load_libraries()
pretrained.load("minilm")
AppTest.from_file("app.py", default_timeout=120).run()  # the map: what Streamlit needs itself
before = {name.partition(".")[0] for name in sys.modules}
for lesson in catalog.LESSONS:
    page = AppTest.from_file(f"pages/{lesson.slug}.py", default_timeout=120).run()
    assert not page.exception
after = {name.partition(".")[0] for name in sys.modules}
small = {"seqviz", "cachetools", "jaxtyping"}  # some milliseconds
print(*sorted(after - before - small), flush=True)
os._exit(0)  # a thread of a library that still runs would abort the interpreter's end
"""


def test_lesson_pages_import_no_library_after_startup(minilm_on_disk):
    """Altair, for one, took the first student of a class 0.2 s."""
    assert prepared(IMPORTS) == []
