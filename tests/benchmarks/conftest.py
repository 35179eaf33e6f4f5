"""The server that the tests of `seqviz.ui` have."""

from __future__ import annotations

from tests.ui import conftest as ui

server = ui.server
