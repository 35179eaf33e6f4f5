"""Content hashes of function calls and values, for cache keys and equal jobs: `hash_call`."""

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

_named: dict[int, bytes] = {}  # id of an object -> registered key


def name_value(value: object, key: bytes) -> None:
    """Register `key` as the hash of an immutable result, with derived keys for its large parts.

    A result of known arguments is identified by them, so its content need not be hashed again
    (2,000 sentences with their predictions take milliseconds). An entry lasts as long as its
    object. An object keeps its first key, also as a part of another result.

    Args:
        value: dataclass, tuple or read-only array; dataclasses with slots cannot be registered.
        key: bytes that identify `value`.
    """
    if id(value) in _named:
        return
    parts: Iterable[tuple[object, object]] = ()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        with suppress(TypeError):  # classes with slots support no weak reference
            _keep(value, key)
        parts = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    elif isinstance(value, tuple):
        parts = enumerate(value)
    elif _large(value):
        _keep(value, key)
    for position, part in parts:
        if type(part) in _PLAIN:  # most parts are: tokens of a text
            continue
        if isinstance(part, tuple) or dataclasses.is_dataclass(part) or _large(part):
            name_value(part, b"%b/%b" % (key, str(position).encode()))


def _large(value: object) -> bool:
    """Return True for a read-only NumPy array of at least `LARGE` bytes."""
    flags: Any = getattr(value, "flags", None)
    return flags is not None and getattr(value, "nbytes", 0) >= LARGE and not flags.writeable


def _keep(value: object, key: bytes) -> None:
    # Raises TypeError where the class supports no weak reference.
    weakref.finalize(value, _named.pop, id(value), None).atexit = False
    _named[id(value)] = key


def hash_call(
    function: Callable[..., Any], args: tuple[Any, ...], parameters: dict[str, Any]
) -> bytes:
    """Return the hash of a function and all its arguments, with defaults filled in.

    Arguments count by value: equal numbers from different computations give the same hash. `report`
    is left out.

    Args:
        function: function that takes `report`; see `hash_function`.
        args: positional arguments.
        parameters: keyword arguments, without `report`.

    Raises:
        TypeError: the arguments do not fit the function, or one cannot be hashed by value.
    """
    bound = inspect.signature(function).bind(*args, report=None, **parameters)
    bound.apply_defaults()
    given = {k: v for k, v in bound.arguments.items() if k != "report"}
    return hash_value((hash_function(function), given), named=False)


@cache
def hash_function(function: Callable[..., Any]) -> bytes:
    """Return the hash of a top-level function: its module, qualified name and file.

    The file is included because every Streamlit page is `__main__`.

    Raises:
        TypeError: the function is nested or a lambda, so its name does not identify it.
    """
    plain = inspect.unwrap(function)
    if not inspect.isfunction(plain) or "<" in plain.__qualname__:
        raise TypeError("A job must be a function defined at the top level of a module.")
    return hash_value((plain.__module__, plain.__qualname__, plain.__code__.co_filename))


def hash_value(value: object, named: bool = True) -> bytes:
    """Return the hash of plain data, arrays and dataclasses by value.

    Arrays count by type, shape and bytes, dataclasses by their fields. Every value is written with
    its type and every part with its length, so different values never have the same encoding.

    Args:
        value: the data; containers may be nested.
        named: use the keys of `name_value`; False hashes all content in full.

    Raises:
        TypeError: a part could be compared by identity only.
    """
    return hashlib.sha256(_written(value, named)).digest()


@cache
def _fields(kind: Any) -> tuple[bytes, tuple[tuple[str, bytes], ...]] | None:
    """Return the encoded head of a dataclass and its fields with their encoded names, else None."""
    head = _joined([b"dataclass", kind.__qualname__.encode(), kind.__module__.encode()])
    if not dataclasses.is_dataclass(kind):
        return None
    names = [field.name for field in dataclasses.fields(kind)]
    return head, tuple((name, _joined([name.encode()])) for name in names)


def _joined(parts: Iterable[bytes]) -> bytes:
    """Return the parts concatenated, each after its length."""
    return b"".join([b"%d:%b" % (len(part), part) for part in parts])


# Encoded heads of the types whose values `repr` determines completely.
_PLAIN = {
    kind: _joined([kind.__qualname__.encode()])
    for kind in (bool, int, float, complex, str, type(None))
}


def _written(value: object, named: bool) -> bytes:
    """Return the encoding that `hash_value` hashes."""
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
        inside = hashlib.sha256(view.tobytes()).digest()  # spares copies at each nesting level
        parts = [b"buffer", repr((view.format, view.shape)).encode(), inside]
    return _joined(parts)
