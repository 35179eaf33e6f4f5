"""Remember which functions ran with which arguments, and write that down as Python code.

The code shown to a student is not a second version of the page kept by hand: it is the record of
the calls that drew the figure. Results of earlier calls are recognized by identity, so the code
reads `acf = correlogram(path.values)` and not as a list of five hundred numbers.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_WIDTH = 88


@dataclass
class Recipe:
    """A growing record of calls. `record` adds one, `source` gives runnable Python."""

    calls: list[tuple[str, str]] = field(default_factory=list)
    imports: dict[str, set[str]] = field(default_factory=dict)
    known: list[tuple[str, object]] = field(default_factory=list)

    def record(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        keywords: Mapping[str, Any],
        result: object,
        name: str,
    ) -> None:
        """Note that `name = function(*args, **keywords)` ran and gave `result`."""
        self._import(function)
        words = [self._literal(value) for value in args]
        defaults = inspect.signature(function).parameters
        for key, value in keywords.items():
            if key in defaults and _same(defaults[key].default, value):
                continue
            words.append(f"{key}={self._literal(value)}")
        self.calls.append((name, _call(function.__name__, words, name)))
        self.known.append((name, result))

    def source(self, show: bool = True) -> str:
        """The record as a script; with `show`, the last result (a figure) is displayed."""
        lines = [
            f"from {module} import {', '.join(sorted(names))}"
            for module, names in sorted(self.imports.items())
        ]
        if any("np." in call for _, call in self.calls):
            lines.insert(0, "import numpy as np")
        lines += ["", *(call for _, call in self.calls)]
        if show and self.calls:
            lines.append(self.calls[-1][0])
        return "\n".join(lines).strip() + "\n"

    def _import(self, thing: Any) -> None:
        self.imports.setdefault(_public_module(thing), set()).add(thing.__name__)

    def _literal(self, value: Any) -> str:
        reference = self._reference(value)
        if reference:
            return reference
        if isinstance(value, np.ndarray):
            return f"np.array({value.tolist()!r})"
        if isinstance(value, np.generic):
            return repr(value.item())
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
        """The name of an earlier result that is this very object, or holds it as a field."""
        if value is None or isinstance(value, bool | str | tuple):
            return ""
        plain = isinstance(value, int | float)
        for name, result in reversed(self.known):
            if result is value and not plain:
                return name
            if dataclasses.is_dataclass(result):
                for f in dataclasses.fields(result):
                    if getattr(result, f.name) is value and not plain:
                        return f"{name}.{f.name}"
        return ""


def _same(default: object, value: object) -> bool:
    return type(default) is type(value) and not isinstance(value, np.ndarray) and default == value


def _call(function: str, words: list[str], name: str) -> str:
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
    return thing.__module__
