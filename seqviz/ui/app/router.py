"""ASGI middleware that routes live requests, embeds, print pages, search and rooms past Streamlit.

Handlers such as `ui.live.handler` are imported at the first request: they import numpy, the figures
and the benches, half a second in which a starting server could already send its first page.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from functools import cache
from typing import TYPE_CHECKING

from starlette.routing import Match, Route

from seqviz.core.i18n import LANGUAGES
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
SEARCH = "/search/{lang}"  # index for the home page


class LiveMiddleware:
    """ASGI middleware that answers these routes before any other processing of a request.

    A drag sends ten requests per second: the remaining middleware and Streamlit cost more than most
    responses. The page of a single bench gets no cookie and occupies no seat.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._base = start = base()
        self._routes = [
            Route(start + ROUTE, _endpoint),
            Route(start + EMBED, _opened),
            Route(start + EMBED, _told, methods=["POST"]),
            Route(start + PRINT, _print),
            Route(start + SEARCH, _search),
        ]
        self._of_class: list[Route] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a matching route, or pass the request on."""
        if scope["type"] == "http":
            current = deprecated_http.current_request(scope, self._base)
            for route in (*self._routes, *self._rooms(current)):
                match, result = route.matches(current)
                if match is Match.FULL:
                    await route.handle({**current, **result}, receive, send)
                    return
        await self.app(scope, receive, send)

    def _rooms(self, scope: Scope) -> list[Route]:
        """Return the room routes where the request may match one."""
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


async def _search(request: Request) -> Response:
    from starlette.responses import Response

    lang = request.path_params["lang"]
    if lang not in LANGUAGES:
        return Response(status_code=404)
    headers = {"Content-Encoding": "gzip", "Cache-Control": "public, max-age=600"}
    content = await asyncio.to_thread(_search_index, lang)
    return Response(content, headers=headers, media_type="application/json")


@cache
def _search_index(lang: str) -> bytes:
    from seqviz.content import search_index

    return gzip.compress(json.dumps(search_index.rows(lang), ensure_ascii=False).encode())


async def _print(request: Request) -> Response:
    from seqviz.ui.embed import routes as route

    return await route.print_view(request)
