"""Base of the hosts on a server: shared result cache and quota checks."""

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
    """Host with the shared result cache and a quota.

    Attributes:
        turn: quota scope of this run of the bench.
    """

    turn: QuotaScope = field(default_factory=QuotaScope, kw_only=True)

    def call(self, function: Function, args: Args, keywords: Keywords) -> Computed[Any]:
        """Return a result from the shared cache; a computation is charged to the student."""
        with self.turn.charging():
            return result_cache.cached(quota_checked(function))(*args, **keywords)

    def read_upload(self, function: Callable[[bytes], R], content: bytes) -> R:
        """Parse an uploaded file, charged but not cached."""
        with self.turn.charging():
            return quota_checked(function)(content)

    def render(
        self, draw: Function, args: Args, keywords: Keywords, shared: bool
    ) -> RenderedFigure:
        """Return a figure, from the shared cache where `shared` is set."""
        return result_cache.render(draw, args, keywords, shared)
