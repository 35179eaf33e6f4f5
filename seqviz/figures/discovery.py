"""Find every figure function, and the examples that stand beside it.

One test holds each to all conventions (tests/figures), a benchmark times them, and a figure
function without an example fails.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import seqviz.figures
from seqviz.plotting.example import Example

DRAWN = ("Figure", "alt.LayerChart", "str")  # what a function that draws says it returns


def modules() -> Iterator[str]:
    """Yield the name of every module of every subject."""
    for found in pkgutil.walk_packages(seqviz.figures.__path__, "seqviz.figures."):
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
