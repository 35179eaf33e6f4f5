"""Keep idle connections open as long as browsers do.

uvicorn closes a connection that was idle for five seconds, and Streamlit passes no such setting on.
A page that votes or comes back less often than that then needs a new connection each time, and a
new connection waits in the kernel's queue behind all others.
"""

from __future__ import annotations

from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch

KEEP_ALIVE_S = 75  # as nginx does; browsers give up an idle connection after one to five minutes


def apply() -> None:
    """Change the setting of servers that are yet to start in this process."""
    from uvicorn.server import Server

    start = Server.startup

    async def startup(self: Any, sockets: Any = None) -> None:
        self.config.timeout_keep_alive = KEEP_ALIVE_S
        await start(self, sockets)

    Server.startup = startup  # type: ignore[method-assign]


PATCH = Patch(
    "keep_alive",
    ("uvicorn.server:Server.startup",),
    apply,
    "A vote after five idle seconds waits for a new connection behind all that others open.",
)
