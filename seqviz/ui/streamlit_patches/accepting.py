"""New connections are accepted several at a time.

The event loop takes one in each of its turns (libuv, on which uvloop stands). While many are made,
a turn is long, and whoever has none yet, or one that has rested for five seconds and was closed,
waits behind all of them: a vote for half a second, where one on an open connection took 5 ms.
"""

from __future__ import annotations

import asyncio
import os
import socket
from functools import partial
from typing import Any

from seqviz.ui.streamlit_patches.patch import Patch

AT_ONCE = 16  # accepted in one turn


def apply() -> None:
    """From now on, in this process: servers that are yet to start."""
    from uvicorn.server import Server

    start = Server.startup

    async def startup(self: Any, sockets: Any = None) -> None:
        await start(self, sockets)
        loop = asyncio.get_running_loop()
        if not type(loop).__module__.startswith("uvloop"):
            return
        protocol = partial(
            self.config.http_protocol_class,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        listening = [one.fileno() for server in self.servers for one in server.sockets]
        for number in listening * (AT_ONCE - 1):
            self.servers.append(
                await loop.create_server(
                    protocol,
                    sock=socket.socket(fileno=os.dup(number)),
                    ssl=self.config.ssl,
                    backlog=self.config.backlog,
                )
            )

    Server.startup = startup  # type: ignore[method-assign]


PATCH = Patch(
    "accepting",
    ("uvicorn.server:Server.startup",),
    apply,
    "Who connects while many do waits for a turn of the event loop for each of them. There is no "
    "public way.",
)
