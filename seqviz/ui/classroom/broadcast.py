"""Broadcast of a teacher's figure, rendered once for all followers (`ui.classroom.routes`).

It is byte for byte the live response (`ui.live.handler`) that each follower's page would request.
The event names the bench and the query, and a page that needs another response still requests it.
Output that depends on the client or the time is not broadcast.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import Mapping, Set
from functools import partial
from typing import Any

from seqviz.classroom.room import ViewKey
from seqviz.core.languages import LANGUAGES
from seqviz.lessons.framework.host import PendingError
from seqviz.lessons.framework.lesson import Bench
from seqviz.ui.embed.request import bench_of
from seqviz.ui.live import handler
from seqviz.ui.quota import charging
from seqviz.ui.runtime import run_context
from seqviz.ui.runtime.clients import ClientQuota
from seqviz.ui.runtime.run_context import Session
from seqviz.ui.runtime.scheduler import Priority

LARGEST = 100_000  # bytes of a broadcast response
log = logging.getLogger(__name__)


async def broadcast_frames(
    location: Mapping[str, Any],
    before: Mapping[str, Any],
    requested: Set[ViewKey],
    account: ClientQuota,
    answered: Set[str] = frozenset(),
) -> dict[ViewKey, bytes]:
    """Return, by view key, a "picture" event for the room's stream.

    An event has bench and query as JSON, and the live response in base64.

    Args:
        location: the teacher's current lesson, bench and values.
        before: the previous one: nothing is sent if the figure has not changed, or in another
            lesson, where pages render anew.
        requested: view keys of the followers.
        account: quota of the teacher.
        answered: keys of the predictions that were revealed to the class.
    """
    bench = bench_of(location["lesson"], location["bench"])
    if bench is None or before.get("lesson") != location["lesson"]:
        return {}
    session = Session("class", 0.0, account=account, answered=set(answered))
    if handler.is_veiled(bench, session):
        return {}
    existing, works = [], []
    for view in sorted(item for item in requested if item[0] in LANGUAGES):
        query = _query(bench, location, view)
        if query != _query(bench, before, view):
            existing.append(view)
            works.append(partial(_event, bench, query, session))
    rendered = await asyncio.gather(
        *(handler.run_scheduled(Priority.INTERACTION, account, work) for work in works),
        return_exceptions=True,
    )
    return {
        view_key: item
        for view_key, item in zip(existing, rendered, strict=True)
        if isinstance(item, bytes)
    }


def _query(bench: Bench, location: Mapping[str, Any], view: ViewKey) -> dict[str, str]:
    """Return the query that a follower's page would request."""
    lang, presenting, dark = view
    benches = [bench.lesson.benches[name] for name in (*bench.after, bench.name)]
    theirs = {item.prefix for item in benches}
    steps = {item.step_key for item in benches if item.steps}  # no setting of the figure
    values = {
        k: text
        for k, text in location["values"].items()
        if k.rpartition(".")[0] in theirs and k not in steps
    }
    visible = {"present": "true"} if presenting else {}
    return {"lang": lang, **values, **visible, **({"dark": "true"} if dark else {})}


def _event(bench: Bench, query: Mapping[str, str], session: Session) -> bytes | None:
    """Return the event, rendered in a thread; None where it cannot be broadcast."""
    with (
        run_context.acting_as(session, bench.lesson.slug, bench.name),
        charging.charge_cpu(session.account, Priority.INTERACTION),
    ):
        try:
            answer = handler.render_bench(bench, query, session, shared=True)
        except (PendingError, ValueError):  # the page says why
            return None
        except Exception:
            log.exception("broadcast: a bench failed")
            return None
    if answer.around.get("is_transient") or len(body := answer.encode()) > LARGEST:
        return None
    payload = json.dumps({"bench": bench.prefix, "query": query}, ensure_ascii=False)
    return b"event: picture\ndata: %b\ndata: %b\n\n" % (payload.encode(), base64.b64encode(body))
