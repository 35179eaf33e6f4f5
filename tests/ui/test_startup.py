"""Once per process: one thread per computation, and a setting of the server's owner wins."""

from __future__ import annotations

import os
import subprocess
import sys

from seqviz.text import ASSETS

SCRIPT = """
import gc, os
import numpy  # as Streamlit does before
from seqviz.ui import startup
startup.prepare()
frozen = gc.get_freeze_count()
startup.prepare()
print(os.environ["OMP_NUM_THREADS"], os.environ["MKL_NUM_THREADS"])
print(os.environ["TOKENIZERS_PARALLELISM"], frozen > 1000, gc.isenabled())
import scipy.linalg, threadpoolctl
blas = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
print(len(blas), max(pool["num_threads"] for pool in blas))
"""


def prepared(**settings: str) -> list[str]:
    names = {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "TOKENIZERS_PARALLELISM"}
    plain = {key: value for key, value in os.environ.items() if key not in names}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ASSETS.parent, capture_output=True, text=True,
        timeout=60, env={**plain, "PYTHONPATH": str(ASSETS.parent), **settings},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_one_thread_and_nothing_to_collect():
    """One thread also in the copies of BLAS that numpy (loaded before) and scipy (after) have."""
    assert prepared() == ["1", "1", "false", "True", "True", "2", "1"]


def test_the_owner_of_the_server_decides():
    assert prepared(OMP_NUM_THREADS="2", TOKENIZERS_PARALLELISM="true") == [
        "2", "1", "true", "True", "True", "2", "2",
    ]  # fmt: skip
