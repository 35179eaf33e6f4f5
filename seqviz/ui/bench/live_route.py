"""Where the requests of a moving hand arrive; `fast_path`, which answers, is loaded with the first.

It brings numpy, the figures and what benches are made of, half a second in which a server that
starts could have sent its first page already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Match, Route

from seqviz.ui.server.static_files import base

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

ROUTE = "/live/{slug}/{bench}"


class Straight:
    """Middleware that answers the route before anything else looks at the request.

    A hand asks ten times a second: what else of Streamlit's and ours looks at each request costs
    more than most answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._route = Route(base() + ROUTE, _endpoint)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on."""
        match, found = self._route.matches(scope)
        if match is not Match.FULL:
            await self.app(scope, receive, send)
            return
        await self._route.handle({**scope, **found}, receive, send)


async def _endpoint(request: Request) -> Response:
    from seqviz.ui.bench import fast_path

    return await fast_path.endpoint(request)
