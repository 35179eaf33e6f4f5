"""What the body of a bench talks to: it computes, draws and says, and all of it is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from seqviz.core.code_trace import CodeTrace, result_name
from seqviz.core.i18n import format_value
from seqviz.core.units import NUMBER, Unit, unbroken, unit_of
from seqviz.data import precomputed
from seqviz.lessons.framework import output as items
from seqviz.lessons.framework.host import FigureCall, Host, PendingError, provenance_note
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.colored_text import colored_text
from seqviz.plotting.style import DARK, LIGHT, Style
from seqviz.stats.estimate import Estimate
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Proportion

R = TypeVar("R")


@dataclass
class Show:
    """One bench during one run.

    shared: nothing had to be computed for it so far: the class has been here before. origin: of the
    numbers in the figures that are drawn from now on.
    """

    words: LessonWords
    host: Host
    style: Style
    trace: CodeTrace = field(default_factory=CodeTrace)
    output: items.Output = field(default_factory=items.Output)
    shared: bool = True
    origin: items.Provenance = items.COMPUTED

    @property
    def text(self) -> Any:
        """Sentences that lessons share."""
        return self.words.text

    # --- computing ------------------------------------------------------------------------------

    def run(self, function: Callable[..., R], /, *args: Any, name: str = "", **keywords: Any) -> R:
        """Call a pure function: kept for the class, timed, and written into the code.

        name: the variable that the student reads there; by default the noun of the result's type.
        """
        name = name or result_name(function)
        outcome = self.host.call(function, args, keywords)
        self.output.seconds += outcome.seconds
        self.shared = self.shared and outcome.is_cached
        self.trace.record(function, args, keywords, outcome.result, name)
        result: R = outcome.result
        return result

    def read_upload(self, function: Callable[[bytes], R], content: bytes) -> R:
        """Read a student's own file: not for what the class shares, but it counts."""
        return self.host.read_upload(function, content)

    def model(self, name: str, text: str | None = None, other: str = "") -> None:
        """A pretrained model is here and has read the text, if there is one.

        Raises PendingError where it is not; whoever runs the bench says so.
        """
        self.output.device, self.output.reads = self.host.model(name, text, other), name

    def job(
        self,
        function: Callable[..., R],
        /,
        *,
        name: str = "",
        then: FigureCall | None = None,
        so_far: FigureCall | None = None,
        clicks: items.ClickBindings | None = None,
        first: bool = False,
        **keywords: Any,
    ) -> R:
        """Long work with these arguments, and the figure of its result; raises PendingError before.

        then: a figure function and what it is given after the result; without it the body draws.
        first: that function draws the first of several results. so_far: a figure function for the
        records that have been reported, and what it is given after them. What came with the app
        for these very arguments is there at once.
        """
        name = name or result_name(function)
        result = self.host.training_result(function, keywords, so_far)
        if result is None:
            unfinished = object()  # the code names it, as it does the result
            results = (unfinished,) if first else unfinished
            self.trace.record(function, (), keywords, results, name)
            if then is not None:
                draw, *chosen = then
                self.trace.record(
                    draw, (unfinished, *chosen), self._with_language({}), None, "figure"
                )
            raise PendingError
        self.output.seconds += result.seconds
        self.output.device, self.output.reads = result.device, ""
        if result.shipped:
            self.origin = items.Provenance("precomputed", result.shipped)
            self.trace.record(
                precomputed.result, (function.__name__,), keywords, result.result, name
            )
        else:
            self.origin = items.COMPUTED
            self.trace.record(function, (), keywords, result.result, name)
        if then is not None:
            draw, *chosen = then
            rendered: Any = result.result
            self.figure(draw, rendered[0] if first else rendered, *chosen, clicks=clicks)
        return result.result

    def shipped(
        self, function: Callable[..., R], /, *, name: str = "", **keywords: Any
    ) -> R | None:
        """What came with the app for these arguments, if anything did."""
        outcome = precomputed.find(function, keywords)
        if outcome is None:
            return None
        name = name or result_name(function)
        self.trace.record(precomputed.result, (function.__name__,), keywords, outcome.result, name)
        self.origin = items.Provenance("precomputed", provenance_note(outcome))
        result: R = outcome.result
        return result

    # --- drawing --------------------------------------------------------------------------------

    def figure(
        self,
        draw: Callable[..., Any],
        /,
        *args: Any,
        provenance: items.Provenance | None = None,
        picks: items.Pair | None = None,
        opens: items.Pair | None = None,
        toggles: items.Pair | None = None,
        clicks: items.ClickBindings | None = None,
        **keywords: Any,
    ) -> None:
        """Draw `draw(*args, style=..., **keywords)`; what a click on it does: see `Clicks`."""
        rendered_figure = self.host.render(
            draw, args, {**keywords, "style": self.style}, self.shared
        )
        self.trace.record(
            draw, args, self._with_language(keywords), rendered_figure.chart, "figure"
        )
        click_bindings = clicks or items.ClickBindings(picks, opens, toggles)
        self.emit(items.Chart(rendered_figure, provenance or self.origin, click_bindings))

    def live(
        self,
        component: str,
        values: Mapping[str, Any],
        words: Mapping[str, str],
        draw: Callable[..., Any],
        /,
        *args: Any,
    ) -> None:
        """A drawing that answers in the browser, without the server.

        The component draws the controls of the bench, which are declared `in_browser`, and reports
        their values when the hand has come to rest. `draw(*args)` is the same picture as a figure,
        for the table, the files and the code.
        """
        chart = draw(*args, style=self.style)
        self.trace.record(draw, args, self._with_language({}), chart, "figure")
        self.emit(items.ClientComponent(component, values, words, chart))

    def _with_language(self, keywords: Mapping[str, Any]) -> dict[str, Any]:
        """The keywords of a figure in the code: with its language where that is not the default."""
        lang = self.words.text.lang
        return {**keywords, **({"style": Style(lang=lang)} if lang != Style().lang else {})}

    # --- reading off ----------------------------------------------------------------------------

    def readouts(
        self,
        result: Any,
        *names: str,
        caption: Mapping[str, str | None] | None = None,
        digits: int | None = None,
        **other: str,
    ) -> None:
        """Read-outs that are attributes of a result, at most four, each with its unit.

        names: attributes that are named as their words `metric.<name>` are. other: where the words
        have another name. caption: what each is compared with. digits: where the data say how many
        there are, in place of the unit's.
        """
        holder: Any = type(result)
        for name, attribute in {**{n: n for n in names}, **other}.items():
            value = getattr(result, attribute)
            self.trace.attribute(result, attribute, value, name)
            unit = unit_of(holder, attribute)
            unit = unit if digits is None else replace(unit, digits=digits)
            self.metric(name, value, unit, (caption or {}).get(name))

    def readout(
        self,
        name: str,
        function: Callable[..., Any],
        /,
        *args: Any,
        caption: str | None = None,
        **keywords: Any,
    ) -> Any:
        """A read-out that is the value of a function, or of a method of a result."""
        value = self.derive(function, *args, name=name, **keywords)
        self.metric(name, value, unit_of(getattr(function, "__func__", function)), caption)
        return value

    def derive(
        self, function: Callable[..., R], /, *args: Any, name: str = "", **keywords: Any
    ) -> R:
        """As `run`, of what is at hand in a result and need not be kept for the class."""
        value = function(*args, **keywords)
        self.trace.record(function, args, keywords, value, name or result_name(function))
        return value

    def metric(
        self, name: str, value: Any, unit: Unit = NUMBER, caption: str | None = None
    ) -> None:
        """A number as it stands on screen; label and help are `metric.<name>` of the words.

        Beside a proportion stand its 95% interval and the number of cases.
        """
        if isinstance(value, Proportion):
            unit = unit_of(Proportion, "share")
            sample = f"n = {value.n:,}"
            if value.n:
                sample = f"{format_value((value.low, value.high), unit)}, {sample}"
            caption = f"{caption}: {sample}" if caption else sample
        value = value.mean if isinstance(value, Estimate) else value
        label, help_text = (self.words(f"metric.{name}.{part}") for part in ("label", "help"))
        caption = unbroken(caption) if caption else caption
        visible_text = unbroken(format_value(value, unit))
        self.emit(items.Metric(name, label, visible_text, caption, help_text))

    def metrics(self, **values: str | tuple[str, str | None]) -> None:
        """Read-outs in words: each a value, or a value and what it is beside."""
        for name, visible in values.items():
            value, beside = visible if isinstance(visible, tuple) else (visible, None)
            self.metric(name, value, caption=beside)

    # --- saying ---------------------------------------------------------------------------------

    def facts(
        self, statement: Callable[..., Facts], /, *args: Any, note: str,
        metrics: Sequence[str] = (), **more: object,
    ) -> None:  # fmt: skip
        """Say what a result states: read-outs, and the sentence of its variant.

        Args:
            statement: a method of the result.
            args: of the method.
            note: key of the sentence, `note.<note>.<variant>`.
            metrics: values that are read-outs as well; `metric.<name>.value` of the words says how
                each is written.
            more: fields of the sentence that are words of the reader's language.
        """
        facts = self.derive(statement, *args, name=statement.__name__)
        for name in metrics:
            self.metric(name, self.words(f"metric.{name}.value", value=facts[name]))
        self.note(f"{note}.{facts.variant}" if facts.variant else note, **facts, **more)

    def note(self, key: str, **values: object) -> None:
        """One sentence under the figure that says what this very picture shows."""
        self.emit(items.Note(self.words(f"note.{key}", **values)))

    def shared_note(self, key: str, **values: object) -> None:
        """As `note`, with a sentence that lessons share."""
        self.emit(items.Note(self.words.text(key, **values)))

    def target(self, name: str, reached: bool, **values: object) -> None:
        """A state of this bench to reach: the task, and how far these settings are from it.

        Its words are `target.<name>.task` and `.now`. reached: computed from what is shown here.
        """
        task, now = (self.words(f"target.{name}.{part}", **values) for part in ("task", "now"))
        state = self.words.text("frame.reached" if reached else "frame.not_reached")
        summary = f"**{self.words.text('frame.goal')}** {task} {now} **{state}**"
        self.emit(items.Target(summary, name=name, reached=bool(reached)))

    def unknown_tokens(self, unknown: int, tokens: int) -> None:
        """So many of a text's tokens are [UNK] to the model (`texts.unknown_tokens`), if any is."""
        if unknown:
            self.shared_note("reading.unknown_tokens", unknown=unknown, all=tokens)

    def caption(self, sentence: str) -> None:
        """A quiet line under the figure: where the data come from."""
        self.emit(items.Note(sentence, "caption"))

    def hint(self, key: str) -> None:
        """What to do next, where there is no figure yet."""
        self.emit(items.Note(self.words(f"hint.{key}"), "hint"))

    def option(self, control: str, value: str) -> str:
        """The reader's word for an option of a control."""
        return self.words.option(control, value)

    def passage(self, pieces: Sequence[str], values: Any, **more: Any) -> None:
        """A text under the figure, each piece on a color that tells its value (`colored_text`)."""
        palette = DARK if self.host.dark else LIGHT  # HTML does not know the live colors
        style = Style(palette, self.words.text.lang)
        self.emit(items.ColoredText(colored_text(pieces, values, style=style, **more)))

    def page(self, html: str, height: int, alt: str) -> None:
        """A page of its own in a frame; its maker has escaped what students wrote."""
        self.emit(items.FramedPage(html, height, alt))

    def rows(self, name: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """A table to read under the figure; the name of each column is `column.<name>`."""
        named = {self.words(f"column.{key}"): values for key, values in columns.items()}
        self.emit(items.Table(name, named))

    def pieces(self, control: str, words: Sequence[str], chosen: int) -> int:
        """The words of a text to click on; a click moves the control (1: the first word)."""
        self.emit(items.TokenPicker(control, self.words(f"control.{control}.label"), words, chosen))
        return chosen

    def download(self, name: str, content: Callable[[], bytes], file_name: str, mime: str) -> None:
        """A button that saves a file, made when it is pressed; `name` names its words."""
        self.emit(items.Download(name, self.words(f"download.{name}"), content, file_name, mime))

    def upload(self, name: str) -> bytes | None:
        """A file of the student's own; None until there is one."""
        return self.host.upload(name)

    def pick(self, name: str, options: Sequence[str], first: int = 0) -> str:
        """A choice that only the data can offer, such as a column of the student's file."""
        return self.host.pick(name, options, first)

    @property
    def dark(self) -> bool:
        """Whether the reader's page is dark."""
        return self.host.dark

    def emit(self, item: items.Item) -> None:
        """Show this next."""
        self.output.items.append(item)
        self.host.emit(item)
