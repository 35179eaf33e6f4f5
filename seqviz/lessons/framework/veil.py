"""`Veil`: what a bench shows before its question is answered.

A veiled bench emits no result: figures keep their axes, metrics their labels, and sentences, tables
and files are left out. The veil is applied where items are emitted (`Show.emit`), so no channel
(page, live response, embed, print page, first figure) has anything to hide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from seqviz.core.i18n import Text
from seqviz.lessons.framework import output as items
from seqviz.lessons.framework.steps import Light
from seqviz.plotting.bare_axes import bare_axes
from seqviz.plotting.figure import Figure

UNKNOWN = "?"  # in place of the value of a metric


@dataclass(frozen=True)
class Question:
    """Declaration of a multiple-choice prediction about a bench.

    Attributes:
        name: name within the lesson; its texts are `predict.<name>`.
        bench: name of the bench that answers it.
        visible: indices of the traces that the veiled figure keeps, at the bench's defaults.
        at: settings at which the bench answers it; empty for the defaults.
        above: settings of benches that it reads, by name of the bench.
        veils: False where the bench shows nothing of the answer at its defaults and opens its
            lesson, so that a reader can move it at once.
        also: names of other benches that show the answer at their defaults.
        lights: for each option, the parts of the figure that it speaks of; empty where the figure
            has no place for the options.
    """

    name: str
    bench: str
    visible: Sequence[int] = ()
    at: Mapping[str, Any] | None = None
    above: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    veils: bool = True
    also: Sequence[str] = ()
    lights: Sequence[Sequence[Light]] = ()


@dataclass(frozen=True)
class Veil:
    """Filter of the items of a bench whose question is not answered.

    Attributes:
        text: shared texts in the reader's language.
        height: of the figure, in pixels.
        visible: indices of the traces to keep.
    """

    text: Text
    height: int
    visible: Sequence[int] = ()

    def apply(self, item: items.Item) -> items.Item | None:
        """Return the item without its result; None where nothing of it may be shown."""
        match item:
            case items.Chart() if isinstance(item.figure.chart, Figure):
                figure = bare_axes(item.figure.chart, self.visible)
                alt = self.text("frame.veiled_alt")
                rendered = items.RenderedFigure(figure, figure.parts(), alt)
                return items.Chart(rendered, item.provenance)
            case items.Chart() | items.ClientComponent():
                return items.Hidden(self.height)
            case items.Metric():
                return replace(item, value=UNKNOWN, caption=None)
            case items.Note():
                return items.Hidden()
            case items.TokenPicker():
                return item
        return None
