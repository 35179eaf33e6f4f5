"""Look-up of job and model state without a widget, for pages and drag requests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from seqviz import jobs
from seqviz.models import placement, pretrained
from seqviz.ui.runtime import run_context


def session_id() -> str:
    """Return the session's owner name in the job queues; it lives as long as the browser tab."""
    return run_context.session().owner


def client_id() -> str:
    """Return the device's group in the job queues, which take turns between groups."""
    return run_context.session().account.name


def find_job(function: Callable[..., Any], keywords: Mapping[str, Any]) -> jobs.Job[Any] | None:
    """Return the job with exactly these arguments, if it waits, runs or is done."""
    if "torch" not in sys.modules:
        return None  # no job can exist in a process without torch
    # The queue of its current device, or that of a device that was lost after the job had started.
    for kind in dict.fromkeys((placement.of(function, keywords).kind, *jobs.all_queues())):
        job = jobs.queue_for(kind).find(function, **keywords, device=kind)
        if job is not None:
            return job
    return None


def device_of(model: str) -> str:
    """Return the device of a loaded model."""
    result = pretrained.load(model)
    return placement.named(result.device, result.note)
