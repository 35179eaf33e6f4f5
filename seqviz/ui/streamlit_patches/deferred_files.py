"""Patch: deferred downloads, scheduled like other work and without a waiting thread.

Streamlit creates these files in the default thread pool, which `/metrics` and background work
share. A notebook that waited there for benches (30 s) blocked all other users of the pool. Here it
is retried periodically, which holds no thread. Unpatched, a notebook contains only the rendered
benches.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar, copy_context
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
    from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse

PENDING = 4  # maximum number of files that one session waits for
PATIENCE = 30.0  # seconds for the benches that a file needs
AGAIN = 0.1  # seconds between two attempts
MADE = "made "  # prefix of a created file's coordinates on the page
log = logging.getLogger(__name__)
_last: ContextVar[bool] = ContextVar("last", default=True)


class RetrySoonError(Exception):
    """A file whose creation must be retried in a moment."""


def wait_for(ready: bool) -> None:
    """Return where a file is ready or PATIENCE is over; otherwise raise RetrySoonError."""
    if not ready and not _last.get():
        raise RetrySoonError


async def _at_once(session_id: str, work: Callable[[], str]) -> str:
    return await asyncio.to_thread(work)


# Runs a session's file creation in a thread; the server replaces it by one with a scheduler slot.
in_turn: Callable[[str, Callable[[], str]], Awaitable[str]] = _at_once


class Files:
    """Replacement of Streamlit's handler for one session; equal requests share one file."""

    def __init__(self, get_media_file_mgr: Callable[[], Any]) -> None:
        self._get_media_file_mgr = get_media_file_mgr
        self._pending: dict[str, asyncio.Task[str]] = {}

    async def handle(
        self, request: BackendOperationRequest, session_id: str
    ) -> BackendOperationResponse:
        """Create the file and return its URL."""
        from streamlit.proto import ForwardMsg_pb2 as protocol

        file = request.deferred_file.file_id
        answer = partial(protocol.BackendOperationResponse, request_id=request.request_id)
        if file not in self._pending:
            if len(self._pending) >= PENDING:
                return answer(error_msg="Too many files at once")
            self._pending[file] = task = asyncio.create_task(self._make(file, session_id))
            task.add_done_callback(lambda _: self._pending.pop(file))
        try:
            url = await asyncio.shield(self._pending[file])
        except Exception:
            log.exception("files: a deferred file could not be created")
            return answer(error_msg="Failed to generate the file")
        created = protocol.DeferredFileResponsePayload(url=url)
        return answer(deferred_file=created)

    async def _make(self, file: str, session_id: str) -> str:
        end, make = time.monotonic() + PATIENCE, self._get_media_file_mgr().execute_deferred
        while True:
            context = copy_context()
            context.run(_last.set, time.monotonic() >= end)
            try:
                url = await in_turn(session_id, partial(context.run, make, file))
            except Exception as error:
                if not isinstance(error.__cause__, RetrySoonError):
                    raise
            else:
                self._keep(url, session_id)
                return url
            await asyncio.sleep(AGAIN)

    def _keep(self, url: str, session_id: str) -> None:
        """Keep a created file for the session, up to PENDING files.

        Streamlit counts a created file as unused and deletes it when two runs of any session have
        ended: in a busy class before the browser has fetched it.
        """
        manager = self._get_media_file_mgr()
        with manager._lock:
            held = manager._files_by_session_and_coord[session_id]
            for older in [name for name in held if name.startswith(MADE)][: 1 - PENDING]:
                del held[older]
            file = PurePosixPath(url).stem
            held[MADE + file] = file


PATCH = Patch(
    "deferred_files",
    (
        "streamlit.runtime.backend_operation_handler:DeferredFileHandler.handle",
        "streamlit.runtime.media_file_manager:MediaFileManager.execute_deferred",
        "streamlit.proto.BackMsg_pb2:BackendOperationRequest",
        "streamlit.proto.ForwardMsg_pb2:BackendOperationResponse",
        "streamlit.proto.ForwardMsg_pb2:DeferredFileResponsePayload",
    ),
    {"streamlit.runtime.app_session:DeferredFileHandler": Files},
    "Without it a notebook lacks benches that are not rendered yet, or blocks the thread pool that "
    "`/metrics` uses. No public API.",
)
