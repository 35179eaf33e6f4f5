"""What a bench shows, as data: a figure, read-outs, notes, and the code that gave them."""

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
# Loaded by its name, since it builds on this module; only a notebook has what it needs.
NOTEBOOK_WIDGET = "seqviz.export.notebook_widget"


@dataclass(frozen=True)
class Provenance:
    """Where the numbers of a figure come from.

    kind: "live" (computed now), "browser" (computed where it is drawn), "precomputed" (when and on
    what: `note`) or "reported" (printed in the text named in `note`, not computed by us).
    """

    kind: str
    note: str = ""


COMPUTED = Provenance("live")
BROWSER = Provenance("browser")


@dataclass(frozen=True)
class RenderedFigure:
    """A figure, and what a page sends of it: its JSON (Plotly's or Vega's) and its description.

    parts: of the JSON, large arrays apart.
    """

    chart: Any
    parts: tuple[bytes | Array, ...]
    alt: str

    @property
    def json(self) -> bytes:
        """The whole JSON."""
        return joined(self.parts)


@dataclass(frozen=True)
class ClickBindings:
    """What a click on a point or cell of a trace whose `meta` is "pick" does.

    picks: two controls of the bench; it moves the first to the clicked x and the second to the
    clicked y; an empty name moves nothing. opens: a control and the value that such a click gives
    it, such as another view. toggles: a control with pairs of numbers ("2.5 3.0") and the order of
    a pair, "xy" or "yx"; it puts the pair of its place in, or takes it out.
    """

    picks: Pair | None = None
    opens: Pair | None = None
    toggles: Pair | None = None


@dataclass(frozen=True)
class Chart:
    """The figure of the bench."""

    figure: RenderedFigure
    provenance: Provenance = COMPUTED
    clicks: ClickBindings = ClickBindings()


@dataclass(frozen=True)
class ClientComponent:
    """A drawing that answers in the browser, with its controls; `chart` is the same as a figure.

    component: its name. words: what is written on it.
    """

    component: str
    values: Mapping[str, Any]
    words: Mapping[str, str]
    chart: Any
    provenance: Provenance = BROWSER


@dataclass(frozen=True)
class Metric:
    """A number beside the figure, as it stands on screen; caption: what it is compared with."""

    name: str
    label: str
    value: str
    caption: str | None
    help: str


@dataclass(frozen=True)
class Note:
    """A sentence under the figure, in Markdown. kind: "note", "caption" (quiet) or "hint"."""

    sentence: str
    kind: str = "note"


@dataclass(frozen=True)
class Target(Note):
    """A state of the bench to reach, and how near it is; reached: by the numbers of this run."""

    kind: str = "target"
    name: str = ""
    reached: bool = False


@dataclass(frozen=True)
class ColoredText:
    """A text whose pieces are colored by numbers, as HTML without a script."""

    html: str


@dataclass(frozen=True)
class FramedPage:
    """A page of its own in a frame; its maker has escaped what students wrote."""

    html: str
    height: int
    alt: str


@dataclass(frozen=True)
class Table:
    """A table to read under the figure: names of its columns and what stands in them."""

    name: str
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class TokenPicker:
    """The words of a text to click on; a click moves a control. chosen: from 1."""

    control: str
    label: str
    words: Sequence[str]
    chosen: int


@dataclass(frozen=True)
class Download:
    """A file that is made when it is asked for."""

    name: str
    label: str
    content: Callable[[], bytes]
    file_name: str
    mime: str


Item = (
    Chart
    | ClientComponent
    | Metric
    | Note
    | ColoredText
    | FramedPage
    | Table
    | TokenPicker
    | Download
)


@dataclass(frozen=True)
class Source:
    """What gave an output: a bench, its values as `Bench.run` takes them, and the language."""

    bench: Any  # a `Bench`, whose module imports this one
    values: Mapping[str, Any]
    language: str


@dataclass
class Output:
    """All that one run of a bench shows, in its order.

    code: the calls that gave it, as a script. waits: why there is no figure yet, in one sentence.
    source: the bench and the values that it was run with, where it was run without a page.
    device: on which it was computed. reads: the pretrained model that computed it, if one did.
    """

    items: list[Item] = field(default_factory=list)
    code: str = ""
    seconds: float = 0.0
    waits: str = ""
    source: Source | None = None
    device: str = "CPU"
    reads: str = ""

    def of(self, kind: type[Any]) -> list[Any]:
        """The items of one kind."""
        return [item for item in self.items if isinstance(item, kind)]

    @property
    def figure(self) -> Any:
        """The figure: a `Figure`, or an Altair chart; None where there is none yet."""
        visible = self.of(Chart)
        if visible:
            return visible[0].figure.chart
        return next((item.chart for item in self.of(ClientComponent)), None)

    @property
    def readouts(self) -> dict[str, Metric]:
        """The read-outs by their names."""
        return {item.name: item for item in self.of(Metric)}

    @property
    def notes(self) -> list[str]:
        """The sentences under the figure."""
        return [item.sentence for item in self.of(Note)]

    def live(self) -> Any:
        """This bench with its controls, for a notebook; its `output` is what they are set to.

        Raises ImportError without anywidget (`pip install '.[notebook]'`), ValueError for what no
        bench gave.
        """
        if self.source is None:
            raise ValueError("Only what a bench shows has controls.")
        widget = import_module(NOTEBOOK_WIDGET).LiveBench
        return widget(self.source.bench, self, self.source.values, self.source.language)

    def static_bundle(self) -> dict[str, Any]:
        """What a notebook keeps of it, by MIME type: the picture of its figure, and its words."""
        from seqviz.plotting.static_image import bundle

        summary = self._summary_markdown()
        paragraphs = markdown.html(summary).strip()
        plain = html.unescape(re.sub("<[^>]+>", "", paragraphs)).replace("\n", "\n\n")
        if self.figure is None:
            return {"text/plain": plain, "text/html": paragraphs}
        return bundle(self.figure, plain, paragraphs, side_by_side=True)

    def _try_widget(self) -> Any:
        """Live where that can be; else the figure, and below it read-outs and sentences."""
        if self.figure is not None and not isinstance(self.figure, Figure):
            return None  # what draws beside the controls is Plotly.js
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
        """The same for marimo."""
        import marimo as mo

        figure = self.figure.plotly() if hasattr(self.figure, "plotly") else self.figure
        return self._try_widget() or mo.vstack([figure, mo.md(self._summary_markdown())])
