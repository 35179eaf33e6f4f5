"""Micro-batching of concurrent requests; a lone request is not delayed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")
BATCH_WINDOW_S = 0.005  # seconds


@dataclass(eq=False)
class _Asked:
    item: Any
    is_started: bool = False
    done: bool = False
    result: Any = None
    error: BaseException | None = None


class MicroBatcher(Generic[T, R]):
    """Groups concurrent requests of one group into batches.

    A request that arrives while no batch is running starts one at once. Others wait for its end, at
    most `patience` seconds; the first to wake takes all waiting requests of its group along.

    Args:
        work: computes a batch: returns one result per item.
        maximum: maximum number of items per batch.
        patience: maximum wait, in seconds.
    """

    def __init__(
        self, work: Callable[[Sequence[T]], list[R]], maximum: int, patience: float = BATCH_WINDOW_S
    ):
        self._work, self._most, self._patience = work, maximum, patience
        self._changed = threading.Condition()
        self._waiting: dict[Hashable, list[_Asked]] = {}
        self._passes = 0

    def submit(self, group: Hashable, item: T) -> R:
        """Return the result of an item, computed in a batch; an error of the batch is raised here.

        Args:
            group: only items of equal group share a batch.
            item: the item.
        """
        mine = _Asked(item)
        with self._changed:
            line = self._waiting.setdefault(group, [])
            line.append(mine)
            self._changed.wait_for(lambda: mine.is_started or not self._passes, self._patience)
            if mine.is_started:
                self._changed.wait_for(lambda: mine.done)
                batch = []
            else:
                batch = [mine, *(item for item in line if item is not mine)][: self._most]
                for entry in batch:
                    entry.is_started = True
                    line.remove(entry)
                if not line:
                    del self._waiting[group]
                self._passes += 1
        if batch:
            self._pass(batch)
        if mine.error is not None:
            raise mine.error
        result: R = mine.result
        return result

    def _pass(self, batch: list[_Asked]) -> None:
        try:
            results = self._work([item.item for item in batch])
            for entry, result in zip(batch, results, strict=True):
                entry.result = result
        except BaseException as error:
            for entry in batch:
                entry.error = error
        with self._changed:
            for entry in batch:
                entry.done = True
            self._passes -= 1
            self._changed.notify_all()
