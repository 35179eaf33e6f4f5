"""Shape checks for the whole suite, no hub, and the two real models for who needs them.

jaxtyping annotations in `compute` are enforced by beartype. Models come from this machine or in a
package, so pages offer the same ones everywhere.
"""

from __future__ import annotations

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read once, when the hub's client is imported

import pytest
from jaxtyping import install_import_hook

install_import_hook("seqviz.compute", "beartype.beartype")

REQUIRED = os.environ.get("SEQVIZ_REQUIRE_MODELS") == "1"  # set where the models were promised
lacking = []


def real(name: str):
    """A real model in memory."""
    from seqviz.models import pretrained

    fetch(name)
    return pretrained.load(name)


def fetch(name: str) -> None:
    """A real model on this machine; a skip where it cannot be had."""
    from seqviz.models import store
    from seqviz.refusal import Refusal

    try:
        store.fetch(name)
    except Refusal as refusal:
        if refusal.code == "unreachable" and not REQUIRED:
            lacking.append(name)
            pytest.skip(f"{name} is not on this machine and cannot be fetched")
        raise


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


def pytest_terminal_summary(terminalreporter) -> None:
    """One line for all tests that had no model."""
    if lacking:
        names = " ".join(sorted(set(lacking)))
        terminalreporter.write_line(
            f"Tests with pretrained models skipped. `python -m seqviz.models fetch {names}`"
        )
