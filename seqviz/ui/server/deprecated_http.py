"""Deprecated names of routes, headers and messages, for pages loaded before an update.

`current_request` is applied once before routing, `current_message` to every message of a room. A
deprecated route responds with the field names of its time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import Scope

# Each table maps the deprecated name to the current one.
HEADERS = {
    b"x-seqviz-ahead": b"x-seqviz-prefetch",
    b"x-seqviz-has": b"x-seqviz-known-arrays",
    b"x-seqviz-moving": b"x-seqviz-dragging",
    b"x-seqviz-part": b"x-seqviz-payload",
    b"x-seqviz-typed": b"x-seqviz-live-text",
    b"x-seqviz-visitor": b"x-seqviz-session",
}
PAGE_ROUTES = {"still": "print"}  # /still/{slug}/{bench}
ROOM_ROUTES = {  # /room/{code}/said
    "drawn": "drawings",
    "heard": "events",
    "left": "summary",
    "said": "messages",
    "sent": "submissions",
    "waiting": "pending",
}
MESSAGE_KINDS = {"again": "reopen", "place": "navigate", "where": "presence"}
MESSAGE_FIELDS = {
    "as": "type",
    "do": "action",
    "left": "detached",
    "looks": "view",
    "own": "text_keys",
}
# From the current field name in a response to the deprecated one.
ANSWER_FIELDS = {
    "answers": "own",
    "detached": "left",
    "has_text": "own",
    "pending": "waiting",
    "text_keys": "own",
    "type": "as",
}
_MARK = "seqviz.deprecated_route"


def current_request(scope: Scope, base: str) -> Scope:
    """Return the scope of an HTTP request with current names in path and headers.

    Args:
        scope: of the request.
        base: path under which the app is served.
    """
    headers = [(HEADERS.get(name, name), value) for name, value in scope["headers"]]
    start, *parts = scope["path"].removeprefix(base).split("/")
    if start or not scope["path"].startswith(base) or len(parts) < 3:
        return {**scope, "headers": headers}
    if parts[0] in PAGE_ROUTES:
        parts[0] = PAGE_ROUTES[parts[0]]
    elif parts[0] == "room" and parts[2] in ROOM_ROUTES:
        parts[2] = ROOM_ROUTES[parts[2]]
        scope = {**scope, _MARK: True}
    return {**scope, "path": "/".join((base, *parts)), "headers": headers}


def current_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message of a room with current kind and field names.

    Names inside "sketches" are converted too: browsers may have stored them before an update.
    """
    current = _renamed(message, MESSAGE_FIELDS)
    if isinstance(kind := message.get("kind"), str):
        current["kind"] = MESSAGE_KINDS.get(kind, kind)
    if isinstance(sketches := message.get("sketches"), list):
        current["sketches"] = [
            _renamed(each, MESSAGE_FIELDS) if isinstance(each, dict) else each for each in sketches
        ]
    return current


def is_deprecated(scope: Scope) -> bool:
    """Return True where the request used a deprecated route of a room."""
    return _MARK in scope


def deprecated_answer(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response of a room with the field names of the deprecated routes."""
    return {name: _deprecated(value) for name, value in _renamed(answer, ANSWER_FIELDS).items()}


def _deprecated(value: Any) -> Any:
    if isinstance(value, dict):
        return deprecated_answer(value)
    return [_deprecated(each) for each in value] if isinstance(value, list) else value


def _renamed(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in fields.items()}
