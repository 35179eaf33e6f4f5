"""Run of an embedded bench: its output as data for the browser."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from seqviz.core.i18n import Text
from seqviz.lessons.framework import markdown
from seqviz.lessons.framework.control_schema import active_controls, describe_controls
from seqviz.lessons.framework.controls import encoded
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.output import Chart, ClickBindings, Output
from seqviz.lessons.framework.words import LessonWords
from seqviz.ui.embed import items
from seqviz.ui.embed.embed_host import EmbedHost
from seqviz.ui.embed.request import EmbedRequest, parse_request
from seqviz.ui.live import handler
from seqviz.ui.quota import charging
from seqviz.ui.render.clicks import on_pick
from seqviz.ui.runtime import run_context
from seqviz.ui.runtime.run_context import Session
from seqviz.ui.runtime.scheduler import Priority
from seqviz.ui.server.static_files import base

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EmbedPayload:
    """Output of an embedded bench.

    Attributes:
        payload: for `assets/static/embed/embed.js`, without anything that identifies the reader.
        live: descriptor of live requests; None without live controls.
        is_cacheable: equal requests get the same payload at any time.
    """

    payload: Mapping[str, Any]
    live: Mapping[str, Any] | None
    is_cacheable: bool

    def json(self, token: str = "") -> str:
        """Return the payload as JSON with the session's token, safe inside a script element."""
        live = self.live and {**self.live, "token": token}
        payload = json.dumps({**self.payload, "live": live}, ensure_ascii=False)
        return payload.replace("<", "\\u003c")


def run_embed(
    embed_request: EmbedRequest, session: Session, rank: Priority = Priority.INTERACTION
) -> EmbedPayload:
    """Run the bench; an error becomes one sentence beside the output before it.

    Args:
        embed_request: the bench at its settings.
        session: charged for it.
        rank: priority that the CPU time is recorded under.
    """
    bench, text = embed_request.bench, Text(embed_request.lang)
    words = LessonWords(bench.lesson.slug, text)
    host = _host(embed_request, session)
    problem, loading, output = "", False, Output()
    with run_context.acting_as(session, bench.lesson.slug, bench.name):
        try:
            output = _run(embed_request, host, session, rank)
            problem, loading = output.waits, host.loading
        except ValueError as refusal:
            problem, host.is_cacheable = to_message(refusal, words), False
        except Exception:
            log.exception("embed: a bench failed")
            problem, host.is_cacheable = words("frame.failed"), False
        live = _live(embed_request, session)
    with embed_request.reading():
        controls = describe_controls(
            embed_request.bench_parameters, words, f"{bench.prefix}.", markdown.inline
        )
    visible = output.items or host.items  # what came before an error is at the host only
    payload = {
        "bench": bench.prefix,
        "query": {**embed_request.shared, **embed_request.view_parameters},
        "texts": dict(embed_request.typed),
        "dark": embed_request.dark,
        "lesson": lesson_link(embed_request),
        "controls": controls,
        "problem": markdown.html(problem) if problem else "",
        "loading": loading,
        "missing": text("frame.no_library"),
        **items.figure_payload(visible, vars(bench.declaration())),
        **items.note_payload(visible, output, words),
    }
    return EmbedPayload(payload, live, host.is_cacheable and not embed_request.typed)


def live_source(embed_request: EmbedRequest, session: Session) -> str:
    """Return only the descriptor of live requests as JSON, for a page that has the rest."""
    with run_context.acting_as(session, embed_request.bench.lesson.slug, embed_request.bench.name):
        return json.dumps({"live": _live(embed_request, session)})


def apply_click(embed_request: EmbedRequest, session: Session, x: Any, y: Any) -> EmbedRequest:
    """Return the request after a click on the figure; the coordinates may be anything."""
    bench = embed_request.bench
    host = _host(embed_request, session)
    with run_context.acting_as(session, bench.lesson.slug, bench.name), suppress(ValueError):
        _run(
            embed_request, host, session, Priority.INTERACTION
        )  # an error is shown with the output
    clicks = next((item.clicks for item in host.items if isinstance(item, Chart)), ClickBindings())
    start = f"{bench.prefix}."
    state = {
        f"{start}{name}": getattr(embed_request.bench_parameters, name)
        for name, *_ in active_controls(embed_request.bench_parameters)
    }
    if move := on_pick(bench.prefix, bench.declaration, clicks, state):
        move(x, y)
    written = {key: encoded(value) for key, value in state.items()}
    # A click that changes a text of the reader keeps it private.
    typed = {key: written.pop(key, text) for key, text in embed_request.typed.items()}
    query = {**embed_request.link, **embed_request.view_parameters, **written}
    return parse_request(bench, query, typed, embed_request.lang, embed_request.dark)


def lesson_link(embed_request: EmbedRequest, origin: str = "") -> str:
    """Return the URL of the bench in its lesson with the same settings."""
    lesson = embed_request.bench.lesson
    present = {"present": "true"} if embed_request.present else {}
    query = urlencode({**embed_request.shared, "lang": embed_request.lang, **present})
    return f"{origin}{base()}/{lesson.slug}?{query}#bench-{embed_request.bench.name}"


def _live(embed_request: EmbedRequest, session: Session) -> dict[str, Any] | None:
    if embed_request.is_veiled:
        return None
    session.answered.update(embed_request.bench.veiled_by)
    return handler.live_descriptor(
        embed_request.bench,
        embed_request.params,
        embed_request.lang,
        embed_request.present,
        embed_request.dark,
    )


def _host(embed_request: EmbedRequest, session: Session) -> EmbedHost:
    bench = embed_request.bench
    others = {name: embed_request.params[bench.lesson.prefix(name)] for name in bench.after}
    words = LessonWords(bench.lesson.slug, Text(embed_request.lang))
    return EmbedHost(
        others, dark=embed_request.dark, session=session, prefix=bench.prefix, words=words
    )


def _run(embed_request: EmbedRequest, host: EmbedHost, session: Session, rank: Priority) -> Output:
    bench, text = embed_request.bench, Text(embed_request.lang)
    with embed_request.reading(), charging.charge_cpu(session.account, rank):
        return bench.run_on(
            embed_request.bench_parameters,
            host,
            text,
            embed_request.style,
            code=False,
            veiled=embed_request.is_veiled,
        )
