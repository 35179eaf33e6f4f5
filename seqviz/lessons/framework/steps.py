"""Steps to try at a bench: settings, what they light up in the figure, a sentence of the run.

`Lesson.step` declares them and `Bench.steps` returns them. The settings of a step are complete for
the controls that any step of the bench names: a control that the step does not name gets its
default. So the order of clicks makes no difference, and all other controls stay as they are.

The words are `step.<bench>.<name>.do` (at most `MAX_DO_WORDS` words) and `.says` (at most
`MAX_SAYS_WORDS`), a template that is filled with `Output.facts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from seqviz.core.i18n import Text
from seqviz.lessons.framework import controls

MAX_DO_WORDS = 12
MAX_SAYS_WORDS = 25


@dataclass(frozen=True)
class Trace:
    """A trace of the figure, which keeps its color while the others fade.

    Attributes:
        name: key of its name in the texts of figures, the name itself, or its index.
        axis: vertical axis, where several panels have a trace of this name; "" for all panels.
    """

    name: str | int
    axis: str = ""


@dataclass(frozen=True)
class Axis:
    """An axis of the figure whose range is marked.

    Attributes:
        name: Plotly's short name, such as "x" or "y2".
        low: start of the marked range; None for the start of the axis.
        high: end of the marked range; None for the end of the axis.
    """

    name: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Cell:
    """A cell of the figure, which gets a frame.

    Attributes:
        x: position or category on the horizontal axis.
        y: position or category on the vertical axis.
        axes: short names of the two axes.
    """

    x: float | str
    y: float | str
    axes: tuple[str, str] = ("x", "y")


Light = Trace | Axis | Cell


@dataclass(frozen=True)
class Step:
    """Settings of a bench to try.

    Attributes:
        bench: name of the bench.
        name: name within the bench.
        values: settings that it names, by control.
        lights: parts of the figure that it points to.
    """

    bench: str
    name: str
    values: Mapping[str, Any]
    lights: tuple[Light, ...] = ()

    @property
    def key(self) -> str:
        """Prefix of its texts within the lesson."""
        return f"step.{self.bench}.{self.name}"


def settings(declaration: type[Any], steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return the complete settings of each step, in the order of declaration.

    Args:
        declaration: class of the bench's controls.
        steps: all steps of the bench.

    Raises:
        ValueError: for an unknown control or a value that a control does not accept.
    """
    named = {name for step in steps for name in step.values}
    order = [name for name, _ in controls.controls(declaration) if name in named]
    complete = [controls.parse_params(declaration, step.values) for step in steps]
    return [{name: getattr(params, name) for name in order} for params in complete]


def matching(declaration: type[Any], steps: Sequence[Step], params: Any) -> int:
    """Return the number of the step, from 1, whose settings `params` have; 0 if there is none."""
    for number, values in enumerate(settings(declaration, steps), 1):
        if all(getattr(params, name) == value for name, value in values.items()):
            return number
    return 0


def light_json(light: Light, text: Text) -> dict[str, Any]:
    """Return a light as JSON for the browser; the name of a trace is in the reader's language."""
    kind = type(light).__name__.lower()
    fields = asdict(light)
    if isinstance(light, Trace) and isinstance(light.name, str) and text.has(light.name):
        fields["name"] = text(light.name)
    return {"kind": kind, **fields}
