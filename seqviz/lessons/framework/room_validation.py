"""Validation of room messages against the lesson and bench that they refer to.

Entry point: `validate_message`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from seqviz import lessons
from seqviz.classroom.shared_texts import strip_invisible
from seqviz.content import catalog
from seqviz.core.errors import UserError
from seqviz.core.i18n import Text
from seqviz.core.languages import DEFAULT
from seqviz.lessons.framework.controls import (
    DEFAULTS,
    Choice,
    Control,
    TextInput,
    controls,
    languages,
)
from seqviz.lessons.framework.lesson import Bench

HOME = "home"  # location of a page outside the lessons
MAX_NOTE_CHARS = 200  # as in the browser (`bench/bookmark_storage.js`)


@cache
def lesson_controls(slug: str) -> Mapping[str, Control]:
    """Return the controls of a lesson by permalink key; empty for an unknown lesson.

    The language of the defaults is a choice among them.

    Imports the lesson, which can take seconds the first time.
    """
    result: dict[str, Control] = {}
    for bench in _benches(slug).values():
        result |= {f"{bench.prefix}.{name}": item for name, item in controls(bench.declaration)}
        if len(among := languages(bench.declaration)) > 1:
            result[f"{bench.prefix}.{DEFAULTS}"] = Choice(DEFAULT, options=among)
    return result


def _benches(slug: str) -> Mapping[str, Bench]:
    return getattr(lessons, slug).lesson.benches if _is_lesson(slug) else {}


def _is_lesson(slug: str) -> bool:
    return slug in {record.slug for record in catalog.LESSONS}


@cache
def targets(slug: str) -> frozenset[str]:
    """Return the names of a lesson's targets; empty for an unknown lesson."""
    if not _is_lesson(slug):
        return frozenset()
    return frozenset(key.partition(".")[0] for key in Text(DEFAULT).table(f"{slug}.target"))


def known_goals(payload: object) -> object:
    """Return the existing targets among "lesson/target" entries.

    Other entries are dropped, so that the table of targets never holds text of a student. A payload
    that is not a list is returned unchanged.
    """
    if not isinstance(payload, list):
        return payload
    goals = [item for item in payload if isinstance(item, str)]
    return [goal for goal in goals if goal.partition("/")[2] in targets(goal.partition("/")[0])]


def known_place(payload: object) -> object:
    """Return a "lesson/bench" location; "" for an unknown lesson, which no room accepts.

    A payload of another type is returned unchanged.
    """
    if not isinstance(payload, str):
        return payload
    slug = payload.partition("/")[0]
    return payload if slug == HOME or _is_lesson(slug) else ""


def validate_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a "send" or "text" message of a room, reduced to valid settings; others unchanged.

    Settings that no control accepts are dropped, because the teacher could read them in the address
    bar. A "send" gets `text_keys`, the keys of those settings that are texts; an unknown bench
    becomes ""; its note, if any, keeps its visible characters. A "text" has one text for the input
    `key`: of `values` it keeps the settings of that input's bench that are not texts, and `bench`
    becomes that bench.

    Args:
        message: a message of a participant, as the `Room` methods take it. Without a lesson (str)
            or without values (dict) it is returned unchanged as well.

    Raises:
        UserError: "long_text" for a text over the limit of its input, or a long note; "bad" for an
            unknown lesson or text input.
    """
    kind, slug, values = message.get("kind"), message.get("lesson"), message.get("values")
    if kind not in ("send", "text") or not isinstance(slug, str) or not isinstance(values, dict):
        return message
    those = lesson_controls(slug)
    retained = {key: text for key, text in values.items() if _takes(those.get(key), text)}
    texts = {
        key: strip_invisible(retained[key])
        for key in sorted(retained)
        if isinstance(those[key], TextInput)
    }
    if kind == "send":
        if slug and not _is_lesson(slug):
            raise UserError("bad", "There is no such lesson.")
        bench = message.get("bench")
        note = message.get("note")
        if isinstance(note, str):
            message = {**message, "note": _note(note)}
        known_bench = "" if isinstance(bench, str) and bench not in _benches(slug) else bench
        return {
            **message,
            "bench": known_bench,
            "values": retained | texts,
            "text_keys": list(texts),
        }
    key, text = message.get("key"), message.get("text")
    field = those.get(key) if isinstance(key, str) else None
    if not isinstance(field, TextInput) or not isinstance(text, str):
        raise UserError("bad", "There is no such text field.")
    if len(strip_invisible(text)) > field.limit:
        raise UserError("long_text", f"At most {field.limit} characters.", most=field.limit)
    start = f"{str(key).rpartition('.')[0]}."
    return {
        **message,
        "bench": start.split(".")[1],
        "values": {k: v for k, v in retained.items() if k.startswith(start) and k not in texts},
    }


def _note(text: str) -> str:
    visible = strip_invisible(text).strip()
    if len(visible) > MAX_NOTE_CHARS:
        raise UserError("long_text", f"At most {MAX_NOTE_CHARS} characters.", most=MAX_NOTE_CHARS)
    return visible


def _takes(control: Control | None, text: object) -> bool:
    if control is None or not isinstance(text, str):
        return False
    try:
        control.parse(text)
    except (ValueError, KeyError):
        return False
    return True
