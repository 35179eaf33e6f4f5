"""Logging: one line per event, as text or JSON, never with text that a student wrote.

The message of an exception may quote its cause ("could not convert string to float: 'my secret'").
Every record of the process therefore carries the exception's type and frames without its message,
and the code of a `UserError`. The record factory does this, so no handler, Streamlit's included,
can print more. `begin` is the public entry.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Mapping
from types import TracebackType
from typing import Any, TextIO

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

from seqviz.core.errors import UserError
from seqviz.ui.runtime import metrics, run_context
from seqviz.ui.server.log_flood import FloodFilter
from seqviz.ui.streamlit_patches.log_handlers import adopt

_STANDARD = {*RESERVED_ATTRS, "message", "asctime"}
# Loggers of the server that report only addresses, one line per connection.
_QUIET = {"uvicorn.access": logging.WARNING, "uvicorn.error": logging.WARNING}
MAX_MESSAGE_CHARS = 500  # of one message, or of one value in it
_make: Any = logging.LogRecord
_log = logging.getLogger(__name__)
_flood = FloodFilter()


class LineFormatter(logging.Formatter):
    """Text format: time, level, logger, message, then extra fields as name=value."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, followed by the frames of an exception."""
        brought = "".join(
            f" {name}={_plain(value)}"
            for name, value in vars(record).items()
            if name not in _STANDARD and not name.startswith("_") and value not in ("", None)
        )
        at = self.formatTime(record, self.datefmt)
        line = f"{at} {record.levelname:7} {record.name}: {record.getMessage()}{brought}"
        return f"{line}\n{record.exc_text}" if record.exc_text else line


class _Counting(logging.Filter):
    """Filter that counts failures reported to a student and passes every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno >= logging.ERROR and record.exc_text:
            metrics.failed(run_context.lesson())
        return True


def begin(level: str, form: str, stream: TextIO | None = None) -> None:
    """Send all log records of this process to a stream in one format.

    Args:
        level: name of the lowest level, in any case.
        form: "json", otherwise text.
        stream: default stderr.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    date = "%Y-%m-%dT%H:%M:%S%z"
    names = {"asctime": "time", "levelname": "level", "name": "logger"}
    json_lines = JsonFormatter(
        "{asctime}{levelname}{name}{message}{exc_info}", style="{", rename_fields=names,
        json_ensure_ascii=False, datefmt=date,
    )  # fmt: skip
    handler.setFormatter(json_lines if form == "json" else LineFormatter(datefmt=date))
    handler.addFilter(_Counting())
    handler.addFilter(_flood)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    logging.setLogRecordFactory(_record)
    adopt_all()
    sys.excepthook = _uncaught
    threading.excepthook = lambda args: _uncaught(args.exc_type, args.exc_value, args.exc_traceback)
    warnings.showwarning = _warned


def frames(error: BaseException | None) -> str:
    """Return an exception and its causes as types and frames, without messages or values."""
    parts = []
    observed: set[int] = set()
    while error is not None and id(error) not in observed:
        observed.add(id(error))
        positions = "".join(traceback.format_tb(error.__traceback__))
        parts.append(f"Traceback (most recent call last):\n{positions}{error_name(error)}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n\nwhich came from:\n".join(parts)


def error_name(error: BaseException) -> str:
    """Return the type of an exception, and the code of a `UserError`."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else _full(kind)
    return f"{name}[{error.code}]" if isinstance(error, UserError) else name


def _full(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _record(*args: Any, **keywords: Any) -> logging.LogRecord:
    """Return a log record without an exception's message, with lesson and bench of the run."""
    record: logging.LogRecord = _make(*args, **keywords)
    if isinstance(record.args, tuple):
        record.args = tuple(map(_value, record.args))
    elif isinstance(record.args, Mapping):
        record.args = {name: _value(value) for name, value in record.args.items()}
    if isinstance(record.msg, str) and record.args:  # a format string, which comes from code
        record.msg = one_line(record.msg)
    else:
        record.msg = _value(record.msg)
    if record.exc_info and record.exc_info[1] is not None:
        record.exc_text = frames(record.exc_info[1])
        record.exc_info = None
        for name, value in (("lesson", run_context.lesson()), ("bench", run_context.bench())):
            setattr(record, name, value)
    return record


def _value(value: Any) -> Any:
    """Return a log-safe form of a value: an exception's type, a text on one line."""
    if isinstance(value, BaseException):
        return error_name(value)
    return one_line(value)[:MAX_MESSAGE_CHARS] if isinstance(value, str) else value


def one_line(text: str) -> str:
    """Return a text with line breaks and other unprintable characters escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _plain(value: Any) -> str:
    """Return a value on one line, quoted where it contains a space."""
    text = one_line(str(value))
    return f'"{text}"' if " " in text else text


def summarize() -> None:
    """Log how many records were suppressed by the flood filter."""
    for record in _flood.summaries():
        logging.getLogger(record.name).handle(record)


def adopt_all() -> None:
    """Redirect loggers with their own handlers to the root handler.

    Uvicorn creates its loggers after `begin`, so this runs again when the server starts.
    """
    for name in list(logging.root.manager.loggerDict):
        if (logger := logging.getLogger(name)).handlers:
            adopt(logger)
    for name, level in _QUIET.items():
        logging.getLogger(name).setLevel(level)


def _uncaught(
    _kind: type[BaseException], error: BaseException | None, _places: TracebackType | None
) -> None:
    if isinstance(error, KeyboardInterrupt | SystemExit) or error is None:
        return
    _log.critical("uncaught", exc_info=error)


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Log a library's warning by category and location; its message may quote a text."""
    _log.warning("%s at %s:%d", category.__name__, filename, lineno)
