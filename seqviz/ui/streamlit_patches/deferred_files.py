"""Files that are made when somebody asks for them: in turn, and none waits in a thread.

Streamlit makes them in the threads that `/metrics` and all that is done beside the pages share. A
notebook that waited there for benches (30 s) kept all others waiting. Here it is asked again and
again, which holds no thread. Unpatched, a notebook has the benches that are drawn.
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

PENDING = 4  # different files that one visitor waits for
PATIENCE = 30.0  # seconds for what a file needs and what is not drawn yet
AGAIN = 0.1  # seconds
MADE = "made "  # begins the name of a place on a page
log = logging.getLogger(__name__)
_last: ContextVar[bool] = ContextVar("last", default=True)


class RetrySoonError(Exception):
    """What makes a file is to be asked again in a moment."""


def wait_for(ready: bool) -> None:
    """In what makes a file: go on where it is ready, or where PATIENCE is over. Raises
    RetrySoonError."""
    if not ready and not _last.get():
        raise RetrySoonError


async def _at_once(session_id: str, work: Callable[[], str]) -> str:
    return await asyncio.to_thread(work)


# Runs what makes a file of a session in a thread, when it is its turn; the server sets another.
in_turn: Callable[[str, Callable[[], str]], Awaitable[str]] = _at_once


class Files:
    """In place of Streamlit's, of one visitor; who asks for a file again waits for the same."""

    def __init__(self, get_media_file_mgr: Callable[[], Any]) -> None:
        self._get_media_file_mgr = get_media_file_mgr
        self._pending: dict[str, asyncio.Task[str]] = {}

    async def handle(
        self, request: BackendOperationRequest, session_id: str
    ) -> BackendOperationResponse:
        """Make the file; the answer says where it is."""
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
            log.exception("a file could not be made")
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
        """Streamlit counts what it has made as nobody's, and deletes it when two runs of whomever
        have ended: in a busy class before the browser has fetched it.
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
    "A notebook could not wait for benches that are not drawn yet, or would keep all others and "
    "`/metrics` waiting. There is no public way.",
)
