"""What runs a bench: it calls, draws, fetches models and keeps trainings. A page is one host.

`LocalHost` is the other: no page and no session, for notebooks, tests and the command line.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from seqviz.core.code_trace import Args, Function, Keywords
from seqviz.core.i18n import duration
from seqviz.data import precomputed
from seqviz.jobs import on_device
from seqviz.lessons.framework.output import Item, RenderedFigure
from seqviz.models import placement, pretrained, ready
from seqviz.plotting.figure import Figure

R = TypeVar("R")
# A figure function and what it is given after the result, or after the records so far.
FigureCall = tuple[Any, ...]


class PendingError(Exception):
    """What a bench needs is not there yet: a model to be fetched, a training that nobody started.

    Whoever runs the bench has said so, or says so.
    """


@dataclass(frozen=True)
class Computed(Generic[R]):
    """A result, the seconds that computing it took, and whether it is from the cache."""

    result: R
    seconds: float
    is_cached: bool = False


@dataclass(frozen=True)
class TrainingResult(Generic[R]):
    """The result of long work. shipped: it came with the app; where and when, in words."""

    result: R
    seconds: float
    device: str
    shipped: str = ""


class Host(Protocol):
    """What a bench asks of whoever runs it."""

    @property
    def dark(self) -> bool:
        """Whether the reader's page is dark."""

    def call(self, function: Function, args: Args, keywords: Keywords) -> Computed[Any]:
        """A pure function's result."""

    def read_upload(self, function: Callable[[bytes], R], content: bytes) -> R:
        """What a function makes of a student's own file."""

    def render(
        self, draw: Function, args: Args, keywords: Keywords, shared: bool
    ) -> RenderedFigure:
        """A figure; shared: nothing had to be computed for it."""

    def values(self, bench: str) -> Any:
        """The parameters of another bench of the lesson."""

    def model(self, name: str, text: str | None, other: str) -> str:
        """The device of a model that is here and has read the text; else raises PendingError."""

    def training_result(
        self, function: Callable[..., R], keywords: Keywords, so_far: FigureCall | None
    ) -> TrainingResult[R] | None:
        """The result of long work, if it is there."""

    def upload(self, name: str) -> bytes | None:
        """A file of the student's own."""

    def pick(self, name: str, options: Sequence[str], first: int) -> str:
        """A choice that only the data can offer, such as a column of a file."""

    def emit(self, item: Item) -> None:
        """Show this."""


@dataclass
class LocalHost:
    """No page: everything is computed at once, in this thread.

    others: parameters of the benches that this one builds on. train: long work is done now where
    no result came with the app; else PendingError is raised. content: of the file that a student
    would upload.
    """

    others: dict[str, Any] = field(default_factory=dict)
    train: bool = False
    content: bytes | None = None
    picked: Mapping[str, str] = field(default_factory=dict)
    dark: bool = False

    def call(self, function: Function, args: Args, keywords: Keywords) -> Computed[Any]:
        """Call it."""
        started = time.perf_counter()
        result = function(*args, **keywords)
        return Computed(result, time.perf_counter() - started)

    def read_upload(self, function: Callable[[bytes], R], content: bytes) -> R:
        """Call it."""
        return function(content)

    def render(
        self, draw: Function, args: Args, keywords: Keywords, shared: bool
    ) -> RenderedFigure:
        """Draw it."""
        chart = draw(*args, **keywords)
        alt = chart.alt if isinstance(chart, Figure) else str(chart.description)
        return RenderedFigure(chart, (), alt)

    def values(self, bench: str) -> Any:
        """Those that were given. Raises KeyError for a bench without any."""
        return self.others[bench]

    def model(self, name: str, text: str | None, other: str) -> str:
        """Fetch and load it; raises what these raise."""
        ready.load_job(name, text, other, lambda *_: None)
        return pretrained.load(name).device.upper()

    def training_result(
        self, function: Callable[..., R], keywords: Keywords, so_far: FigureCall | None
    ) -> TrainingResult[R] | None:
        """What came with the app, else what is trained now."""
        outcome = shipped(function, keywords)
        if outcome is not None or not self.train:
            return outcome
        chosen = placement.of(function, keywords)
        started = time.perf_counter()
        result = function(**on_device(function, keywords, chosen.kind))
        return TrainingResult(result, time.perf_counter() - started, chosen.name)

    def upload(self, name: str) -> bytes | None:
        """What was given."""
        return self.content

    def pick(self, name: str, options: Sequence[str], first: int) -> str:
        """What was given, else the first."""
        return self.picked.get(name, options[first])

    def emit(self, item: Item) -> None:
        """Nobody looks."""


def shipped(function: Callable[..., R], keywords: Keywords) -> TrainingResult[R] | None:
    """The result that came with the app for this work, if one did."""
    result = precomputed.find(function, keywords)
    return (
        None
        if result is None
        else TrainingResult(result.result, 0.0, result.device, provenance_note(result))
    )


def provenance_note(result: precomputed.ShippedResult) -> str:
    """When and on what a result was computed that came with the app."""
    return f"{result.date} · {result.device} · {duration(result.seconds)}"
