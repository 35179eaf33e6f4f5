"""Patch: closed sessions free their memory at once.

Streamlit keeps a session for a while after its page has disconnected
(`server.disconnectedSessionTTL`), for a reader whose connection was lost. An expired session is a
reference cycle: finding it, the garbage collector would scan the objects of a hundred other
sessions and stop the class for up to a second. The cycle is therefore broken here
(tests/ui/app/test_served_class.py).
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Any

from cachetools import TTLCache

from seqviz.ui.streamlit_patches.patch import Patch

log = logging.getLogger(__name__)
_kept: list[Remembered] = []  # storage of this process's server, where the patch is applied


class Remembered(TTLCache[str, Any]):
    """Storage of disconnected sessions that may reconnect.

    Attributes:
        gone: expired or evicted sessions, to be released. A class leaves together, and releasing a
            hundred sessions at once would take as long as a collection: `let_go` releases one.
    """

    def __init__(self, maxsize: float, ttl: float) -> None:
        super().__init__(maxsize, ttl)
        self.gone: deque[Any] = deque()
        _kept.append(self)

    def expire(self, time: float | None = None) -> Any:
        """Queue expired sessions for release and return them."""
        gone = super().expire(time)
        self.gone.extend(info.session for _, info in gone)
        return gone

    def popitem(self) -> tuple[str, Any]:
        """Queue the oldest session for release."""
        key, info = super().popitem()
        self.gone.append(info.session)
        return key, info

    def let_go(self) -> bool:
        """Release one queued session; return False where there is none.

        A failure is logged and that session left to the garbage collector.
        """
        if not self.gone:
            return False
        try:
            undo(self.gone.popleft())
        except Exception:
            log.exception("sessions: a closed session could not be released")
        return True


def remembered() -> bool:
    """Return True where a session may still reconnect; False without the patch."""
    return any(_kept)


def let_go() -> bool:
    """Release one expired session; return False where there is none."""
    for sessions in _kept:
        sessions.expire()
    return any(sessions.let_go() for sessions in _kept)


def undo(session: Any) -> None:
    """Stop a session's run and clear its state: settings, benches, uploaded files."""
    session.shutdown()
    session._fragment_storage.clear()
    session._session_state.clear()


PATCH = Patch(
    "session_release",
    (
        "streamlit.runtime.session_manager:SessionInfo.session",
        "streamlit.runtime.app_session:AppSession.shutdown",
        "streamlit.runtime.memory_session_storage:MemorySessionStorage",
    ),
    {"streamlit.runtime.memory_session_storage:TTLCache": Remembered},
    "Without it Streamlit releases a session only when another one ends: the last hundred of a "
    "class stay in memory until the next class. `st.App` accepts no session storage.",
)
