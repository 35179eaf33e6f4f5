"""Bounded job queue for long computations, with progress, cancellation and deduplication."""

from seqviz.jobs.job import (
    MAX_TRAIL,
    CancelledError,
    Job,
    QueueFullError,
    Report,
    State,
    Tally,
    no_progress,
    on_device,
    scale_report,
)
from seqviz.jobs.queue import JobQueue, all_queues, queue_for
