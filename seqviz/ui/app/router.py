"""Where the requests of a moving hand arrive, and those of benches in pages of their own (`embed`),
and of a class in a room.

What answers, such as `ui.live.handler`, is loaded with the first.

It brings numpy, the figures and what benches are made of, half a second in which a server that
starts could have sent its first page already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Match, Route

from seqviz.ui.server import deprecated_http
from seqviz.ui.server.static_files import base

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from seqviz.ui.classroom.routes import RoomBackend

ROUTE = "/live/{slug}/{bench}"
EMBED = "/embed/{slug}/{bench}"
PRINT = "/print/{slug}/{bench}"


class LiveMiddleware:
    """Middleware that answers these routes before anything else looks at the request.

    A hand asks ten times a second: what else of Streamlit's and ours looks at each request costs
    more than most answers. And a page of a single bench gets no cookie and takes no seat.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._base = start = base()
        self._routes = [
            Route(start + ROUTE, _endpoint),
            Route(start + EMBED, _opened),
            Route(start + EMBED, _told, methods=["POST"]),
            Route(start + PRINT, _print),
        ]
        self._of_class: list[Route] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on."""
        if scope["type"] == "http":
            current = deprecated_http.current_request(scope, self._base)
            for route in (*self._routes, *self._rooms(current)):
                match, result = route.matches(current)
                if match is Match.FULL:
                    await route.handle({**current, **result}, receive, send)
                    return
        await self.app(scope, receive, send)

    def _rooms(self, scope: Scope) -> list[Route]:
        """The routes of a class, where a request may be one of them."""
        if not scope["path"].startswith(f"{self._base}/room"):
            return []
        if not self._of_class:
            from seqviz.ui.classroom import routes as room_route

            room_route.runner = _runner
            self._of_class = room_route.routes()
        return self._of_class


def _runner() -> RoomBackend:
    from seqviz.ui.classroom import seed_experiment

    return seed_experiment


async def _endpoint(request: Request) -> Response:
    from seqviz.ui.live import handler

    return await handler.endpoint(request)


async def _opened(request: Request) -> Response:
    from seqviz.ui.embed import routes as route

    return await route.get_page(request)


async def _told(request: Request) -> Response:
    from seqviz.ui.embed import routes as route

    return await route.post_update(request)


async def _print(request: Request) -> Response:
    from seqviz.ui.embed import routes as route

    return await route.print_view(request)
