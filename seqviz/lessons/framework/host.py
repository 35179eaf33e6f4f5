"""Host protocol of a bench, and `LocalHost`, which runs a bench without a page.

A host calls functions, renders figures, fetches models and keeps training results. `LocalHost`
serves notebooks, tests and the command line; pages, drag requests and embeds have hosts in
`seqviz.ui`.
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
# A figure function, and its arguments after the result or the records reported so far.
FigureCall = tuple[Any, ...]


class PendingError(Exception):
    """Missing dependency of a bench: a model to fetch, a training not yet started.

    The host reports the reason to the reader.
    """


@dataclass(frozen=True)
class Computed(Generic[R]):
    """A result and the time that computing it took.

    Attributes:
        result: the value.
        seconds: compute time, without the cache lookup.
        is_cached: True where the value comes from the cache.
    """

    result: R
    seconds: float
    is_cached: bool = False


@dataclass(frozen=True)
class TrainingResult(Generic[R]):
    """The result of a job.

    Attributes:
        result: the value.
        seconds: compute time; 0 for a shipped result.
        device: name of the device that computed it.
        shipped: for a result that is shipped with the app, its date, device and duration; else
            empty.
    """

    result: R
    seconds: float
    device: str
    shipped: str = ""


class Host(Protocol):
    """Services that a bench requests from its environment."""

    @property
    def dark(self) -> bool:
        """True where the reader's page is dark."""

    def call(self, function: Function, args: Args, keywords: Keywords) -> Computed[Any]:
        """Return the result of a pure function.

        Args:
            function: the function.
            args: its positional arguments.
            keywords: its keyword arguments.
        """

    def read_upload(self, function: Callable[[bytes], R], content: bytes) -> R:
        """Return the value of a function of an uploaded file.

        Args:
            function: reads the bytes of the file.
            content: the bytes.
        """

    def render(
        self, draw: Function, args: Args, keywords: Keywords, shared: bool
    ) -> RenderedFigure:
        """Return a rendered figure.

        Args:
            draw: figure function.
            args: its positional arguments.
            keywords: its keyword arguments, with the style.
            shared: True where everything before came from the cache.
        """

    def values(self, bench: str) -> Any:
        """Return the parameters of another bench of the lesson."""

    def model(self, name: str, text: str | None, other: str) -> str:
        """Return the device of a loaded model that has read the text.

        Args:
            name: name of the model.
            text: text to read; None where only the model is needed.
            other: second text of a pair (encoders).

        Raises:
            PendingError: if the model is not loaded, or has not read the text yet.
        """

    def training_result(
        self, function: Callable[..., R], keywords: Keywords, so_far: FigureCall | None
    ) -> TrainingResult[R] | None:
        """Return the result of a job, or None where it is not available.

        Args:
            function: the training function.
            keywords: its arguments.
            so_far: figure of the records reported so far; None for no partial figure.
        """

    def upload(self, name: str) -> bytes | None:
        """Return the file that the student uploaded; None without one."""

    def pick(self, name: str, options: Sequence[str], first: int) -> str:
        """Return the option selected from a list that depends on data, such as columns of a file.

        Args:
            name: name of the choice.
            options: the options.
            first: index of the initial option.
        """

    def emit(self, item: Item) -> None:
        """Show an item of the output."""


@dataclass
class LocalHost:
    """Host without a page: everything is computed at once, in the calling thread.

    Attributes:
        others: parameters of the benches that this one depends on, by name.
        train: True to train where no shipped result exists; else PendingError is raised.
        content: the file that stands for an upload.
        picked: selected options by the name of the choice.
        dark: True for the dark theme.
    """

    others: dict[str, Any] = field(default_factory=dict)
    train: bool = False
    content: bytes | None = None
    picked: Mapping[str, str] = field(default_factory=dict)
    dark: bool = False

    def call(self, function: Function, args: Args, keywords: Keywords) -> Computed[Any]:
        started = time.perf_counter()
        result = function(*args, **keywords)
        return Computed(result, time.perf_counter() - started)

    def read_upload(self, function: Callable[[bytes], R], content: bytes) -> R:
        return function(content)

    def render(
        self, draw: Function, args: Args, keywords: Keywords, shared: bool
    ) -> RenderedFigure:
        chart = draw(*args, **keywords)
        alt = chart.alt if isinstance(chart, Figure) else str(chart.description)
        return RenderedFigure(chart, (), alt)

    def values(self, bench: str) -> Any:
        """Return the given parameters of a bench; raise KeyError for a bench without any."""
        return self.others[bench]

    def model(self, name: str, text: str | None, other: str) -> str:
        """Fetch and load the model, read the text, and return the device; pass on their errors.

        Args:
            name: name of the model.
            text: text to read; None where only the model is needed.
            other: second text of a pair (encoders).
        """
        ready.load_job(name, text, other, lambda *_: None)
        return pretrained.load(name).device.upper()

    def training_result(
        self, function: Callable[..., R], keywords: Keywords, so_far: FigureCall | None
    ) -> TrainingResult[R] | None:
        """Return the shipped result; else train now if `train` is set, or return None.

        Args:
            function: the training function.
            keywords: its arguments.
            so_far: unused; there is no partial figure.
        """
        outcome = shipped(function, keywords)
        if outcome is not None or not self.train:
            return outcome
        chosen = placement.of(function, keywords)
        started = time.perf_counter()
        result = function(**on_device(function, keywords, chosen.kind))
        return TrainingResult(result, time.perf_counter() - started, chosen.name)

    def upload(self, name: str) -> bytes | None:
        return self.content

    def pick(self, name: str, options: Sequence[str], first: int) -> str:
        return self.picked.get(name, options[first])

    def emit(self, item: Item) -> None:
        """Ignore the item; `Show` has added it to the output."""


def shipped(function: Callable[..., R], keywords: Keywords) -> TrainingResult[R] | None:
    """Return the shipped result of a training, or None.

    Args:
        function: the training function.
        keywords: its arguments.
    """
    result = precomputed.find(function, keywords)
    return (
        None
        if result is None
        else TrainingResult(result.result, 0.0, result.device, provenance_note(result))
    )


def provenance_note(result: precomputed.ShippedResult) -> str:
    """Return date, device and duration of a shipped result, for display."""
    return f"{result.date} · {result.device} · {duration(result.seconds)}"
