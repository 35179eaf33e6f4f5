"""A library whose import was broken off in the middle can be had all the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

# What is left where `import jsonschema` was broken off: its parts, but not the package.
BROKEN = "import sys, jsonschema; del sys.modules['jsonschema']\n"
PLAIN = "import altair"
WHOLE = "from seqviz.libraries import whole\nassert whole('altair', 'jsonschema').Chart"


@pytest.mark.parametrize(("how", "works"), [(PLAIN, False), (WHOLE, True)])
def test_a_broken_import_is_begun_once_more(how, works):
    done = subprocess.run([sys.executable, "-c", BROKEN + how], capture_output=True, timeout=120)
    assert (done.returncode == 0) == works, done.stderr.decode()[-500:]


def test_what_is_not_there_is_not_there():
    from seqviz.libraries import whole

    with pytest.raises(ModuleNotFoundError):
        whole("no_such_library")
