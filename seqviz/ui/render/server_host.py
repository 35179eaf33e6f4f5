"""What hosts on a server have in common: what the class shares, what a student may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from seqviz.core.code_trace import Args, Function, Keywords
from seqviz.lessons.framework.host import Computed
from seqviz.lessons.framework.output import RenderedFigure
from seqviz.ui.quota.charging import QuotaScope, quota_checked
from seqviz.ui.runtime import result_cache

R = TypeVar("R")


@dataclass
class ServerHost:
    """turn: of this run of a bench, which is let in once."""

    turn: QuotaScope = field(default_factory=QuotaScope, kw_only=True)

    def call(self, function: Function, args: Args, keywords: Keywords) -> Computed[Any]:
        """From what the class shares; what has to be computed counts for this student."""
        with self.turn.charging():
            return result_cache.cached(quota_checked(function))(*args, **keywords)

    def read_upload(self, function: Callable[[bytes], R], content: bytes) -> R:
        """A student's own file: not for what the class shares, but it counts."""
        with self.turn.charging():
            return quota_checked(function)(content)

    def render(
        self, draw: Function, args: Args, keywords: Keywords, shared: bool
    ) -> RenderedFigure:
        """From what the class shares, where the class has been here."""
        return result_cache.render(draw, args, keywords, shared)
