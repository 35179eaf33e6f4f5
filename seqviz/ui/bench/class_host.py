"""What hosts on a server have in common: what the class shares, what a student may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from seqviz.code_trace import Args, Function, Keywords
from seqviz.lessons.bench.host import Found
from seqviz.lessons.bench.output import Drawn
from seqviz.ui.shared import caching
from seqviz.ui.shared.limits import Turn, metered

R = TypeVar("R")


@dataclass
class ClassHost:
    """turn: of this run of a bench, which is let in once."""

    turn: Turn = field(default_factory=Turn, kw_only=True)

    def call(self, function: Function, args: Args, keywords: Keywords) -> Found[Any]:
        """From what the class shares; what has to be computed counts for this student."""
        with self.turn.counted():
            return caching.cached(metered(function))(*args, **keywords)

    def read(self, function: Callable[[bytes], R], content: bytes) -> R:
        """A student's own file: not for what the class shares, but it counts."""
        with self.turn.counted():
            return metered(function)(content)

    def drawn(self, draw: Function, args: Args, keywords: Keywords, shared: bool) -> Drawn:
        """From what the class shares, where the class has been here."""
        return caching.drawn(draw, args, keywords, shared)
