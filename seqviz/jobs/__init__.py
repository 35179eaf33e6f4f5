"""Long work: a bounded queue with progress, cancel, and one run for equal requests."""

from seqviz.jobs.job import MAX_TRAIL, Cancelled, Job, QueueFull, Report, State, Tally, silent
from seqviz.jobs.queue import Jobs, default, queues
