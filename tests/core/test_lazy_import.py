"""A library whose import was broken off in the middle can be had all the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

# What is left where `import jsonschema` was broken off: its parts, but not the package.
BROKEN = "import sys, jsonschema; del sys.modules['jsonschema']\n"
PLAIN = "import altair"
WHOLE = (
    "from seqviz.core.lazy_import import import_or_retry\n"
    "assert import_or_retry('altair', 'jsonschema').Chart"
)


@pytest.mark.parametrize(("how", "works"), [(PLAIN, False), (WHOLE, True)])
def test_import_or_retry_repairs_interrupted_import(how, works):
    done = subprocess.run([sys.executable, "-c", BROKEN + how], capture_output=True, timeout=120)
    assert (done.returncode == 0) == works, done.stderr.decode()[-500:]


def test_import_or_retry_raises_on_missing_module():
    from seqviz.core.lazy_import import import_or_retry

    with pytest.raises(ModuleNotFoundError):
        import_or_retry("no_such_library")


# Another thread has begun to import pandas; it is whole a moment later.
HALF_A_PANDAS = """
import importlib.util, sys, threading, time
import numpy as np
from seqviz.compute.ar_fitting import window_slopes
from seqviz.figures.ar_fitting import by_hand

spec = importlib.util.find_spec("pandas")

class Slow(type(spec.loader)):
    def exec_module(self, module):
        begun.set()
        time.sleep(2.0)
        super().exec_module(module)

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "pandas":
            return None
        sys.meta_path.remove(Finder)
        spec.loader = Slow(spec.loader.name, spec.loader.path)
        return spec

import altair
for name in [one for one in sys.modules if one.partition(".")[0] == "pandas"]:
    del sys.modules[name]
begun = threading.Event()
sys.meta_path.insert(0, Finder)
other = threading.Thread(target=lambda: __import__("pandas"))
other.start()
begun.wait(20)
values = np.arange(20.0) % 3
by_hand.slopes_by_window(values, window_slopes(values)).to_dict()
other.join()
"""


@pytest.mark.nightly
def test_slopes_by_window_waits_for_pandas_import_of_other_thread():
    done = subprocess.run([sys.executable, "-c", HALF_A_PANDAS], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()[-800:]
