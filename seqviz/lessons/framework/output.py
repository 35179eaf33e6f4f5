"""Output of a bench as data: figure, metrics, notes, and the code that reproduces them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from seqviz.lessons.framework import markdown
from seqviz.plotting.figure import Array, Figure, joined

Pair = tuple[str, str]
# Imported by name: it imports this module, and needs packages that only notebooks have.
NOTEBOOK_WIDGET = "seqviz.export.notebook_widget"


@dataclass(frozen=True)
class Provenance:
    """Origin of the numbers of a figure.

    Attributes:
        kind: "live" (computed now), "browser" (computed where it is drawn), "precomputed" (shipped
            with the app) or "reported" (printed in a publication, not computed by SeqViz).
        note: date, device and duration of a precomputed result; the publication of a reported one.
    """

    kind: str
    note: str = ""


COMPUTED = Provenance("live")
BROWSER = Provenance("browser")


@dataclass(frozen=True)
class RenderedFigure:
    """A figure with the JSON and the description that a page sends.

    Attributes:
        chart: the figure: a `Figure` or an Altair chart.
        parts: pieces of its JSON (Plotly or Vega); large arrays are pieces of their own.
        alt: text description of the figure.
    """

    chart: Any
    parts: tuple[bytes | Array, ...]
    alt: str

    @property
    def json(self) -> bytes:
        """The complete JSON."""
        return joined(self.parts)


@dataclass(frozen=True)
class ClickBindings:
    """Effects of a click on a point or cell of a trace whose `meta` is "pick".

    Attributes:
        picks: two controls; the first is set to the clicked x, the second to the clicked y. An
            empty name sets nothing.
        opens: a control and the value that a click sets it to, such as another view.
        toggles: a control that holds pairs of numbers ("2.5 3.0"), and the order of a pair, "xy" or
            "yx". A click adds the pair of its position, or removes it.
    """

    picks: Pair | None = None
    opens: Pair | None = None
    toggles: Pair | None = None


@dataclass(frozen=True)
class Chart:
    """The figure of the bench.

    Attributes:
        figure: the rendered figure.
        provenance: origin of its numbers.
        clicks: effects of a click.
    """

    figure: RenderedFigure
    provenance: Provenance = COMPUTED
    clicks: ClickBindings = ClickBindings()


@dataclass(frozen=True)
class ClientComponent:
    """A browser component that draws figure and controls and answers without the server.

    Attributes:
        component: name of the component.
        values: its data.
        words: texts that it displays.
        chart: the same drawing as a figure.
        provenance: origin of its numbers.
    """

    component: str
    values: Mapping[str, Any]
    words: Mapping[str, str]
    chart: Any
    provenance: Provenance = BROWSER


@dataclass(frozen=True)
class Metric:
    """A number beside the figure, formatted for display.

    Attributes:
        name: key of its texts.
        label: label in the reader's language.
        value: formatted value.
        caption: what it is compared with, or None.
        help: explanation of the quantity.
    """

    name: str
    label: str
    value: str
    caption: str | None
    help: str


@dataclass(frozen=True)
class Note:
    """A sentence under the figure.

    Attributes:
        sentence: the text, in Markdown.
        kind: "note", "notice" (stays in sight: what the text of a reader lacks, or what a passage
            or table below it is), "caption" (subdued) or "hint".
    """

    sentence: str
    kind: str = "note"


@dataclass(frozen=True)
class Target(Note):
    """A state of the bench to reach, with the distance from it.

    Attributes:
        name: name of the target within the lesson.
        reached: True where the numbers of this run reach it.
    """

    kind: str = "target"
    name: str = ""
    reached: bool = False


@dataclass(frozen=True)
class ColoredText:
    """A text whose tokens are colored by numbers, as HTML without a script."""

    html: str


@dataclass(frozen=True)
class EquationLine:
    """The equation of the bench with the numbers of this run, as HTML (`framework.equations`)."""

    html: str


@dataclass(frozen=True)
class FramedPage:
    """An HTML page in a frame; its author must have escaped text of students.

    Attributes:
        html: the page.
        height: height of the frame in CSS pixels.
        alt: title of the frame for screen readers.
    """

    html: str
    height: int
    alt: str


@dataclass(frozen=True)
class Game:
    """A browser component above the figure that sets controls when the reader has finished.

    Attributes:
        component: name of the component.
        values: its data.
        words: texts that it displays.
    """

    component: str
    values: Mapping[str, Any]
    words: Mapping[str, str]


@dataclass(frozen=True)
class Table:
    """A table under the figure.

    Attributes:
        name: name of the table within the bench.
        columns: cells of each column, by its heading.
    """

    name: str
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class TokenPicker:
    """Clickable tokens of a text; a click sets a control.

    Attributes:
        control: name of the control.
        label: label of the group for screen readers.
        words: the tokens.
        chosen: number of the selected token, from 1.
    """

    control: str
    label: str
    words: Sequence[str]
    chosen: int


@dataclass(frozen=True)
class Download:
    """A file that is created when it is requested.

    Attributes:
        name: key of its texts.
        label: text of the button.
        content: returns the bytes of the file.
        file_name: suggested name of the file.
        mime: MIME type.
    """

    name: str
    label: str
    content: Callable[[], bytes]
    file_name: str
    mime: str


@dataclass(frozen=True)
class Hidden:
    """Place of an item that a veiled bench does not show (`lessons.framework.veil`).

    Attributes:
        height: height in CSS pixels.
    """

    height: int = 24


Item = (
    Chart
    | ClientComponent
    | Metric
    | Note
    | ColoredText
    | EquationLine
    | FramedPage
    | Table
    | TokenPicker
    | Game
    | Download
    | Hidden
)


@dataclass(frozen=True)
class Source:
    """The call that gave an output.

    Attributes:
        bench: the `Bench`.
        values: settings as `Bench.run` takes them.
        language: language code.
    """

    bench: Any  # a `Bench`; its module imports this one
    values: Mapping[str, Any]
    language: str


@dataclass(frozen=True)
class StepSentence(Note):
    """The sentence of a step at its settings (`lessons.framework.steps`).

    Attributes:
        number: number of the step, from 1.
    """

    kind: str = "step"
    number: int = 0


@dataclass
class Output:
    """Everything that one run of a bench shows, in order.

    Attributes:
        items: figure, metrics, notes and other items.
        code: the script that reproduces the output.
        seconds: compute time; a cached result counts with the time that computing it took.
        waits: one sentence on why there is no figure yet; else empty.
        source: the bench and its settings, for a run without a page.
        device: name of the device that computed it.
        reads: name of the pretrained model that computed it; else empty.
        facts: what the run states, by name: its metrics, its facts, the values of its notes.
        step: sentence of the bench's step with these settings; None without one.
    """

    items: list[Item] = field(default_factory=list)
    code: str = ""
    seconds: float = 0.0
    waits: str = ""
    source: Source | None = None
    device: str = "CPU"
    reads: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    step: StepSentence | None = None

    def of(self, kind: type[Any]) -> list[Any]:
        """Return the items of one type."""
        return [item for item in self.items if isinstance(item, kind)]

    @property
    def figure(self) -> Any:
        """The figure (a `Figure` or an Altair chart); None where there is none yet."""
        visible = self.of(Chart)
        if visible:
            return visible[0].figure.chart
        return next((item.chart for item in self.of(ClientComponent)), None)

    @property
    def readouts(self) -> dict[str, Metric]:
        """The metrics by name."""
        return {item.name: item for item in self.of(Metric)}

    @property
    def notes(self) -> list[str]:
        """The sentences under the figure."""
        return [item.sentence for item in self.of(Note)]

    def live(self) -> Any:
        """Return a notebook widget: the bench with its controls. Its `output` follows the controls.

        Raises:
            ImportError: if anywidget is not installed (`pip install '.[notebook]'`).
            ValueError: if no bench gave this output.
        """
        if self.source is None:
            raise ValueError("Only the output of a bench has controls.")
        widget = import_module(NOTEBOOK_WIDGET).LiveBench
        return widget(self.source.bench, self, self.source.values, self.source.language)

    def static_bundle(self) -> dict[str, Any]:
        """Return the static form for notebooks by MIME type: image, metrics and notes."""
        from seqviz.plotting.static_image import bundle

        summary = self._summary_markdown()
        paragraphs = markdown.html(summary).strip()
        plain = html.unescape(re.sub("<[^>]+>", "", paragraphs)).replace("\n", "\n\n")
        if self.figure is None:
            return {"text/plain": plain, "text/html": paragraphs}
        return bundle(self.figure, plain, paragraphs, side_by_side=True)

    def _try_widget(self) -> Any:
        """Return the live widget, or None where it is not available."""
        if self.figure is not None and not isinstance(self.figure, Figure):
            return None  # the widget draws with Plotly.js only
        try:
            return self.live()
        except (ImportError, ValueError):
            return None

    def _summary_markdown(self) -> str:
        read = " · ".join(
            f"**{readout.label}** {readout.value}"
            + (f" ({readout.caption})" if readout.caption else "")
            for readout in self.readouts.values()
        )
        return "\n\n".join(part for part in (read, *self.notes, self.waits) if part)

    def _ipython_display_(self) -> None:
        from IPython.display import Markdown, display

        live = self._try_widget()
        if live is not None:
            display(live)
            return
        if self.figure is not None:
            from seqviz.plotting.static_image import bundle

            display(bundle(self.figure), raw=True)
        display(Markdown(self._summary_markdown()))

    def _display_(self) -> Any:
        """Return the widget for marimo; else figure, metrics and notes."""
        import marimo as mo

        figure = self.figure.plotly() if hasattr(self.figure, "plotly") else self.figure
        return self._try_widget() or mo.vstack([figure, mo.md(self._summary_markdown())])
