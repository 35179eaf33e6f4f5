"""`LiveHost`: runs a bench for a drag request; raises PendingError instead of starting work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from seqviz.lessons.framework.host import (
    FigureCall,
    LocalHost,
    PendingError,
    TrainingResult,
    shipped,
)
from seqviz.models import forward_cache, placement, ready
from seqviz.ui.quota import charging
from seqviz.ui.render import job_state
from seqviz.ui.render.job_state import device_of
from seqviz.ui.render.server_host import ServerHost
from seqviz.ui.runtime.run_context import Session

R = TypeVar("R")


@dataclass
class LiveHost(ServerHost, LocalHost):
    """Host of a bench for a drag request.

    Attributes:
        session: of the student.
        prefix: of the bench.
        is_cacheable: True where the response is the same for every client at any time.
    """

    session: Session = field(kw_only=True)
    prefix: str = field(kw_only=True)
    is_cacheable: bool = True

    def model(self, name: str, text: str | None, other: str) -> str:
        """Return the device of a loaded model; raises PendingError where it would have to load."""
        if not ready.is_ready(name, text, other):
            raise PendingError
        if text is not None and not forward_cache.is_cached(name, text, other):
            charging.read(text, other, model=name)
        return device_of(name)

    def training_result(
        self, function: Callable[..., R], keywords: Mapping[str, Any], so_far: FigureCall | None
    ) -> TrainingResult[R] | None:
        """Return the result of a finished job or the shipped one; None without either."""
        self.is_cacheable = False
        job = job_state.find_job(function, keywords)
        if job is not None and job.state == "done":
            return TrainingResult(job.result, job.seconds, placement.named(job.device, job.note))
        return shipped(function, keywords)

    def upload(self, name: str) -> bytes | None:
        """Return the file that the student has uploaded on the page."""
        self.is_cacheable = False
        file = self.session.files.get(f"{self.prefix}.{name}")
        return file.content if file else None

    def pick(self, name: str, options: Sequence[str], first: int) -> str:
        """Return the choice that the student has made on the page for the uploaded file."""
        chosen = self.session.picks.get(f"{self.prefix}.{name}", options[first])
        return chosen if chosen in options else options[first]
