"""`Show`, the interface through which the body of a bench computes, draws and writes.

Every call is recorded and becomes the bench's code.
"""

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
from seqviz.lessons.framework.veil import Veil
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.colored_text import colored_text
from seqviz.plotting.style import DARK, LIGHT, Style
from seqviz.stats.estimate import Estimate
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Proportion

R = TypeVar("R")


@dataclass
class Show:
    """Interface between the body of a bench and its host, for one run.

    Attributes:
        words: texts of the lesson in the reader's language.
        host: runs calls, renders figures, loads models.
        style: language, theme and scale of the figures.
        trace: record of the calls, written as the bench's code.
        output: the items shown so far.
        shared: True while all results came from the cache.
        origin: provenance of the figures drawn from now on.
        veil: filter of the items while the question of the bench is not answered.
    """

    words: LessonWords
    host: Host
    style: Style
    trace: CodeTrace = field(default_factory=CodeTrace)
    output: items.Output = field(default_factory=items.Output)
    shared: bool = True
    origin: items.Provenance = items.COMPUTED
    veil: Veil | None = None

    @property
    def text(self) -> Any:
        """Texts that lessons share."""
        return self.words.text

    # --- computing ------------------------------------------------------------------------------

    def run(self, function: Callable[..., R], /, *args: Any, name: str = "", **keywords: Any) -> R:
        """Return the result of a pure function; cache it process-wide and record the call.

        Args:
            function: the function.
            *args: its positional arguments.
            name: name of the result in the code; by default the noun of its type.
            **keywords: its keyword arguments.
        """
        name = name or result_name(function)
        outcome = self.host.call(function, args, keywords)
        self.output.seconds += outcome.seconds
        self.shared = self.shared and outcome.is_cached
        self.trace.record(function, args, keywords, outcome.result, name)
        result: R = outcome.result
        return result

    def read_upload(self, function: Callable[[bytes], R], content: bytes) -> R:
        """Return the value of a function of an uploaded file.

        The compute time is charged to the student's quota; the value is not cached process-wide.

        Args:
            function: reads the bytes of the file.
            content: the bytes.
        """
        return self.host.read_upload(function, content)

    def model(self, name: str, text: str | None = None, other: str = "") -> None:
        """Ensure that a pretrained model is loaded and has read the text.

        Args:
            name: name of the model.
            text: text to read; None where only the model is needed.
            other: second text of a pair (encoders).

        Raises:
            PendingError: if the model is not loaded, or has not read the text yet; the host reports
                it.
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
        """Return the result of a job and draw its figure; raise PendingError while it is missing.

        A result that is shipped for exactly these arguments is returned at once.

        Args:
            function: the training function.
            name: name of the result in the code; by default the noun of its type.
            then: figure function, and its arguments after the result; None where the body draws.
            so_far: figure function of the records reported so far, and its arguments after them.
            clicks: effects of a click on the figure of `then`.
            first: True where `then` draws the first of several results.
            **keywords: arguments of the training function.

        Raises:
            PendingError: if the result is not available yet.
        """
        name = name or result_name(function)
        result = self.host.training_result(function, keywords, so_far)
        if result is None:
            unfinished = object()  # stands for the result, so that the code names it
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
        """Return the shipped result for these arguments, or None.

        Args:
            function: the training function.
            name: name of the result in the code; by default the noun of its type.
            **keywords: arguments of the training function.
        """
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
        """Draw `draw(*args, style=..., **keywords)`.

        Args:
            draw: figure function.
            *args: its positional arguments.
            provenance: origin of the numbers; by default `origin`.
            picks: see `ClickBindings`.
            opens: see `ClickBindings`.
            toggles: see `ClickBindings`.
            clicks: bindings that replace the three above.
            **keywords: keyword arguments of the figure function.
        """
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
        """Draw with a browser component, which answers without the server.

        The component draws the bench's controls, which are declared `in_browser`, and reports their
        values when they are committed.

        Args:
            component: name of the component.
            values: its data.
            words: texts that it displays.
            draw: figure function of the same drawing, for table, files and code.
            *args: arguments of that function.
        """
        chart = draw(*args, style=self.style)
        self.trace.record(draw, args, self._with_language({}), chart, "figure")
        self.emit(items.ClientComponent(component, values, words, chart))

    def _with_language(self, keywords: Mapping[str, Any]) -> dict[str, Any]:
        """Return a figure's keywords for the code, with a style for a non-default language."""
        lang = self.words.text.lang
        return {**keywords, **({"style": Style(lang=lang)} if lang != Style().lang else {})}

    # --- metrics --------------------------------------------------------------------------------

    def readouts(
        self,
        result: Any,
        *names: str,
        caption: Mapping[str, str | None] | None = None,
        digits: int | None = None,
        **other: str,
    ) -> None:
        """Show up to four attributes of a result as metrics, each with its unit.

        Args:
            result: the result.
            *names: attributes whose texts are `metric.<name>`.
            caption: by name, what a metric is compared with.
            digits: number of digits, where the data determine it; by default that of the unit.
            **other: attributes by the name of their texts, where the two differ.
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
        """Show the value of a function, or of a method of a result, as a metric, and return it.

        Args:
            name: key of the texts, `metric.<name>`.
            function: the function; its annotation has the unit.
            *args: its positional arguments.
            caption: what the metric is compared with.
            **keywords: its keyword arguments.
        """
        value = self.derive(function, *args, name=name, **keywords)
        self.metric(name, value, unit_of(getattr(function, "__func__", function)), caption)
        return value

    def derive(
        self, function: Callable[..., R], /, *args: Any, name: str = "", **keywords: Any
    ) -> R:
        """Return the value of a cheap function, recorded in the code but neither cached nor timed.

        Args:
            function: the function.
            *args: its positional arguments.
            name: name of the value in the code; by default the noun of its type.
            **keywords: its keyword arguments.
        """
        value = function(*args, **keywords)
        self.trace.record(function, args, keywords, value, name or result_name(function))
        return value

    def metric(
        self, name: str, value: Any, unit: Unit = NUMBER, caption: str | None = None
    ) -> None:
        """Show a formatted number; label and help are `metric.<name>` of the lesson's texts.

        A proportion is shown with its 95% interval and the number of cases, an estimate by its
        mean.

        Args:
            name: key of the texts.
            value: a number, a text, a `Proportion` or an `Estimate`.
            unit: unit and format of the number.
            caption: what it is compared with.
        """
        self.output.facts.setdefault(name, value)
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
        """Show metrics whose values are texts: each a text, or a text with a caption."""
        for name, visible in values.items():
            value, beside = visible if isinstance(visible, tuple) else (visible, None)
            self.metric(name, value, caption=beside)

    # --- notes and other items ------------------------------------------------------------------

    def facts(
        self, statement: Callable[..., Facts], /, *args: Any, note: str = "",
        metrics: Sequence[str] = (), **more: object,
    ) -> Facts:  # fmt: skip
        """Show the facts of a result: metrics, and the sentence of its variant.

        Args:
            statement: a method of the result.
            *args: arguments of the method.
            note: key of the sentence, `note.<note>.<variant>`; without one only metrics are shown.
            metrics: names of values to show as metrics; `metric.<name>.value` of the texts formats
                each.
            **more: fields of the sentence that are words of the reader's language.

        Returns:
            The facts, for a sentence that comes later.
        """
        facts = self.derive(statement, *args, name=statement.__name__)
        self.output.facts |= facts
        for name in metrics:
            self.metric(name, self.words(f"metric.{name}.value", value=facts[name]))
        if note:
            self.note(f"{note}.{facts.variant}" if facts.variant else note, **facts, **more)
        return facts

    def note(self, key: str, **values: object) -> None:
        """Show a sentence under the figure that interprets this figure.

        Args:
            key: key of the sentence, `note.<key>`.
            **values: fields of the sentence.
        """
        self.output.facts |= values
        self.emit(items.Note(self.words(f"note.{key}", **values)))

    def notice(self, key: str, **values: object) -> None:
        """Show a sentence that is never folded: on the reader's input, or above what it names.

        Args:
            key: key of the sentence, `note.<key>`.
            **values: fields of the sentence.
        """
        self.output.facts |= values
        self.emit(items.Note(self.words(f"note.{key}", **values), "notice"))

    def shared_note(self, key: str, **values: object) -> None:
        """Show a sentence under the figure from the texts that lessons share.

        Args:
            key: key of the sentence.
            **values: fields of the sentence.
        """
        self.emit(items.Note(self.words.text(key, **values)))

    def target(self, name: str, reached: bool, **values: object) -> None:
        """Show a state of this bench to reach, and the distance of the current settings from it.

        Args:
            name: key of the texts, `target.<name>.task` and `target.<name>.now`.
            reached: True where the numbers shown here reach it.
            **values: fields of the texts.
        """
        task, now = (self.words(f"target.{name}.{part}", **values) for part in ("task", "now"))
        state = self.words.text("frame.reached" if reached else "frame.not_reached")
        summary = f"**{self.words.text('frame.goal')}** {task} {now} **{state}**"
        self.emit(items.Target(summary, name=name, reached=bool(reached)))

    def unknown_tokens(self, unknown: int, tokens: int) -> None:
        """Show how many tokens of a text are [UNK] to the model, if any.

        Args:
            unknown: number of unknown tokens (`texts.unknown_tokens`).
            tokens: number of tokens of the text.
        """
        if unknown:
            words = self.words.text("reading.unknown_tokens", unknown=unknown, all=tokens)
            self.emit(items.Note(words, "notice"))

    def caption(self, sentence: str) -> None:
        """Show a subdued line under the figure: the source of the data."""
        self.emit(items.Note(sentence, "caption"))

    def hint(self, key: str) -> None:
        """Show the next step to take, where there is no figure yet."""
        self.emit(items.Note(self.words(f"hint.{key}"), "hint"))

    def option(self, control: str, value: str) -> str:
        """Return the displayed name of an option of a control.

        Args:
            control: name of the control.
            value: the option.
        """
        return self.words.option(control, value)

    def passage(self, pieces: Sequence[str], values: Any, **more: Any) -> None:
        """Show a text under the figure, with each token on a color for its value (`colored_text`).

        Args:
            pieces: the tokens.
            values: a number per token.
            **more: further arguments of `colored_text`.
        """
        palette = DARK if self.host.dark else LIGHT  # HTML has no color roles to replace later
        style = Style(palette, self.words.text.lang)
        self.emit(items.ColoredText(colored_text(pieces, values, style=style, **more)))

    def state(self, **values: object) -> None:
        """State values that no metric and no sentence has, for the equation and the steps."""
        self.output.facts |= values

    def equation(self, line: items.EquationLine) -> None:
        """Show the equation of a finished run, directly under its figure."""
        kinds = (items.Chart, items.ClientComponent)
        at = next(k for k, item in enumerate(self.output.items) if isinstance(item, kinds))
        self.output.items.insert(at + 1, line)
        self.host.emit(line)

    def page(self, html: str, height: int, alt: str) -> None:
        """Show an HTML page in a frame; its author must have escaped text of students.

        Args:
            html: the page.
            height: height of the frame in CSS pixels.
            alt: title of the frame for screen readers.
        """
        self.emit(items.FramedPage(html, height, alt))

    def game(self, component: str, values: Mapping[str, Any]) -> None:
        """Show a browser component that sets `in_browser` controls when the reader has finished.

        Its texts are `client.<component>` of the lesson.

        Args:
            component: name of the component.
            values: its data.
        """
        words = self.text.table(f"{self.words.slug}.client.{component}")
        self.emit(items.Game(component, values, words))

    def rows(self, name: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Show a table under the figure.

        Args:
            name: name of the table.
            columns: cells of each column, by the key of its heading, `column.<key>`.
        """
        named = {self.words(f"column.{key}"): values for key, values in columns.items()}
        self.emit(items.Table(name, named))

    def pieces(self, control: str, words: Sequence[str], chosen: int) -> int:
        """Show the tokens of a text to click on, and return the selected number.

        Args:
            control: name of the control that a click sets.
            words: the tokens.
            chosen: number of the selected token, from 1.
        """
        self.emit(items.TokenPicker(control, self.words(f"control.{control}.label"), words, chosen))
        return chosen

    def download(self, name: str, content: Callable[[], bytes], file_name: str, mime: str) -> None:
        """Show a button for a file that is created when the button is pressed.

        Args:
            name: key of the button's text, `download.<name>`.
            content: returns the bytes of the file.
            file_name: suggested name of the file.
            mime: MIME type.
        """
        self.emit(items.Download(name, self.words(f"download.{name}"), content, file_name, mime))

    def upload(self, name: str) -> bytes | None:
        """Return the student's uploaded file; None without one."""
        return self.host.upload(name)

    def pick(self, name: str, options: Sequence[str], first: int = 0) -> str:
        """Return the option selected from a list that depends on data, such as columns of a file.

        Args:
            name: name of the choice.
            options: the options.
            first: index of the initial option.
        """
        return self.host.pick(name, options, first)

    @property
    def dark(self) -> bool:
        """True where the reader's page is dark."""
        return self.host.dark

    def emit(self, item: items.Item) -> None:
        """Append an item to the output and pass it to the host; a veil applies first."""
        visible = self.veil.apply(item) if self.veil else item
        if visible is not None:
            self.output.items.append(visible)
            self.host.emit(visible)
