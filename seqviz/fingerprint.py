"""What makes two requests the same: a hash by value of a function and its arguments."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import inspect
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_named: dict[int, bytes] = {}  # address of an object -> what stands for its value


def name(value: object, key: bytes) -> None:
    """Let `key` stand for the value of a dataclass as long as this object lives.

    For results that nobody changes: what a function gave for known arguments is told by these, and
    need not be read again (2,000 sentences with their answers take milliseconds).
    """
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return
    with suppress(TypeError):  # with slots it cannot be watched, so its address cannot be trusted
        weakref.finalize(value, _named.pop, id(value), None).atexit = False
        _named[id(value)] = key


def of_call(
    function: Callable[..., Any], args: tuple[Any, ...], parameters: dict[str, Any]
) -> bytes:
    """What equal work has in common: the function, and every argument, defaults filled in."""
    bound = inspect.signature(function).bind(*args, report=None, **parameters)
    bound.apply_defaults()
    given = {k: v for k, v in bound.arguments.items() if k != "report"}
    return digest((of_function(function), given))


def of_function(function: Callable[..., Any]) -> bytes:
    """What tells functions apart: the file too, since every Streamlit page is `__main__`."""
    plain = inspect.unwrap(function)
    if not inspect.isfunction(plain) or "<" in plain.__qualname__:
        raise TypeError("A job must be a function defined at the top level of a module.")
    return digest((plain.__module__, plain.__qualname__, plain.__code__.co_filename))


def digest(value: object) -> bytes:
    """A hash by value of plain data, arrays (type, shape and bytes) and dataclasses (fields).

    Every value carries its type and every part its length, so no two different values are written
    alike. Raises TypeError for anything else, rather than compare by identity.
    """
    kind = type(value).__qualname__.encode()
    if value is None or type(value) in (bool, int, float, complex, str):
        parts = [kind, repr(value).encode()]
    elif isinstance(value, enum.Enum):
        parts = [b"enum", kind, value.name.encode()]
    elif (key := _named.get(id(value))) is not None:
        parts = [b"named", key]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        parts = [b"dataclass", kind, type(value).__module__.encode()]
        parts += [digest((field.name, getattr(value, field.name))) for field in fields]
    elif isinstance(value, list | tuple):
        parts = [kind, *map(digest, value)]
    elif isinstance(value, dict):
        parts = [kind, *sorted(digest(item) for item in value.items())]
    elif isinstance(value, set | frozenset):
        parts = [kind, *sorted(map(digest, value))]
    else:
        try:
            view = memoryview(value)  # type: ignore[arg-type]  # bytes, numpy arrays and scalars
        except (TypeError, ValueError):
            raise TypeError(f"A {kind.decode()} cannot be compared by value.") from None
        if "O" in view.format:
            raise TypeError("An array of objects cannot be compared by value.")
        parts = [b"buffer", repr((view.format, view.shape)).encode(), view.tobytes()]
    packed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
    return hashlib.sha256(packed).digest()
