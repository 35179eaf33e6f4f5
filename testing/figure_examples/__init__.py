"""Example calls of every figure function, for the test of all figures and a benchmark.

The module of a subject has `examples() -> tuple[Example, ...]`: calls with results of
`seqviz.compute` or of `testing.fake` (`fake_example`). Results are built by hand only where a
branch of the figure needs it. A public figure function without an example fails a test
(tests/figures).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules, walk_packages
from typing import Any, get_type_hints

import seqviz.figures
from seqviz.plotting.style import Style
from testing.fake import fake

RETURNED = ("Figure", "alt.LayerChart", "str")  # types that a figure function returns


@dataclass(frozen=True)
class Example:
    """Call of a figure function.

    Attributes:
        name: name of the example.
        draw: the figure function.
        args: its positional arguments.
        keywords: its keyword arguments.
        key: number that its text description must contain.
    """

    name: str
    draw: Callable[..., Any]
    args: tuple[Any, ...]
    key: float
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def figure(self, style: Style | None = None) -> Any:
        """Draw the figure, by default in the light style."""
        return self.draw(*self.args, **self.keywords, style=style or Style())


def fake_example(
    name: str, draw: Callable[..., Any], key: Any, /, *args: Any, **values: Any
) -> Example:
    """Return an example whose first argument is made from its annotation.

    Args:
        name: Name of the example.
        draw: The figure function.
        key: Number that the description must name, or the result's attribute or function of the
            result that gives it.
        args: The arguments after the result.
        values: Sizes and fields of the result, see `testing.fake.fake`.
    """
    hints = get_type_hints(draw)
    result = fake(hints[next(iter(inspect.signature(draw).parameters))], **values)
    value = getattr(result, key) if isinstance(key, str) else key
    return Example(name, draw, (result, *args), value(result) if callable(value) else value)


def functions() -> tuple[Callable[..., Any], ...]:
    """Return every public figure function, module by module: each takes a style and draws."""
    drawing = []
    for module in walk_packages(seqviz.figures.__path__, "seqviz.figures."):
        for member in vars(import_module(module.name)).values():
            if not inspect.isfunction(member) or member.__module__ != module.name:
                continue
            styled = "style" in inspect.signature(member).parameters
            if member.__name__.startswith("_") or not styled:
                continue
            returned = member.__annotations__.get("return")
            if getattr(returned, "__name__", returned) in RETURNED:
                drawing.append(member)
    return tuple(drawing)


@cache
def examples() -> tuple[Example, ...]:
    """Return the examples of all subjects."""
    collected: list[Example] = []
    for module in iter_modules(__path__, f"{__name__}."):
        collected += import_module(module.name).examples()
    return tuple(collected)
