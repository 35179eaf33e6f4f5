"""What runs a bench in a page of its own: as under a moving hand, but a model is made ready.

Nothing is trained or downloaded for it: a page in a course is opened by whoever comes by. A model
that is on this machine is loaded, once for all who wait; the page asks again until it is there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cachetools import TTLCache

from seqviz import fingerprint, jobs
from seqviz.lessons.bench.host import Drawing, NotYet, Trained
from seqviz.lessons.bench.output import Item
from seqviz.lessons.bench.problems import sentence
from seqviz.lessons.bench.words import Words
from seqviz.models import forward_cache, pretrained, ready, store
from seqviz.models.registry import model as record_of
from seqviz.refusal import Problem
from seqviz.ui.bench.model_progress import QUEUE, device_of
from seqviz.ui.bench.moving_hand import MovingHand
from seqviz.ui.server import run_context
from seqviz.ui.server.embeds import OPEN, Embedded
from seqviz.ui.shared import limits

R = TypeVar("R")
# In whose name each model and text is made ready: it waits as long as anybody has asked of late.
_waiting: TTLCache[bytes, Embedded] = TTLCache(64, OPEN)
_lock = threading.Lock()


@dataclass
class EmbedHost(MovingHand):
    """items: what the bench has shown so far. loading: a model is on its way."""

    words: Words = field(kw_only=True)
    items: list[Item] = field(default_factory=list)
    loading: bool = False

    def put(self, item: Item) -> None:
        """Show this."""
        self.items.append(item)

    def trained(
        self, function: Callable[..., R], keywords: Mapping[str, Any], so_far: Drawing | None
    ) -> Trained[R]:
        """As there; raises NotYet with where it can be started."""
        found = super().trained(function, keywords, so_far)
        if found is None:
            raise NotYet(self.words("embed.not_trained"))
        return found

    def model(self, name: str, text: str | None, other: str) -> str:
        """The device of a model that has read the text; raises NotYet with what it waits for."""
        if ready.is_ready(name, text, other):
            return super().model(name, text, other)
        self.settled = False
        title = record_of(name).title
        if store.stored(name) is None:
            raise NotYet(self.words("embed.no_model", model=title))
        if text is not None and not forward_cache.known(name, text, other):
            limits.read(text, other, model=name)
        wish: dict[str, Any] = {"model": name, "text": text, "other": other, "device": QUEUE}
        queue = jobs.default(QUEUE)
        job = queue.find(ready.make_ready, **wish)
        if job is not None and job.state == "done" and pretrained.loaded(name):
            return device_of(name)  # read before and since forgotten: it is read again now
        if job is not None and job.state == "failed":
            refused = isinstance(job.error, ValueError)
            raise NotYet(sentence(job.error, self.words) if refused else self.words("frame.failed"))
        owner = _owner(fingerprint.digest((name, text, other)))
        try:
            group = self.session.account.name
            queue.submit(ready.make_ready, owner=owner, group=group, **wish).touch(owner)
        except jobs.QueueFull as full:
            raise Problem("queue_full", waiting=full.waiting) from None
        self.loading = True
        raise NotYet(self.words("embed.loading", model=title))


def _owner(key: bytes) -> str:
    with _lock:
        found = _waiting.pop(key, None)
        if found is None:
            found = run_context.registered(Embedded("embeds", time.monotonic()))
        _waiting[key] = found
    found.seen = time.monotonic()
    return found.owner
