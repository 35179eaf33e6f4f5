"""Look up the state of jobs and models without a widget, for pages and for drag requests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from seqviz import jobs
from seqviz.models import placement, pretrained
from seqviz.ui.runtime import run_context

if TYPE_CHECKING:
    pass
if TYPE_CHECKING:
    pass


def session_id() -> str:
    """A name for this visitor in the queues; lives as long as the browser tab's session."""
    return run_context.session().owner


def client_id() -> str:
    """Whose runs take turns with those of others: all that this device wants."""
    return run_context.session().account.name


def find_job(function: Callable[..., Any], keywords: Mapping[str, Any]) -> jobs.Job[Any] | None:
    """The job with these very settings, if it waits, runs or is done."""
    if "torch" not in sys.modules:
        return None  # nothing has been trained in this process: no need to load torch to know
    # Where it would run now, or has been begun before its device was lost.
    for kind in dict.fromkeys((placement.of(function, keywords).kind, *jobs.all_queues())):
        job = jobs.queue_for(kind).find(function, **keywords, device=kind)
        if job is not None:
            return job
    return None


def device_of(model: str) -> str:
    """Where a model computes that is in memory."""
    result = pretrained.load(model)
    return placement.named(result.device, result.note)
