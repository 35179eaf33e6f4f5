"""Patch: keep idle HTTP connections open as long as browsers do.

uvicorn closes a connection after five idle seconds, and Streamlit passes no such setting on. A page
that sends requests less often, such as votes, then needs a new connection each time, which waits in
the kernel's queue behind all others.
"""

from __future__ import annotations

from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch

KEEP_ALIVE_S = 75  # like nginx; browsers close an idle connection after one to five minutes


def apply() -> None:
    """Apply the patch to servers that start later in this process."""
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
    "Without it a vote after five idle seconds waits for a new connection behind all others.",
)
