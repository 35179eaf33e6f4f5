"""One call of a figure function, which stands beside it.

The folder of a subject has a module `examples` with `examples() -> tuple[Example, ...]`: calls with
real results of `seqviz.compute`. `seqviz.figures.discovery` finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from seqviz.plotting.style import Style


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
