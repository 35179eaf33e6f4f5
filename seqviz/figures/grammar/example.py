"""Figures are found, not listed: every figure function, and the example that stands beside it.

A subject's folder has a module `examples` with `examples() -> tuple[Example, ...]`: calls with real
results of `seqviz.compute`. One test holds each to all conventions (tests/figures), a benchmark
times them, and a figure function without an example fails.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import seqviz.figures
from seqviz.figures.grammar.style import Style

DRAWN = ("Figure", "alt.LayerChart", "str")  # what a function that draws says it returns


@dataclass(frozen=True)
class Example:
    """One call of a figure function; `key` is a number that its description must name."""

    name: str
    draw: Callable[..., Any]
    args: tuple[Any, ...]
    key: float
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def figure(self, style: Style | None = None) -> Any:
        """The figure, by default in the house's light style."""
        return self.draw(*self.args, **self.keywords, style=style or Style())


def modules() -> Iterator[str]:
    """Every module of every subject (the grammar draws nothing by itself)."""
    for found in pkgutil.walk_packages(seqviz.figures.__path__, "seqviz.figures."):
        if not f"{found.name}.".startswith("seqviz.figures.grammar."):
            yield found.name


def functions() -> tuple[Callable[..., Any], ...]:
    """Every public function that takes a style and draws something, in the order of its module."""
    found = []
    for name in modules():
        for thing in vars(importlib.import_module(name)).values():
            if not inspect.isfunction(thing) or thing.__module__ != name:
                continue
            if thing.__name__.startswith("_") or "style" not in inspect.signature(thing).parameters:
                continue
            said = thing.__annotations__.get("return")
            if getattr(said, "__name__", said) in DRAWN:
                found.append(thing)
    return tuple(found)


@cache
def examples() -> tuple[Example, ...]:
    """Those of all subjects, made once."""
    made: list[Example] = []
    for name in modules():
        if name.endswith(".examples"):
            made += importlib.import_module(name).examples()
    return tuple(made)
