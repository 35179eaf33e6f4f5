"""transformers makes its modules on demand; threads that import it at once must all have it."""

from __future__ import annotations

import subprocess
import sys

from seqviz.core.paths import ROOT

# Who counts parameters and who loads a model are different benches of a page that has just opened.
SCRIPT = """
import threading
import torch
from seqviz.experiments.transformer import architectures
from seqviz.models import pretrained

failed, together = [], threading.Barrier(3)

def attempt(work):
    together.wait()
    try:
        work()
    except ImportError as error:
        failed.append(repr(error))

threads = [threading.Thread(target=attempt, args=(work,)) for work in (
    lambda: pretrained.load("smollm2"),
    lambda: architectures.architecture("gpt2"),
    lambda: architectures.architecture("minilm"),
)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(failed or "all have it")
"""


def test_transformers_imports_concurrently_from_threads(smollm2):
    """The fixture sees to it that the model is on this machine; the process is a fresh one."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert done.stdout.strip() == "all have it", done.stdout + done.stderr[-2000:]
