"""`EmbedHost`: runs an embedded bench like a drag request, but loads models.

It starts no training or download, because any visitor may open a course page. A model that is on
this machine is loaded, once for all that wait; the page repeats its request until it is loaded.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cachetools import TTLCache

from seqviz import jobs
from seqviz.core import content_hash
from seqviz.core.errors import MessageError
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.host import FigureCall, PendingError, TrainingResult
from seqviz.lessons.framework.output import Item
from seqviz.lessons.framework.words import LessonWords
from seqviz.models import forward_cache, pretrained, ready, store
from seqviz.models.registry import model as record_of
from seqviz.ui.embed.sessions import OPEN, Embedded
from seqviz.ui.live.live_host import LiveHost
from seqviz.ui.page.model_progress import QUEUE
from seqviz.ui.quota import charging
from seqviz.ui.render.job_state import device_of
from seqviz.ui.runtime import run_context

R = TypeVar("R")
# Job owners by model and text: a load waits as long as any page has requested it recently.
_waiting: TTLCache[bytes, Embedded] = TTLCache(64, OPEN)
_lock = threading.Lock()


@dataclass
class EmbedHost(LiveHost):
    """Host of an embedded bench.

    Attributes:
        words: labels of its lesson.
        items: output so far.
        loading: a model is being loaded.
    """

    words: LessonWords = field(kw_only=True)
    items: list[Item] = field(default_factory=list)
    loading: bool = False

    def emit(self, item: Item) -> None:
        """Add an output item."""
        self.items.append(item)

    def training_result(
        self, function: Callable[..., R], keywords: Mapping[str, Any], so_far: FigureCall | None
    ) -> TrainingResult[R]:
        """Return a finished or shipped result; PendingError says where to start the training."""
        result = super().training_result(function, keywords, so_far)
        if result is None:
            raise PendingError(self.words("embed.not_trained"))
        return result

    def model(self, name: str, text: str | None, other: str) -> str:
        """Return the device of a loaded model; raises PendingError with the reason to wait."""
        if ready.is_ready(name, text, other):
            return super().model(name, text, other)
        self.is_cacheable = False
        title = record_of(name).title
        if store.stored(name) is None:
            raise PendingError(self.words("embed.no_model", model=title))
        if text is not None and not forward_cache.is_cached(name, text, other):
            charging.read(text, other, model=name)
        requested: dict[str, Any] = {"model": name, "text": text, "other": other, "device": QUEUE}
        queue = jobs.queue_for(QUEUE)
        job = queue.find(ready.load_job, **requested)
        if job is not None and job.state == "done" and pretrained.loaded(name):
            return device_of(name)  # it was read before and evicted since: this run reads it again
        if job is not None and job.state == "failed":
            refused = isinstance(job.error, ValueError)
            raise PendingError(
                to_message(job.error, self.words) if refused else self.words("frame.failed")
            )
        owner = _owner(content_hash.hash_value((name, text, other)))
        try:
            group = self.session.account.name
            queue.submit(ready.load_job, owner=owner, group=group, **requested).heartbeat(owner)
        except jobs.QueueFullError as full:
            raise MessageError("queue_full", waiting=full.waiting) from None
        self.loading = True
        raise PendingError(self.words("embed.loading", model=title))


def _owner(key: bytes) -> str:
    with _lock:
        result = _waiting.pop(key, None)
        if result is None:
            result = run_context.register(Embedded("embeds", time.monotonic()))
        _waiting[key] = result
    result.seen = time.monotonic()
    return result.owner
