"""Steps to try at a bench: settings, what they light up in the figure, a sentence of the run.

`Lesson.step` declares them and `Bench.steps` returns them. The settings of a step are complete for
the controls that any step of the bench names: a control that the step does not name gets its
default. So the order of clicks makes no difference, and all other controls stay as they are.

The words are `step.<bench>.<name>.do` (at most `MAX_DO_WORDS` words) and `.says` (at most
`MAX_SAYS_WORDS`), a template that is filled with `Output.facts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from seqviz.core.i18n import Text
from seqviz.core.languages import DEFAULT
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


@dataclass(frozen=True)
class ControlLight:
    """A control beside the figure, which gets a ring. Steps ring what they move without it.

    Attributes:
        name: name of the control; `<bench>.<name>` for one of a bench that this one reads.
    """

    name: str


Light = Trace | Axis | Cell | ControlLight


@dataclass(frozen=True)
class Step:
    """Settings of a bench to try.

    Attributes:
        bench: name of the bench.
        name: name within the bench.
        values: settings that it names, by control.
        lights: parts of the figure that it points to.
        translated: settings in place of `values`, by language.
    """

    bench: str
    name: str
    values: Mapping[str, Any]
    lights: tuple[Light, ...] = ()
    translated: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def named(self, lang: str) -> Mapping[str, Any]:
        """Return the settings that it names, by control, in a language."""
        return self.translated.get(lang, self.values)

    @property
    def key(self) -> str:
        """Prefix of its texts within the lesson."""
        return f"step.{self.bench}.{self.name}"


def settings(declaration: type[Any], steps: Sequence[Step], lang: str) -> list[dict[str, Any]]:
    """Return the complete settings of each step, in the order of declaration.

    Args:
        declaration: class of the bench's controls.
        steps: all steps of the bench.
        lang: language code; the controls that a step does not name have the defaults of this
            language.

    Raises:
        ValueError: for an unknown control or a value that a control does not accept.
    """
    named = {name for step in steps for name in step.named(lang)}
    order = [name for name, _ in controls.controls(declaration) if name in named]
    default = lang if lang in controls.languages(declaration) else DEFAULT
    complete = [
        controls.parse_params(declaration, {**step.named(lang), controls.DEFAULTS: default})
        for step in steps
    ]
    return [_displayed(declaration, params, order) for params in complete]


def _displayed(declaration: type[Any], params: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of controls as the page shows them: that of an untouched slider, too."""
    declared, values = dict(controls.controls(declaration)), vars(params)
    return {
        name: control.display_value(values[name], values)
        if isinstance(control := declared[name], controls.Slider)
        else values[name]
        for name in names
    }


def matching(declaration: type[Any], steps: Sequence[Step], params: Any, lang: str) -> int:
    """Return the number of the step, from 1, whose settings `params` have; 0 if there is none.

    Args:
        declaration: class of the bench's controls.
        steps: all steps of the bench.
        params: instance of the declaration.
        lang: language code of the reader; see `settings`.
    """
    for number, values in enumerate(settings(declaration, steps, lang), 1):
        if _displayed(declaration, params, list(values)) == values:
            return number
    return 0


def light_json(light: Light, text: Text) -> dict[str, Any]:
    """Return a light as JSON for the browser; the name of a trace is in the reader's language."""
    kind = type(light).__name__.lower()
    fields = asdict(light)
    if isinstance(light, Trace) and isinstance(light.name, str) and text.has(light.name):
        fields["name"] = text(light.name)
    return {"kind": kind, **fields}
