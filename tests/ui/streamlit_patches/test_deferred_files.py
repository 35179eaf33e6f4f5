"""Files are made in turn, one that waits holds no thread, and what is made can be fetched."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from types import SimpleNamespace

import pytest
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.runtime import app_session
from streamlit.runtime.media_file_manager import MediaFileManager, MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from seqviz.ui.streamlit_patches import deferred_files as files
from testing.protocol import run_async


class Manager:
    """Streamlit's: calls what makes a file, and wraps what that raises."""

    def __init__(self, make) -> None:
        self.make, self.calls = make, 0
        self._lock, self._files_by_session_and_coord = threading.Lock(), defaultdict(dict)

    def execute_deferred(self, file: str) -> str:
        self.calls += 1
        try:
            return self.make(file)
        except Exception as error:
            raise MediaFileStorageError("failed") from error


def asked(handler: files.Files, *names: str) -> list:
    """The answers to requests that come at once, as (url, error)."""

    async def all_of_them() -> list:
        requests = []
        for name in names:
            request = BackendOperationRequest(request_id=name)
            request.deferred_file.file_id = name
            requests.append(handler.handle(request, "session"))
        return await asyncio.gather(*requests)

    return [(item.deferred_file.url, item.error_msg) for item in run_async(all_of_them())]


def handler(make) -> files.Files:
    manager = Manager(make)
    created = files.Files(lambda: manager)
    created.manager = manager
    return created


def test_deferred_files_coalesce_requests_for_same_file():
    files = handler(lambda file: time.sleep(0.05) or f"/{file}")
    assert asked(files, *["book"] * 12) == [("/book", "")] * 12
    assert files.manager.calls == 1
    assert asked(files, "book") == [("/book", "")]
    assert files.manager.calls == 2


def test_deferred_files_limit_pending_requests_per_session():
    result = asked(handler(lambda file: time.sleep(0.02) or f"/{file}"), *map(str, range(9)))
    assert [bool(error) for _, error in result] == [False] * files.PENDING + [True] * 5


def test_deferred_files_wait_without_holding_thread(monkeypatch):
    monkeypatch.setattr(files, "AGAIN", 0.01)
    state = SimpleNamespace(drawn=False)

    def make(file: str) -> str:
        if file == "draws":
            state.drawn = True
        else:
            files.wait_for(state.drawn)
        return f"/{file}"

    waiting = [f"book {n}" for n in range(files.PENDING - 1)]
    result = asked(handler(make), *waiting, "draws")
    assert result == [(f"/{name}", "") for name in (*waiting, "draws")]


def test_deferred_files_survive_cleanup_up_to_limit(monkeypatch):
    """Runs that end at the same time, of whomever, do not delete it; but not all are kept."""
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    created = files.Files(lambda: manager)
    monkeypatch.setattr("streamlit.runtime.media_file_manager._get_session_id", lambda: "session")
    names = [manager.add_deferred(f"file {n}".encode, "text/csv", f"page.{n}") for n in range(9)]
    urls = [url for name in names for url, _ in asked(created, name)]
    for _ in range(3):
        manager.remove_orphaned_files()
    retained = [url for url in urls if url.rsplit("/")[-1].split(".")[0] in manager._file_metadata]
    assert retained == urls[-files.PENDING :]


def test_deferred_files_stop_waiting_after_timeout(monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0.1)
    monkeypatch.setattr(files, "AGAIN", 0.01)
    assert asked(handler(lambda file: files.wait_for(False) or "/part"), "a") == [("/part", "")]
    files.wait_for(False)  # where nobody asks again, it goes on


def test_deferred_files_log_failure_and_return_generic_error(caplog):
    def fail(file: str) -> str:
        raise ValueError("no")

    assert asked(handler(fail), "a") == [("", "Failed to generate the file")]
    assert "a deferred file could not be created" in caplog.text


def test_deferred_files_replace_streamlit_handler(monkeypatch):
    monkeypatch.setattr(app_session, "DeferredFileHandler", app_session.DeferredFileHandler)
    assert not files.PATCH.missing()
    files.PATCH.put()
    session = SimpleNamespace(_script_data=SimpleNamespace(main_script_path="app.py"))
    created = app_session.AppSession._create_backend_operation_dispatcher(session)
    assert isinstance(created._handlers["deferred_file"], files.Files)


@pytest.fixture(autouse=True)
def quick():
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 10
