"""What Streamlit lacks takes nothing along: each patch is applied, or left out by itself."""

from __future__ import annotations

import subprocess
import sys

import pytest
import streamlit as st

from seqviz.core.i18n import ASSETS
from seqviz.ui import streamlit_patches
from seqviz.ui.streamlit_patches import patch
from seqviz.ui.streamlit_patches.patch import Patch

HERE = "streamlit.config:get_option"


@pytest.fixture(autouse=True)
def nothing_applied(monkeypatch):
    monkeypatch.setattr(patch, "_applied", set())


def patches(applied: list[str], *needs: str, fails: str = "") -> list[Patch]:
    """Three, of which the second has these needs, or raises."""

    def made(name: str) -> Patch:
        def apply() -> None:
            if name == fails:
                raise RuntimeError("it has another form")
            applied.append(name)

        return Patch(name, needs if name == "two" and needs else (HERE,), apply, "a test")

    return [made(name) for name in ("one", "two", "three")]


def warnings(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


@pytest.mark.parametrize(
    "need",
    [
        "streamlit.config:no_such_name",
        "streamlit.no_such_module:name",
        "streamlit.runtime.state:SessionState.no_such_name",
        "streamlit.config:get_option.no.such.name",
    ],
)
def test_install_skips_patch_with_missing_name_and_warns_once(need, caplog):
    applied: list[str] = []
    patch.install(patches(applied, HERE, need))
    assert applied == ["one", "three"]
    assert warnings(caplog) == ["patches: runs unpatched: two"]
    assert need in caplog.records[0].reasons


def test_install_lists_all_skipped_patches_in_one_warning(monkeypatch, caplog):
    applied: list[str] = []
    monkeypatch.setattr(st, "__version__", "1.68.0")
    patch.install(patches(applied))
    assert applied == []
    assert warnings(caplog) == ["patches: runs unpatched: one, two, three"]
    assert "1.68.0" in caplog.records[0].reasons


def test_install_continues_after_failing_patch(caplog):
    applied: list[str] = []
    patch.install(patches(applied, fails="two"))
    assert applied == ["one", "three"]
    assert warnings(caplog) == ["patches: runs unpatched: two"]
    assert "RuntimeError" in caplog.records[0].reasons


def test_install_is_disabled_by_setting(monkeypatch, caplog):
    applied: list[str] = []
    monkeypatch.setenv("SEQVIZ_STREAMLIT_PATCHES", "0")
    patch.install(patches(applied))
    assert applied == []
    assert warnings(caplog) == []  # somebody wants it so


def test_install_applies_each_patch_once():
    """Else what was Streamlit's own would be forgotten."""
    applied: list[str] = []
    for _ in range(2):
        patch.install(patches(applied))
    assert applied == ["one", "two", "three"]


@pytest.mark.parametrize("one", streamlit_patches.PATCHES, ids=lambda item: item.name)
def test_patch_needs_exist_in_installed_streamlit(one):
    assert st.__version__ == patch.TESTED
    assert one.needs or one.apply
    assert one.missing() == []
    assert one.why.endswith(".")


def test_patch_names_are_unique_and_match_modules():
    names = [patch.name for patch in streamlit_patches.PATCHES]
    positions = {name for name, var in vars(streamlit_patches).items() if hasattr(var, "PATCH")}
    assert len(names) == len(set(names)) >= 8
    assert positions == set(names)


# In a process of its own: the names are gone before anything of ours is imported.
MOVED = """
import sys
import streamlit
from streamlit import config, net_util
from streamlit.components.v2.bidi_component import main
from streamlit.runtime import app_session, memory_session_storage, scriptrunner
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.state import SafeSessionState
import streamlit.logger
from streamlit.web.server.starlette import starlette_websocket
from streamlit.runtime import memory_media_file_storage
from streamlit.runtime.state import session_state
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import Server
del WebSocketsSansIOProtocol.handle_cont, Server.startup
del session_state.SessionState.on_script_will_rerun
del session_state.WStates.set_widget_from_proto, HttpToolsProtocol.on_body
del memory_media_file_storage._calculate_file_id
del app_session.AppSession._handle_clear_cache_request, app_session.AppSession.has_fragment
del app_session._populate_theme_msg, app_session.DeferredFileHandler
del main.make_bidi_component_presenter, memory_session_storage.TTLCache
del scriptrunner.RerunException, scriptrunner.ScriptRunner._run_script
del SafeSessionState.filtered_state
del MemoryUploadedFileManager.remove_file
del streamlit.logger.setup_formatter, starlette_websocket._is_origin_allowed
del starlette_websocket.StarletteSessionClient._sender
import seqviz.ui.page.page_lesson
from seqviz.ui.app import application
application.configure()
print("begun")
"""


def test_app_starts_when_streamlit_lacks_all_patched_names():
    done = subprocess.run(
        [sys.executable, "-c", MOVED], cwd=ASSETS.parent, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "begun\n", done.stderr
    (warning,) = [line for line in done.stderr.splitlines() if " WARNING " in line]
    for each in streamlit_patches.PATCHES:
        assert each.name in warning
