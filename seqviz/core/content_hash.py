"""What makes two requests the same: a hash by value of a function and its arguments."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import inspect
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from typing import Any

LARGE = 4096  # bytes of an array

_named: dict[int, bytes] = {}  # address of an object -> what stands for its value


def name_value(value: object, key: bytes) -> None:
    """Let `key` stand for the value of a dataclass, and what follows from it for its large parts.

    For results that nobody changes: what a function gave for known arguments is told by these, and
    need not be read again (2,000 sentences with their answers take milliseconds). A name holds as
    long as the object lives: one that has been given keeps it as a part of another result.
    """
    if id(value) in _named:
        return
    parts: Iterable[tuple[object, object]] = ()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        with suppress(TypeError):  # with slots it cannot be watched
            _keep(value, key)
        parts = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    elif isinstance(value, tuple):
        parts = enumerate(value)
    elif _large(value):
        _keep(value, key)
    for position, part in parts:
        if type(part) in _PLAIN:  # most there is: the pieces of a text
            continue
        if isinstance(part, tuple) or dataclasses.is_dataclass(part) or _large(part):
            name_value(part, b"%b/%b" % (key, str(position).encode()))


def _large(value: object) -> bool:
    """An array of NumPy's that nobody changes, and that takes a while to read."""
    flags: Any = getattr(value, "flags", None)
    return flags is not None and getattr(value, "nbytes", 0) >= LARGE and not flags.writeable


def _keep(value: object, key: bytes) -> None:
    weakref.finalize(value, _named.pop, id(value), None).atexit = False  # TypeError: unwatchable
    _named[id(value)] = key


def hash_call(
    function: Callable[..., Any], args: tuple[Any, ...], parameters: dict[str, Any]
) -> bytes:
    """What equal work has in common: the function, and every argument, defaults filled in.

    By value alone: whoever has made the same numbers in another way means the same work.
    """
    bound = inspect.signature(function).bind(*args, report=None, **parameters)
    bound.apply_defaults()
    given = {k: v for k, v in bound.arguments.items() if k != "report"}
    return hash_value((hash_function(function), given), named=False)


@cache
def hash_function(function: Callable[..., Any]) -> bytes:
    """What tells functions apart: the file too, since every Streamlit page is `__main__`."""
    plain = inspect.unwrap(function)
    if not inspect.isfunction(plain) or "<" in plain.__qualname__:
        raise TypeError("A job must be a function defined at the top level of a module.")
    return hash_value((plain.__module__, plain.__qualname__, plain.__code__.co_filename))


def hash_value(value: object, named: bool = True) -> bytes:
    """A hash by value of plain data, arrays (type, shape and bytes) and dataclasses (fields).

    named: what has a name is told by that. Else it is read like anything else.

    Every value carries its type and every part its length, so no two different values are written
    alike. Raises TypeError for anything else, rather than compare by identity.
    """
    return hashlib.sha256(_written(value, named)).digest()


@cache
def _fields(kind: Any) -> tuple[bytes, tuple[tuple[str, bytes], ...]] | None:
    """How a dataclass begins, and its fields, each with what stands before its value."""
    head = _joined([b"dataclass", kind.__qualname__.encode(), kind.__module__.encode()])
    if not dataclasses.is_dataclass(kind):
        return None
    names = [field.name for field in dataclasses.fields(kind)]
    return head, tuple((name, _joined([name.encode()])) for name in names)


def _joined(parts: Iterable[bytes]) -> bytes:
    """Each with its length before it."""
    return b"".join([b"%d:%b" % (len(part), part) for part in parts])


# Of a type that `repr` tells all about: how a value of it begins.
_PLAIN = {
    kind: _joined([kind.__qualname__.encode()])
    for kind in (bool, int, float, complex, str, type(None))
}


def _written(value: object, named: bool) -> bytes:
    """As `digest`, not hashed yet: that is done once for all parts."""
    kind: Any = type(value)
    if (head := _PLAIN.get(kind)) is not None:
        plain = repr(value).encode()
        return b"%b%d:%b" % (head, len(plain), plain)
    if isinstance(value, enum.Enum):
        return _joined([b"enum", kind.__qualname__.encode(), value.name.encode()])
    if named and (key := _named.get(id(value))) is not None:
        return _joined([b"named", key])
    name = kind.__qualname__.encode()
    if (declared := _fields(kind)) is not None:
        head, fields = declared
        parts = [head]
        for field, before in fields:
            parts += [before, _written(getattr(value, field), named)]
    elif isinstance(value, list | tuple):
        parts = [name, *(_written(part, named) for part in value)]
    elif isinstance(value, dict):
        parts = [name, *sorted(_written(item, named) for item in value.items())]
    elif isinstance(value, set | frozenset):
        parts = [name, *sorted(_written(part, named) for part in value)]
    else:
        try:
            view = memoryview(value)  # type: ignore[arg-type]  # bytes, numpy arrays and scalars
        except (TypeError, ValueError):
            raise TypeError(f"A {name.decode()} cannot be compared by value.") from None
        if "O" in view.format:
            raise TypeError("An array of objects cannot be compared by value.")
        inside = hashlib.sha256(view.tobytes()).digest()  # not copied by each that holds it
        parts = [b"buffer", repr((view.format, view.shape)).encode(), inside]
    return _joined(parts)
