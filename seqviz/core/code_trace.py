"""Remember which functions ran with which arguments, and write that down as Python code.

The code shown to a student is not a second version of the page kept by hand: it is the record of
the calls that drew the figure. Results of earlier calls are recognized by identity, and a slice of
one by its place in memory, so the code reads `result = correlogram(path.values[:-20], 20)` and not
as a list of five hundred numbers.
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
RESULT = "result"  # the variable of what has no noun of its own


def result_name(function: Function) -> str:
    """Return the variable for what a function returns: the noun of its type, else `RESULT`."""
    kind = str(inspect.unwrap(function).__annotations__.get("return", ""))
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]+", kind) or kind == "Any":
        return RESULT
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind).lower()


@dataclass(frozen=True)
class _Call:
    """`name = function(*args, **keywords)`, or `name = expression` with the functions it uses."""

    name: str
    functions: tuple[Function, ...]
    args: Args = ()
    keywords: Keywords = field(default_factory=dict)
    expression: str = ""
    result: object = None


@dataclass
class CodeTrace:
    """A growing record of calls; `source` writes them as a script (a fraction of a millisecond)."""

    calls: list[_Call] = field(default_factory=list)
    _written: str | None = None

    def record(
        self, function: Function, args: Args, keywords: Keywords, result: object, name: str
    ) -> None:
        """Note that `name = function(*args, **keywords)` ran and gave `result`."""
        self.calls.append(_Call(name, (function,), args, keywords, result=result))

    def attribute(self, holder: object, attribute: str, value: object, name: str) -> None:
        """Note that `name = holder.attribute`: a number that is read off a result."""
        self.calls.append(_Call(name, (), (holder,), expression=f".{attribute}", result=value))

    def define(
        self, name: str, expression: str, result: object, *functions: Callable[..., Any]
    ) -> None:
        """Note how `name` comes about where a reader cannot repeat the call as it was.

        For instance a file that the student uploaded: `expression` reads it from a folder.
        """
        self.calls.append(_Call(name, functions, expression=expression, result=result))

    def close(self) -> None:
        """Write the script now and let go of all results: a session keeps text, not arrays."""
        self._written = self.source()
        self.calls.clear()

    def source(self, show: bool = True) -> str:
        """The record as a script; with `show`, the figure (else the last result) is displayed."""
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
        """Return the variable of each call: one that hides no function and no other result."""
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
    """Turns calls into lines, keeping track of what must be imported and what has a name."""

    def __init__(self) -> None:
        self.modules: dict[str, set[str]] = {}
        self.known: dict[str, object] = {}  # what each name means by now

    def line(self, call: _Call) -> str:
        for function in call.functions:
            if not hasattr(function, "__self__"):  # a method comes with its result
                self._import(function)
        if call.expression.startswith("."):  # an attribute of what is named already
            line = f"{call.name} = {self._literal(call.args[0])}{call.expression}"
        elif call.expression:
            line = f"{call.name} = {call.expression}"
        else:
            (function,) = call.functions
            words = [self._literal(value) for value in call.args]
            # All of them, defaults too: the reader sees which knobs there are.
            words += [f"{key}={self._literal(value)}" for key, value in call.keywords.items()]
            called = function.__name__
            if (holder := getattr(function, "__self__", None)) is not None:
                called = f"{self._literal(holder)}.{called}"
            line = _wrapped(call.name, called, words)
        self.known[call.name] = call.result
        return line

    def imported(self, lines: list[str]) -> list[str]:
        """The import lines that the script needs."""
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
        """The name of an earlier result that is this very object, holds it, or is sliced to it."""
        # Small values may be one object by chance; a long tuple (labels of an axis), one of
        # results, and a number with decimals are not.
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
    """A result, the parts of a tuple, and the fields of a result; of results in it the arrays."""
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
    """`[a:b]` when `part` is that stretch of the one-dimensional `full`, in the same memory."""
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
        return " "  # the whole of it: its plain name
    return f"[{start or ''}:{'' if stop == full.size else stop}]"


def _same(default: object, value: object) -> bool:
    return type(default) is type(value) and not isinstance(value, np.ndarray) and default == value


def _wrapped(name: str, function: str, words: list[str]) -> str:
    line = f"{name} = {function}({', '.join(words)})"
    if len(line) <= _WIDTH:
        return line
    return f"{name} = {function}(\n" + "".join(f"    {word},\n" for word in words) + ")"


def _public_module(thing: Any) -> str:
    """The shortest package that exports the object under its own name."""
    parts = thing.__module__.split(".")
    for end in range(2, len(parts)):
        module = importlib.import_module(".".join(parts[:end]))
        if getattr(module, thing.__name__, None) is thing:
            return ".".join(parts[:end])
    return str(thing.__module__)
