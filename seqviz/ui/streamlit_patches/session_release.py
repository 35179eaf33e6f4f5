"""A session that has left for good gives back what it held, at once.

Streamlit keeps a session for a while after its page has gone (`server.disconnectedSessionTTL`), for
a reader whose line was cut. What it then lets go is a knot of objects that refer to each other: the
collector would have to look at the objects of a hundred others, which stops the class for up to a
second, to find that they are garbage. So the knot is undone here
(tests/ui/app/test_served_class.py).
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Any

from cachetools import TTLCache

from seqviz.ui.streamlit_patches.patch import Patch

log = logging.getLogger(__name__)
_kept: list[Remembered] = []  # the one of this process's server, where the patch is applied


class Remembered(TTLCache[str, Any]):
    """Sessions that may come back.

    gone: those whose time is over, or that found no room. A class leaves together, and undoing a
    hundred at once would take the server as long as a collection: `let_go` undoes one.
    """

    def __init__(self, maxsize: float, ttl: float) -> None:
        super().__init__(maxsize, ttl)
        self.gone: deque[Any] = deque()
        _kept.append(self)

    def expire(self, time: float | None = None) -> Any:
        """Note those whose time is over; returns them."""
        gone = super().expire(time)
        self.gone.extend(info.session for _, info in gone)
        return gone

    def popitem(self) -> tuple[str, Any]:
        """Note the one that left first."""
        key, info = super().popitem()
        self.gone.append(info.session)
        return key, info

    def let_go(self) -> bool:
        """Undo one that has gone; False where there is none.

        One that cannot be undone is logged and left to the collector: the others still go.
        """
        if not self.gone:
            return False
        try:
            undo(self.gone.popleft())
        except Exception:
            log.exception("a session that has left could not be undone")
        return True


def remembered() -> bool:
    """Whether a session may still come back; False where Streamlit keeps them itself."""
    return any(_kept)


def let_go() -> bool:
    """Undo one session whose time is over; False where there is none."""
    for sessions in _kept:
        sessions.expire()
    return any(sessions.let_go() for sessions in _kept)


def undo(session: Any) -> None:
    """Stop a session's run and empty what it holds: settings, benches, uploaded files."""
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
    "Streamlit lets sessions go when another one ends: the last hundred of a class would stay in "
    "memory until the next class. `st.App` takes no storage of sessions.",
)
