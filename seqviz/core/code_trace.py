"""Recording of function calls and their rendering as a Python script: `CodeTrace`.

The code panel shows the calls that drew the figure, not a copy of the page's code maintained by
hand. Earlier results are recognized by identity and slices of arrays by their memory address, so
the code reads `result = correlogram(path.values[:-20], 20)` instead of five hundred numbers.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Function = Callable[..., Any]
Args = tuple[Any, ...]
Keywords = Mapping[str, Any]
_WIDTH = 88
RESULT = "result"  # variable name for results without a class


def result_name(function: Function) -> str:
    """Return a variable name for a function's result: its type in snake case, or `RESULT`."""
    kind = str(inspect.unwrap(function).__annotations__.get("return", ""))
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]+", kind) or kind == "Any":
        return RESULT
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind).lower()


@dataclass(frozen=True)
class _Call:
    """Recorded statement `name = function(*args, **keywords)` or `name = expression`."""

    name: str
    functions: tuple[Function, ...]
    args: Args = ()
    keywords: Keywords = field(default_factory=dict)
    expression: str = ""
    result: object = None


@dataclass
class CodeTrace:
    """Record of calls in order; `source` renders it as a script in a fraction of a millisecond.

    Attributes:
        calls: recorded calls; empty after `close`.
    """

    calls: list[_Call] = field(default_factory=list)
    _written: str | None = None

    def record(
        self, function: Function, args: Args, keywords: Keywords, result: object, name: str
    ) -> None:
        """Record the call `name = function(*args, **keywords)`.

        Args:
            function: function or method that ran.
            args: positional arguments.
            keywords: keyword arguments.
            result: return value, by which later calls refer to `name`.
            name: variable name in the script.
        """
        self.calls.append(_Call(name, (function,), args, keywords, result=result))

    def attribute(self, holder: object, attribute: str, value: object, name: str) -> None:
        """Record `name = holder.attribute`, a value read from an earlier result.

        Args:
            holder: earlier result.
            attribute: name of its attribute.
            value: value of the attribute.
            name: variable name in the script.
        """
        self.calls.append(_Call(name, (), (holder,), expression=f".{attribute}", result=value))

    def define(
        self, name: str, expression: str, result: object, *functions: Callable[..., Any]
    ) -> None:
        """Record `name = expression` where the reader cannot repeat the original call.

        An uploaded file is an example: the expression reads it from a folder.

        Args:
            name: variable name in the script.
            expression: right-hand side, as Python code.
            result: value that the expression stands for.
            *functions: functions that the expression uses, to be imported.
        """
        self.calls.append(_Call(name, functions, expression=expression, result=result))

    def close(self) -> None:
        """Render the script and release all results, so that a session keeps text and no arrays."""
        self._written = self.source()
        self.calls.clear()

    def source(self, show: bool = True) -> str:
        """Return the record as a script.

        Args:
            show: add a last line that displays the figure, or else the last result.
        """
        if self._written is not None:
            return self._written
        writer = _Writer()
        calls = [
            dataclasses.replace(call, name=name)
            for call, name in zip(self.calls, self._names(), strict=True)
        ]
        lines = [writer.line(call) for call in calls]
        names = [call.name for call in calls]
        if show and names:
            lines.append("figure" if "figure" in names else names[-1])
        return "\n".join([*writer.imported(lines), "", *lines]).strip() + "\n"

    def _names(self) -> list[str]:
        """Return a variable name for each call that shadows no function and no other result."""
        functions = {
            function.__name__
            for call in self.calls
            for function in call.functions
            if not hasattr(function, "__self__")
        }
        names: list[str] = []
        uses: Counter[str] = Counter()
        for call in self.calls:
            name = call.name
            if name in functions:
                is_free = RESULT not in functions and not uses[RESULT]
                name = RESULT if is_free else f"{name}_value"
            uses[name] += 1
            names.append(name if uses[name] == 1 or name == "figure" else f"{name}_{uses[name]}")
        return names


class _Writer:
    """Renderer of calls as lines; tracks imports and the current value of each name."""

    def __init__(self) -> None:
        self.modules: dict[str, set[str]] = {}
        self.known: dict[str, object] = {}  # current value of each variable

    def line(self, call: _Call) -> str:
        for function in call.functions:
            if not hasattr(function, "__self__"):  # methods need no import
                self._import(function)
        if call.expression.startswith("."):  # an attribute of an earlier result
            line = f"{call.name} = {self._literal(call.args[0])}{call.expression}"
        elif call.expression:
            line = f"{call.name} = {call.expression}"
        else:
            (function,) = call.functions
            words = [self._literal(value) for value in call.args]
            # Defaults are written out, too, so that the reader sees all parameters.
            words += [f"{key}={self._literal(value)}" for key, value in call.keywords.items()]
            called = function.__name__
            if (holder := getattr(function, "__self__", None)) is not None:
                called = f"{self._literal(holder)}.{called}"
            line = _wrapped(call.name, called, words)
        self.known[call.name] = call.result
        return line

    def imported(self, lines: list[str]) -> list[str]:
        """Return the import lines that the script needs."""
        text = "\n".join(lines)
        plain = ["from pathlib import Path"] if "Path(" in text else []
        plain += ["import numpy as np"] if "np." in text else []
        return plain + [
            f"from {module} import {', '.join(sorted(names))}"
            for module, names in sorted(self.modules.items())
        ]

    def _import(self, thing: Any) -> None:
        self.modules.setdefault(_public_module(thing), set()).add(thing.__name__)

    def _literal(self, value: Any) -> str:
        reference = self._reference(value)
        if reference:
            return reference
        if isinstance(value, np.ndarray):
            return f"np.array({self._literal(value.tolist())})"
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return f"float('{value}')"
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            self._import(type(value))
            words = [
                f"{f.name}={self._literal(getattr(value, f.name))}"
                for f in dataclasses.fields(value)
                if f.init and not _same(f.default, getattr(value, f.name))
            ]
            return f"{type(value).__name__}({', '.join(words)})"
        if isinstance(value, tuple | list):
            inner = ", ".join(self._literal(item) for item in value)
            if isinstance(value, list):
                return f"[{inner}]"
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        return repr(value)

    def _reference(self, value: object) -> str:
        """Return an expression for `value` in terms of earlier results, or "".

        It may be a result itself, a field or item of one, or a slice of an array of one.
        """
        # Equal small values may be the same object by coincidence (interning). Long tuples (axis
        # labels), tuples of results and numbers with decimals are not.
        small = value is None or isinstance(value, bool | int | float | str | tuple)
        telling = (isinstance(value, float) and not value.is_integer()) or (
            isinstance(value, tuple)
            and (len(value) > 8 or any(map(dataclasses.is_dataclass, value)))
        )
        if small and not telling:
            return ""
        for name, held in self._holders():
            if held is value:
                return name
        if isinstance(value, np.ndarray):
            for name, held in self._holders():
                part = _slice(held, value) if isinstance(held, np.ndarray) else ""
                if part:
                    return (name + part).strip()
        return ""

    def _holders(self) -> Iterator[tuple[str, object]]:
        for name, result in reversed(self.known.items()):
            yield from _held(name, result)


def _held(name: str, result: object) -> Iterator[tuple[str, object]]:
    """Yield a result, its fields or items, and arrays one level deeper, with expressions."""
    yield name, result
    if dataclasses.is_dataclass(result):
        for f in dataclasses.fields(result):
            field, part = f"{name}.{f.name}", getattr(result, f.name)
            yield field, part
            if dataclasses.is_dataclass(part):
                inner = ((g.name, getattr(part, g.name)) for g in dataclasses.fields(part))
                yield from ((f"{field}.{g}", a) for g, a in inner if isinstance(a, np.ndarray))
    elif isinstance(result, tuple):
        for index, part in enumerate(result):
            yield f"{name}[{index}]", part


def _slice(full: np.ndarray, part: np.ndarray) -> str:
    """Return `[a:b]` where `part` is that slice of the one-dimensional `full` in memory.

    Returns:
        The index expression, " " for the complete array, or "" where `part` is no slice of it.
    """
    if full.ndim != 1 or part.ndim != 1 or not part.size or full.dtype != part.dtype:
        return ""
    if full.strides != part.strides or not np.may_share_memory(full, part):
        return ""
    step = full.strides[0] or 1
    addresses = [array.__array_interface__["data"][0] for array in (full, part)]
    start, rest = divmod(addresses[1] - addresses[0], step)
    stop = start + part.size
    if rest or start < 0 or stop > full.size:
        return ""
    if part.size == full.size:
        return " "  # the complete array: its name without an index
    return f"[{start or ''}:{'' if stop == full.size else stop}]"


def _same(default: object, value: object) -> bool:
    return type(default) is type(value) and not isinstance(value, np.ndarray) and default == value


def _wrapped(name: str, function: str, words: list[str]) -> str:
    line = f"{name} = {function}({', '.join(words)})"
    if len(line) <= _WIDTH:
        return line
    return f"{name} = {function}(\n" + "".join(f"    {word},\n" for word in words) + ")"


def _public_module(thing: Any) -> str:
    """Return the shortest package that exports the object under its own name."""
    parts = thing.__module__.split(".")
    for end in range(2, len(parts)):
        module = importlib.import_module(".".join(parts[:end]))
        if getattr(module, thing.__name__, None) is thing:
            return ".".join(parts[:end])
    return str(thing.__module__)
