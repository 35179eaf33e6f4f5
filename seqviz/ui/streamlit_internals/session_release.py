"""A session that has left for good gives back what it held, at once.

Streamlit keeps a session for a while after its page has gone (`server.disconnectedSessionTTL`), for
a reader whose line was cut. What it then lets go is a knot of objects that refer to each other: the
collector would have to look at the objects of a hundred others, which stops the class for up to a
second, to find that they are garbage. So the knot is undone here. There is no public way to
Streamlit's storage of sessions; what is used of it is checked by tests/server/test_server_class.py.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Any

from cachetools import TTLCache
from streamlit.runtime import get_instance

log = logging.getLogger(__name__)


class Remembered(TTLCache[str, Any]):
    """Sessions that may come back.

    gone: those whose time is over, or that found no room. A class leaves together, and undoing a
    hundred at once would take the server as long as a collection: `let_go` undoes one.
    """

    def __init__(self, maxsize: float, ttl: float) -> None:
        super().__init__(maxsize, ttl)
        self.gone: deque[Any] = deque()

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


def remember() -> Remembered:
    """Make Streamlit keep its sessions here, as many and for as long as before."""
    storage: Any = get_instance()._session_mgr._session_storage  # type: ignore[attr-defined]
    former = storage._cache
    storage._cache = Remembered(former.maxsize, former.ttl)
    storage._cache.update(former)
    return storage._cache


def undo(session: Any) -> None:
    """Stop a session's run and empty what it holds: settings, benches, uploaded files."""
    session.shutdown()
    session._fragment_storage.clear()
    session._session_state.clear()
