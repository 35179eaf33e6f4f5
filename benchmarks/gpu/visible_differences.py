"""Visible differences: pages computed on the device against the CPU in float32.

Every bench that uses a pretrained model, or trains one of the networks of `placement.TABLE`, at its
default settings: trainings are shortened; shipped results are used where they exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from benchmarks.gpu.agreement import VisibleDifference
from benchmarks.gpu.machine import (
    CPU,
    NO_TIME,
    Machine,
    SkipRowError,
    described,
    models_at,
    precision,
)
from seqviz.lessons.framework.host import FigureCall, LocalHost, TrainingResult
from seqviz.lessons.framework.lesson import Lesson
from seqviz.lessons.framework.output import ColoredText, Metric, Note, Output
from seqviz.models import placement, store
from seqviz.plotting.figure import Figure

_WIDTH, _HEIGHT = 1000, 500  # pixels of a figure on a large screen
_LONG = ("task",)  # benches whose training is evaluated too long for a small run
_UPDATES = {True: 3, False: 30}  # updates of a training, by `small`


@dataclass
class At(LocalHost):
    """Host whose models and trainings run on one device.

    Attributes:
        used: True where the bench has used the device.
    """

    place: str = CPU
    small: bool = True
    used: bool = False

    def model(self, name: str, text: str | None, other: str) -> str:
        """Return the device; raise SkipRowError if the model is not stored on this machine."""
        if store.stored(name) is None:
            raise SkipRowError(f"{name} is not on this machine")
        self.used = True
        models_at(self.place, (name,))
        return super().model(name, text, other)

    def training_result(
        self, function: Callable[..., Any], keywords: Mapping[str, Any], so_far: FigureCall | None
    ) -> TrainingResult[Any] | None:
        """Train on the device with fewer updates; else return the shipped result."""
        if f"{function.__module__}.{function.__qualname__}" not in placement.TABLE:
            return super().training_result(function, keywords, so_far)
        self.used = True
        settings = keywords["settings"]
        existing = {field.name for field in fields(settings)} & {"updates", "epochs"}
        few = replace(settings, **dict.fromkeys(existing, _UPDATES[self.small]))
        result = function(**{**keywords, "settings": few}, device=self.place)
        return TrainingResult(result, 0.0, self.place)


def lesson(given: Lesson, machine: Machine) -> VisibleDifference:
    """Compare all benches of a lesson that use the device, and its exercises."""
    result, words, wanted_answers = VisibleDifference(), [], _answers(given)
    with precision("float32", machine.place):
        for name, bench in given.benches.items():
            if machine.over():
                result.skipped[name] = f"skipped: {NO_TIME}"
                continue
            if machine.small and name in _LONG:
                result.skipped[name] = "too long for a CPU in a minute"
                continue
            hosts = [At(place=position, small=machine.small) for position in (CPU, machine.place)]
            try:
                requested = bench.run(host=hosts[0], code=False)
                if not hosts[0].used:
                    continue
                visible = bench.run(host=hosts[1], code=False)
            except Exception as error:  # of any kind, since other benches can still be compared
                if hosts[0].used or isinstance(error, SkipRowError):
                    result.skipped[name] = described(error)
                continue
            pixels, levels, others = apart(visible, requested)
            if isinstance(requested.figure, Figure):
                result.benches[name] = pixels
            else:
                result.skipped[name] = "skipped: there is no figure to compare"
            result.pixels, result.levels = max(result.pixels, pixels), max(result.levels, levels)
            words += others
    with precision("float32", machine.place):  # the models are on the device by now
        posed = wanted_answers, _answers(given)
    result.exercises = len(posed[0])
    result.refused = sum(
        not abs(there[1] - here[1]) <= here[2] for here, there in zip(*posed, strict=True)
    )
    result.words = float(np.mean(words)) if words else 0.0
    return result


def _answers(given: Lesson) -> list[tuple[Any, float, float]]:
    """Return answer and tolerance of all variants of the exercises, as the page computes them."""
    return [
        exercise.variant_of(variant)
        for exercise in given.exercises.values()
        for variant in range(len(exercise.cases))
    ]


def apart(output: Output, requested: Output) -> tuple[float, float, list[bool]]:
    """Return the distance of two outputs in pixels and color levels, and which texts differ.

    Raises ValueError where only one has a figure or a sentence.
    """
    message, meant = _said(output), _said(requested)
    others = [a != b for a, b in zip(message, meant, strict=True)]
    if not isinstance(requested.figure, Figure):
        return 0.0, 0.0, others
    pixels = levels = 0.0
    for a, b in zip(output.figure.traces, requested.figure.traces, strict=True):
        for key in ("x", "y"):
            axis = str(b.get(f"{key}axis", key))
            pixels = max(pixels, _pixels(a.get(key), b.get(key), requested.figure, axis))
        levels = max(levels, _levels(a, b))
        others += [str(a.get(key)) != str(b.get(key)) for key in ("name", "text") if key in b]
    return pixels, levels, others


def _said(output: Output) -> list[str]:
    """Return metrics (except durations), sentences, colored texts, and the reason for waiting."""
    read = [f"{item.value} {item.caption}" for item in output.of(Metric)]
    results = [item for item in read if not re.match(r"[\d.,]+ m?s\b", item)]
    results += [item.sentence for item in output.of(Note)]
    return results + [item.html for item in output.of(ColoredText)] + [output.waits]


def _pixels(a: Any, b: Any, figure: Figure, name: str) -> float:
    """Return the distance of points along an axis; different labels count as the whole axis."""
    if b is None:
        return 0.0
    axis = figure.axis(name)
    length = (_WIDTH if name[0] == "x" else _HEIGHT) * float(
        np.ptp(np.asarray(axis.get("domain", (0, 1)), float))
    )
    ours, theirs = np.asarray(a), np.asarray(b)
    if theirs.dtype.kind not in "iuf":
        return 0.0 if np.array_equal(ours, theirs) else length
    log = axis.get("type") == "log"
    ours, theirs = (_scaled(item, log) for item in (ours, theirs))
    given = axis.get("range")
    if given is None or None in tuple(given):
        every = [_scaled(np.asarray(trace[name[0]]), log) for trace in figure.traces
                 if trace.get(f"{name[0]}axis", name[0]) == name and name[0] in trace
                 and np.asarray(trace[name[0]]).dtype.kind in "iuf"]  # fmt: skip
        given = _ends(np.concatenate([item.ravel() for item in every]))
    span = float(np.ptp(np.asarray(given, float))) or 1.0
    return _largest(ours, theirs) / span * length


def _levels(a: Mapping[str, Any], b: Mapping[str, Any]) -> float:
    """Return the distance of the colors of cells or points, of 255 levels."""
    worst = 0.0
    dots = a.get("marker") or {}, b.get("marker") or {}
    for ours, theirs, key, low, high in (
        (a, b, "z", "zmin", "zmax"),
        (*dots, "color", "cmin", "cmax"),
    ):
        requested = np.asarray(theirs.get(key, ()))
        if requested.dtype.kind in "iuf" and requested.size:
            minimum, maximum = _ends(requested)
            if theirs.get(low) is not None and theirs.get(high) is not None:
                minimum, maximum = float(theirs[low]), float(theirs[high])
            far = _largest(np.asarray(ours[key], float), requested.astype(float))
            worst = max(worst, 255 * far / ((maximum - minimum) or 1.0))
    return worst


def _scaled(values: np.ndarray, log: bool) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log10(values.astype(float)) if log else values.astype(float)


def _ends(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def _largest(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest difference; infinite where only one of two is a number."""
    if a.shape != b.shape:
        raise ValueError(f"the shapes {a.shape} and {b.shape} differ")
    both = np.isfinite(a) & np.isfinite(b)
    same = both | (a == b) | (np.isnan(a) & np.isnan(b))
    return float(np.abs(a[both] - b[both]).max(initial=0.0)) if same.all() else np.inf
