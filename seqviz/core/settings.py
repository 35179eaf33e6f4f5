"""Environment variables with defaults, meanings and validation: `value` and `check`.

`value("SEQVIZ_QUEUE")` reads a variable at each call; `check()` validates all of them before the
server accepts requests. Blank values count as not set. A test compares the table in
docs/operations.md with `SETTINGS`.
"""

from __future__ import annotations

import importlib.util
import logging
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from seqviz.core.languages import DEFAULT, LANGUAGES, matching, preferred

DEVICES = ("auto", "cpu", "cuda", "mps")
ENGINES = ("local", "ray")
LEVELS = ("debug", "info", "warning", "error")
log = logging.getLogger(__name__)
UPLOAD_MB = 5  # .streamlit/config.toml allows 6 MB, so that the app can explain the limit


@dataclass(frozen=True)
class Setting:
    """Definition of one environment variable.

    Attributes:
        name: the variable.
        default: text that is parsed where the variable is not set.
        meaning: description in docs/operations.md.
        allowed: completes the error "NAME must be ...".
        read: parser from text to value; raises ValueError for invalid text.
        default_text: the default in docs/operations.md, where it differs from `default`.
        secret: errors do not quote the value.
        deprecated: former name, which is read where `name` is not set.
    """

    name: str
    default: str
    meaning: str
    allowed: str
    read: Callable[[str], Any]
    default_text: str = ""
    secret: bool = False
    deprecated: str = ""

    @property
    def variable(self) -> str:
        """The variable that is read: the deprecated name where only that is set."""
        if not _environment(self.name) and _environment(self.deprecated):
            return self.deprecated
        return self.name

    def value(self) -> Any:
        """Return the parsed value.

        Raises:
            ValueError: the text is invalid; the message is one sentence.
        """
        text = _environment(self.variable) or self.default
        try:
            return self.read(text)
        except ValueError:
            not_this = "" if self.secret else f", not {text!r}"
            raise ValueError(f"{self.variable} must be {self.allowed}{not_this}.") from None


def _environment(name: str) -> str:
    """Return an environment variable; "" where it is blank or not set."""
    return os.environ.get(name, "").strip()


def value(name: str) -> Any:
    """Return the current value of a setting.

    Raises:
        ValueError: the text of the variable is invalid.
    """
    return _BY_NAME[name].value()


def language(requested: str | None, accepted: str) -> str:
    """Return a visitor's language: from the link, else the server's setting, else the browser's.

    Args:
        requested: language tag in the URL.
        accepted: Accept-Language header.
    """
    chosen = matching(requested or "") or value("SEQVIZ_LANGUAGE")
    return str(chosen or preferred(accepted) or DEFAULT)


def check() -> None:
    """Validate all settings.

    Raises:
        ValueError: a setting is invalid or needs a library that is missing; one sentence.
    """
    for setting in SETTINGS:
        setting.value()
    folder: Path | None = value("SEQVIZ_CACHE")
    if folder is not None and folder.exists() and not folder.is_dir():
        raise ValueError(f"SEQVIZ_CACHE must be a folder, not {str(folder)!r}.")
    if value("SEQVIZ_ENGINE") == "ray" and importlib.util.find_spec("ray") is None:
        raise ValueError("SEQVIZ_ENGINE=ray needs Ray: pip install -r requirements-ray.txt.")
    if value("SEQVIZ_REDIS_URL") and importlib.util.find_spec("redis") is None:
        raise ValueError("SEQVIZ_REDIS_URL needs redis: pip install -r requirements-ray.txt.")


def log_deprecated() -> None:
    """Log a warning for each deprecated variable in use, with the name that replaces it."""
    for setting in SETTINGS:
        if _environment(setting.deprecated):
            log.warning("settings: %s is deprecated, set %s", setting.deprecated, setting.name)


def _one_of(choices: tuple[str, ...]) -> dict[str, Any]:
    def read(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError(text)
        return text.lower()

    return {"allowed": f"one of {', '.join(choices)}", "read": read}


def _whole(minimum: int) -> dict[str, Any]:
    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < minimum:
            raise ValueError(text)
        return int(text)

    return {"allowed": f"a whole number of at least {minimum}", "read": read}


def _number(minimum: float, maximum: float = math.inf) -> dict[str, Any]:
    def read(text: str) -> float:
        number = float(text)
        if not minimum <= number <= maximum or math.isinf(number):
            raise ValueError(text)
        return number

    above = "" if math.isinf(maximum) else f" and at most {maximum:g}"
    return {"allowed": f"a number of at least {minimum:g}{above}", "read": read}


def _yes(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError(text)
    return text == "1"


def _token(text: str) -> str:
    if text and not re.fullmatch(r"[A-Za-z0-9._~+/=-]{16,}", text):
        raise ValueError(text)
    return text


def _room_key(text: str) -> str:
    if text and not re.fullmatch(r"[A-Za-z0-9._~+/=-]{43,}", text):
        raise ValueError(text)
    return text


def _address(text: str) -> str:
    if not re.fullmatch(r"auto|[\w.-]+:\d{1,5}", text, re.A) or not _has_port(f"//{text}"):
        raise ValueError(text)
    return text


def _store(text: str) -> str:
    pattern = r"rediss?://[^\s/@]*@?[\w.\[\]:-]+(/\d*)?|unix://\S+"
    if text and not (re.fullmatch(pattern, text, re.A) and _has_port(text)):
        raise ValueError(text)
    return text


def _has_port(url: str) -> bool:
    """Return False for port 0; raise ValueError for a port that is not a number up to 65535."""
    return urlsplit(url).port != 0


def _language(text: str) -> str | None:
    if text and matching(text) is None:
        raise ValueError(text)
    return matching(text)


def _folder(text: str) -> Path | None:
    try:
        return Path(text).expanduser() if text else None
    except RuntimeError:  # ~name of an unknown user
        raise ValueError(text) from None


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _origins(text: str) -> str:
    # The text becomes part of a header, so it must not start another directive.
    if not re.fullmatch(r"('none'|'self'|[\w:/.*-]+)( +('none'|'self'|[\w:/.*-]+))*", text, re.A):
        raise ValueError(text)
    return text


_NAMES: dict[str, Any] = {"allowed": "names of models, separated by commas", "read": _names}

SETTINGS = (
    Setting("SEQVIZ_DEVICE", "auto", "device of the networks: `auto`, `cpu`, `cuda`, `mps`",
        **_one_of(DEVICES)),
    Setting("SEQVIZ_THREADS", "1", "threads per torch operation; 1 is best with many students",
        **_whole(1)),
    Setting("SEQVIZ_CUDA_GRAPHS", "1",
        "`1`: repeated work on a CUDA device is captured and replayed; `0`: kernel by kernel",
        "0 or 1", _yes),
    Setting("SEQVIZ_WORKERS", "0",
        "processes that draw while sliders are dragged, one per spare core; `0`: the app itself",
        **_whole(0)),
    Setting("SEQVIZ_ENGINE", "local",
        "where forward passes and trainings run: `local`, this machine; `ray`, a Ray cluster",
        **_one_of(ENGINES)),
    Setting("SEQVIZ_RAY_ADDRESS", "auto",
        "address of the cluster, `host:port`; `auto`: the one of which this machine is a node",
        "auto or host:port", _address),
    Setting("SEQVIZ_RAY_SECONDS", "10",
        "timeout of a forward pass on the cluster in seconds; afterwards this machine computes it",
        **_number(0.1)),
    Setting("SEQVIZ_REDIS_URL", "",
        "Redis server by which several processes of the app share quotas: `redis://host:6379`",
        "redis://[:password@]host[:port], rediss:// or unix://", _store, default_text="none",
        secret=True, deprecated="SEQVIZ_SHARED"),
    Setting("SEQVIZ_CACHE", "", "folder for downloaded models and results computed from them",
        "a folder", _folder, default_text="`~/.cache/seqviz`"),
    # `models.registry` parses and validates the names.
    Setting("SEQVIZ_MODELS", "",
        "models offered to students: `minilm,gpt2,encoder:owner/name`", "names of models",
        str, default_text="all listed models"),
    Setting("SEQVIZ_PRELOAD", "",
        "models loaded before the first student arrives; the image sets `minilm,smollm2`",
        **_NAMES, default_text="none"),
    Setting("SEQVIZ_FORWARD_CACHE_MB", "512",
        "cache of the attention in recent texts in MB, shared by all sessions", **_number(0),
        deprecated="SEQVIZ_READINGS_MB"),
    Setting("SEQVIZ_CACHE_MB", "64",
        "cache of recent results and figures in MB, shared by all sessions", **_whole(1)),
    Setting("SEQVIZ_LANGUAGE", "",
        f"language of visitors whose link names none: `{'`, `'.join(LANGUAGES)}`",
        f"one of {', '.join(LANGUAGES)}", _language, default_text="the browser's"),
    Setting("SEQVIZ_GUIDED", "1",
        "`1`: a question comes before its result, and figures beyond the core are folded; "
        "`0`: all is open",
        "0 or 1", _yes),
    Setting("SEQVIZ_SESSION_JOBS", "3",
        "trainings that one student may have queued or running; `0`: no limit", **_whole(0)),
    Setting("SEQVIZ_SESSION_SECONDS", "60",
        "seconds of computation that one student may use in a burst; `0`: no limit",
        **_number(0)),
    Setting("SEQVIZ_CPU_REFILL", "0.25",
        "seconds of computation that one student regains per second", **_number(0.01),
        deprecated="SEQVIZ_SESSION_SHARE"),
    Setting("SEQVIZ_SESSION_TOKENS", "20000",
        "tokens that models read for one student per minute; `0`: no limit",
        **_whole(0)),
    Setting("SEQVIZ_MAX_CLIENTS", "180",
        "students admitted at a time, while others wait for admission; `0`: no limit",
        **_whole(0), deprecated="SEQVIZ_SEATS"),
    Setting("SEQVIZ_PROXIES", "0",
        "number of your reverse proxies; the visitor's address is that entry of X-Forwarded-For, "
        "counted from the end",
        **_whole(0)),
    Setting("SEQVIZ_ROOM_KEY", "",
        "key that signs the tokens of rooms, for several processes or without a persistent disk: "
        "32 random bytes in base64",
        "letters, digits and the characters -._~+/=, at least 43 (32 random bytes in base64)",
        _room_key, default_text="generated in SEQVIZ_CACHE", secret=True),
    Setting("SEQVIZ_QUEUE", "16", "maximum number of queued trainings per device", **_whole(1)),
    Setting("SEQVIZ_STALL_SECONDS", "120",
        "seconds without a progress report after which a training times out", **_number(1)),
    Setting("SEQVIZ_UPLOAD_MB", f"{UPLOAD_MB}",
        f"largest file that a student may upload in MB; at most {UPLOAD_MB}",
        **_number(0.001, UPLOAD_MB)),
    Setting("SEQVIZ_FRAME_ANCESTORS", "*",
        "sites that may embed the app, as in the header directive of that name",
        "origins separated by spaces, 'self' or 'none'", _origins),
    Setting("SEQVIZ_METRICS", "1", "`1`: Prometheus metrics at `/metrics`; `0`: none", "0 or 1",
        _yes),
    Setting("SEQVIZ_METRICS_TOKEN", "",
        "token for `/metrics` (`Authorization: Bearer`); without one, only this machine has "
        "access, and with `SEQVIZ_PROXIES` no machine",
        "letters, digits and the characters -._~+/=, at least 16", _token, "none", secret=True),
    Setting("SEQVIZ_GC_FREEZE", "1",
        "`1`: garbage collection skips loaded objects; `0`: Python's default, for comparison",
        "0 or 1", _yes, deprecated="SEQVIZ_FREEZE"),
    Setting("SEQVIZ_STREAMLIT_PATCHES", "1",
        "`1`: patch slow or faulty parts of Streamlit; `0`: original Streamlit, for comparison",
        "0 or 1", _yes, deprecated="SEQVIZ_PATCHES"),
    Setting("SEQVIZ_LOG_LEVEL", "info", "minimum level of log messages", **_one_of(LEVELS)),
    Setting("SEQVIZ_LOG_FORMAT", "text", "format of log lines: `text`, `json`",
        **_one_of(("text", "json"))),
)  # fmt: skip
_BY_NAME = {setting.name: setting for setting in SETTINGS}
