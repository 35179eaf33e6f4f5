"""Lessons as data: benches, the dependencies between them, exercises. Pages display them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float

from seqviz.compute.replicates import Theory
from seqviz.content import catalog
from seqviz.core.i18n import Placeholder, Text, fill
from seqviz.core.lazy_import import refusing
from seqviz.lessons.framework import controls
from seqviz.lessons.framework import equations as equation_rules
from seqviz.lessons.framework import steps as step_rules
from seqviz.lessons.framework.drawn_prediction import DrawnPrediction
from seqviz.lessons.framework.equations import Equation, Symbol
from seqviz.lessons.framework.host import Host, LocalHost, PendingError
from seqviz.lessons.framework.navigator import Navigator
from seqviz.lessons.framework.output import (
    Chart,
    ClientComponent,
    EquationLine,
    Output,
    Source,
    StepSentence,
)
from seqviz.lessons.framework.show import Show
from seqviz.lessons.framework.steps import Axis, Cell, ControlLight, Light, Step, Trace
from seqviz.lessons.framework.veil import Question, Veil
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.style import Style

P = TypeVar("P")
Body = Callable[[Any, Show], None]
_reader: ContextVar[Callable[[str], Any] | None] = ContextVar("reader", default=None)


def read_params(bench: str, declaration: type[P]) -> P:
    """Return the current parameters of another bench of the lesson; outside a run, the defaults.

    Args:
        bench: name of the other bench.
        declaration: class of that bench's parameters.
    """
    reader = _reader.get()
    params: P = declaration() if reader is None else reader(bench)
    return params


@dataclass(frozen=True)
class Exercise:
    """A task with a numeric answer, checked against a computed value.

    Attributes:
        name: name within the lesson.
        cases: for each variant, the values of the question's text; they are the arguments of
            `answer`.
        answer: function that computes the answer.
        within: absolute tolerance.
        share: tolerance as a share of the answer; added to `within`.
        kind: "exercise" within the lesson, "check" at its end; its texts are `<kind>.<name>`.
    """

    name: str
    cases: tuple[Mapping[str, Any], ...]
    answer: Callable[..., float]
    within: float = 0.0
    share: float = 0.0
    kind: str = "exercise"

    def variant_of(self, variant: int) -> tuple[Mapping[str, Any], float, float]:
        """Return values, answer and tolerance of the k-th variant (modulo their number)."""
        case = self.cases[variant % len(self.cases)]
        answer = float(refusing(self.answer)(**case))
        return case, answer, self.within + self.share * abs(answer)


@dataclass(frozen=True)
class ClientRenderer:
    """A browser script that answers a drag in place of the server.

    Attributes:
        script: a module of `assets/static`, without extension; `live.js` documents its interface.
        parts: functions of the parameters and a `Show`. Each returns a value that can be written as
            JSON; a `Note` in it is written as its HTML. The script starts with `parts[""]` and
            requests the others by name.
        needs: controls that the parts depend on; a change of one makes the browser request them
            again.
    """

    script: str
    parts: Mapping[str, Callable[[Any, Show], Any]]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class SeedExperiment:
    """A quantity of a bench at its settings, computed once per random seed: one seed per seat.

    Attributes:
        values: computes the values of a sequence of seeds, in their order; each depends on its seed
            only.
        quantity: name and unit of the quantity, in the reader's language, without Markdown.
        settings: one sentence that names the settings.
        theory: distribution of one replicate, given the values; None where there is none.
        at_once: seeds per request, few enough to take less than a second; for jobs, seeds per job.
        kinds: names of the quantities where there are several per seed, without Markdown. `values`
            then returns one row per seed, and there is no theory.
        long: True for a job: `values` is a `partial` of a module-level function that also takes
            `report`, and runs in the job queue.
    """

    values: Callable[[Sequence[int]], Sequence[float] | Float[np.ndarray, "seed *kind"]]
    quantity: str
    settings: str
    theory: Callable[[Float[np.ndarray, "seed"]], Theory | None] = lambda values: None
    at_once: int = 30
    kinds: Sequence[str] = ()
    long: bool = False


Replicate = Callable[[Any, Show], SeedExperiment]


@dataclass
class Lesson:
    """The benches of one lesson in the order of its page.

    Attributes:
        slug: the lesson's name in its address and its folders.
        code: functions whose source the page shows; "module:name" is imported only then.
        benches: benches by name.
        exercises: exercises by name.
        checks: short exercises of the questions at the end, by name.
        sketches: drawn predictions by name.
        questions: multiple-choice predictions by name.
        core: names of the benches that every reader sees; the others are folded. Empty for all.
        steps: steps to try, by bench.
        navigator: the map of the lesson as its other benches show it.
        warm_up: functions that a server calls in the background, so that no student waits for them.
        equations: equations under the figures, by bench; the first that applies is shown.
    """

    slug: str
    code: tuple[Callable[..., Any] | str, ...] = ()
    benches: dict[str, Bench] = field(default_factory=dict)
    exercises: dict[str, Exercise] = field(default_factory=dict)
    checks: dict[str, Exercise] = field(default_factory=dict)
    sketches: dict[str, DrawnPrediction] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    core: tuple[str, ...] = ()
    steps: dict[str, tuple[Step, ...]] = field(default_factory=dict)
    navigator: Navigator | None = None
    warm_up: tuple[Callable[[], object], ...] = ()
    equations: dict[str, tuple[Equation, ...]] = field(default_factory=dict)

    @property
    def record(self) -> catalog.LessonRecord:
        """The lesson's entry in the catalog."""
        return catalog.lesson(self.slug)

    @property
    def folded(self) -> tuple[str, ...]:
        """The names of the benches that are not part of the core, in order of declaration."""
        return tuple(name for name in self.benches if self.core and name not in self.core)

    def bench(
        self,
        name: str,
        declaration: type[P],
        after: Sequence[str] = (),
        leads: bool = False,
        answers: ClientRenderer | None = None,
        replicate: Replicate | None = None,
    ) -> Callable[[Body], Bench]:
        """Return a decorator that declares `f(params, show)` as a bench: a figure with controls.

        Args:
            name: name within the lesson.
            declaration: class of the bench's parameters.
            after: names of the benches whose parameters this one reads; each of them declares
                `leads=True`. A committed change there redraws this bench.
            leads: True where other benches depend on this one.
            answers: renderer for drags in the browser; it must show the same as the body.
            replicate: seed experiment of the bench, for rooms.
        """

        def decorate(body: Body) -> Bench:
            self.benches[name] = Bench(
                self, name, declaration, refusing(body), tuple(after), leads, answers, replicate
            )
            return self.benches[name]

        return decorate

    def exercise(self, name: str, **keys: Any) -> Exercise:
        """Declare an exercise.

        Args:
            name: name within the lesson.
            **keys: attributes of `Exercise`.
        """
        self.exercises[name] = Exercise(name, **keys)
        return self.exercises[name]

    def check(self, name: str, **keys: Any) -> Exercise:
        """Declare a short exercise of the questions at the end; it has no place in the lesson.

        Args:
            name: name within the lesson, of no exercise; its texts are `check.<name>`.
            **keys: attributes of `Exercise`.
        """
        self.checks[name] = Exercise(name, **keys, kind="check")
        return self.checks[name]

    @property
    def quiz(self) -> dict[str, Exercise]:
        """Exercises and checks by name; the questions at the end are drawn from them."""
        return {**self.exercises, **self.checks}

    def sketch(self, name: str, **keys: Any) -> DrawnPrediction:
        """Declare a drawn prediction.

        Args:
            name: name within the lesson.
            **keys: attributes of `DrawnPrediction`.
        """
        self.sketches[name] = DrawnPrediction(name, **keys)
        return self.sketches[name]

    def question(
        self, name: str, bench: str, lights: Sequence[Sequence[Light | str | int]] = (), **keys: Any
    ) -> Question:
        """Declare a multiple-choice prediction about a bench.

        Args:
            name: name within the lesson; its texts are `predict.<name>`.
            bench: name of the bench that answers it.
            lights: for each option, the parts of the figure that it speaks of; a name or an index
                is a `Trace`.
            **keys: other attributes of `Question`.
        """
        parts = [tuple(map(_light, option)) for option in lights]
        self.questions[name] = Question(name, bench, lights=parts, **keys)
        return self.questions[name]

    def step(
        self,
        bench: str,
        name: str,
        values: Mapping[str, Any],
        lights: Sequence[Light | str | int] = (),
        **translated: Mapping[str, Any],
    ) -> Step:
        """Declare a step to try at a bench; the order of declaration is that on the page.

        The values are not parsed here: the bounds of some controls need a checkpoint.

        Args:
            bench: name of a declared bench.
            name: name within the bench.
            values: settings by control; see `framework.steps` for those that are not named.
            lights: parts of the figure that the step points to; a name or an index is a `Trace`.
            **translated: other settings in place of `values`, by language code.

        Raises:
            KeyError: if there is no such bench.
        """
        parts = tuple(map(_light, lights))
        step = Step(self.benches[bench].name, name, dict(values), parts, translated)
        self.steps[bench] = (*self.steps.get(bench, ()), step)
        return step

    def equation(
        self,
        bench: str,
        line: str,
        terms: Mapping[str, Sequence[Light | str | int]],
        when: Mapping[str, Sequence[Any]] | None = None,
    ) -> Equation:
        """Declare an equation under the figure of a bench; see `framework.equations`.

        Args:
            bench: name of a declared bench.
            line: the equation, with its symbols in brackets.
            terms: by symbol, the name of its meaning, the template of its number (empty for none),
                and what it lights up; a name or an index is a `Trace`.
            when: controls and the values of each with which it applies; None for all settings.

        Raises:
            KeyError: if there is no such bench.
            ValueError: if the symbols of the line are not those of `terms`.
        """
        declared = {
            symbol: Symbol(str(meaning), tuple(map(_light, lights)), str(value))
            for symbol, (meaning, value, *lights) in terms.items()
        }
        equation = Equation(self.benches[bench].name, line, declared, dict(when or {}))
        self.equations[bench] = (*self.equations.get(bench, ()), equation)
        return equation

    def prefix(self, bench: str) -> str:
        """Return the prefix of a bench's widget keys and permalink parameters."""
        return f"{self.record.code}.{bench}"

    def values(self, bench: str) -> Any:
        """Return the current parameters of another bench, for a bench that depends on it."""
        return read_params(bench, self.benches[bench].declaration)

    @contextmanager
    def read_by(self, reader: Callable[[str], Any]) -> Iterator[None]:
        """Make `values` return `reader(bench)` within the context."""
        token = _reader.set(reader)
        try:
            yield
        finally:
            _reader.reset(token)


def _light(item: Light | str | int) -> Light:
    return item if isinstance(item, Trace | Axis | Cell | ControlLight) else Trace(item)


@dataclass(frozen=True, eq=False)
class Bench:
    """A figure with its controls; calling it with settings runs it.

    Attributes:
        lesson: the lesson that it belongs to.
        name: name within the lesson.
        declaration: dataclass of its controls (see `controls`).
        body: function of the parameters and a `Show`.
        after: names of the benches that it depends on.
        leads: True where other benches depend on it.
        answers: renderer for drags in the browser, or None.
        replicate: seed experiment for rooms, or None.
    """

    lesson: Lesson
    name: str
    declaration: type[Any]
    body: Body
    after: tuple[str, ...] = ()
    leads: bool = False
    answers: ClientRenderer | None = None
    replicate: Replicate | None = None

    @property
    def prefix(self) -> str:
        """The prefix of its widget keys and permalink parameters."""
        return self.lesson.prefix(self.name)

    @cached_property
    def questions(self) -> list[Question]:
        """The multiple-choice predictions about this bench."""
        return [item for item in self.lesson.questions.values() if item.bench == self.name]

    @cached_property
    def sketches(self) -> list[DrawnPrediction]:
        """The drawn predictions that this bench answers at its defaults."""
        return [
            item
            for item in self.lesson.sketches.values()
            if item.bench == self.name and not self._changed(item.values)
        ]

    @cached_property
    def veiled_by(self) -> tuple[str, ...]:
        """Keys of the predictions to answer before the bench shows its result."""
        code = self.lesson.record.code
        questions = [
            f"{code}.predict.{item.name}"
            for item in self.lesson.questions.values()
            if (item.bench == self.name and item.veils) or self.name in item.also
        ]
        return (*questions, *(f"{code}.sketch.{item.name}" for item in self.sketches))

    def veil(self, style: Style) -> Veil:
        """Return the veil of this bench.

        Args:
            style: language and height of the figures.
        """
        visible = [at for item in self.questions for at in item.visible]
        return Veil(style.text, style.height, visible)

    def _changed(self, values: Mapping[str, Any]) -> bool:
        params = controls.parse_params(self.declaration, values)
        return bool(controls.permalink(self.prefix, params))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps to try, in order."""
        return self.lesson.steps.get(self.name, ())

    @property
    def step_key(self) -> str:
        """The permalink's name of the current step: `.step`; `.try` beside a control `step`."""
        taken = any(name == "step" for name, _ in controls.controls(self.declaration))
        return f"{self.prefix}.{'try' if taken else 'step'}"

    def step_settings(self, number: int, lang: str) -> dict[str, Any]:
        """Return the complete settings of a step in a language; steps are numbered from 1."""
        return step_rules.settings(self.declaration, self.steps, lang)[number - 1]

    def step_at(self, params: Any, show: Show) -> StepSentence | None:
        """Return the sentence of the step whose settings these are, filled from the run.

        It is None where no step has these settings, or where the run did not state a value.

        Args:
            params: parameters of the run.
            show: the `Show` of the run, after the body.
        """
        number = step_rules.matching(self.declaration, self.steps, params, show.style.lang)
        if not number:
            return None
        step, facts = self.steps[number - 1], show.output.facts
        try:
            return StepSentence(fill(show.words(f"{step.key}.says"), facts), number=number)
        except KeyError:  # another control leads to an output without this value
            return None

    @property
    def equations(self) -> tuple[Equation, ...]:
        """The equations under its figure; the first that applies is shown."""
        return self.lesson.equations.get(self.name, ())

    def equation_at(self, params: Any, show: Show) -> EquationLine | None:
        """Return the equation with the numbers of a run; None where none applies.

        Args:
            params: parameters of the run.
            show: the `Show` of the run, after the body.
        """
        equation = next((item for item in self.equations if item.applies(params)), None)
        if equation is None or not show.output.of(Chart) + show.output.of(ClientComponent):
            return None
        others = {name: self.lesson.values(name) for name in self.after}
        prefixes = {name: self.lesson.prefix(name) for name in self.after} | {"": self.prefix}
        facts = show.output.facts
        values = {**facts, **vars(params), **others, "facts": SimpleNamespace(**facts)}
        return EquationLine(equation_rules.html(equation, values, prefixes, show.text))

    def conclude(self, params: Any, show: Show) -> None:
        """Add the sentence of the step and the equation to the output of a run.

        Args:
            params: parameters of the run.
            show: the `Show` of the run, after the body.
        """
        if show.veil is not None:
            return
        show.output.step = self.step_at(params, show)
        if (line := self.equation_at(params, show)) is not None:
            show.equation(line)

    def __call__(self, **values: Any) -> Output:
        """Return the output at these settings; see `run`."""
        return self.run(values)

    def run(
        self,
        values: Mapping[str, Any] | None = None,
        language: str = "en",
        style: Style | None = None,
        host: LocalHost | None = None,
        train: bool = False,
        code: bool = True,
        veiled: bool = False,
    ) -> Output:
        """Return figure, metrics, notes and code at the given settings, without a page.

        Args:
            values: parameters by name; `text` stands for the first text input that applies. Those
                of a bench that this one depends on are named "<bench>.<name>". Missing ones have
                their defaults (`controls.defaults_language`).
            language: language code; ignored if `style` is given.
            style: language, theme and scale of the figure.
            host: the host to run on; by default a new `LocalHost`.
            train: True to train now where no result is shipped; ignored if `host` is given.
            code: True to write the script that reproduces the output.
            veiled: True to show no result, as before the bench's question is answered.

        Raises:
            ValueError: for a value that a control does not accept. Errors of the body are passed
                on.
        """
        given = self._validated(values or {})
        view = style or Style(lang=language)
        source = Source(self, dict(given), view.lang)
        caller = host or LocalHost(train=train)
        with self._read(given, caller, view.lang) as params:
            output = self.run_on(params, caller, Text(view.lang), view, code, veiled)
        output.source = source
        return output

    def parse_link(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return the settings, as `run` takes them, that the parameters of a permalink denote.

        Parameters that no control accepts are ignored, as on a page, and so are those of benches on
        which this one does not depend.

        Args:
            values: permalink texts by permalink key.
        """
        settings = {}
        for bench in (self, *(self.lesson.benches[name] for name in self.after)):
            start = "" if bench is self else f"{bench.name}."
            if (named := values.get(f"{bench.prefix}.{controls.DEFAULTS}")) is not None:
                settings[start + controls.DEFAULTS] = named
            for name, control in controls.controls(bench.declaration):
                with suppress(KeyError, ValueError):
                    settings[start + name] = control.parse(values[f"{bench.prefix}.{name}"])
        return settings

    def part(self, name: str, values: Mapping[str, Any], style: Style, host: LocalHost) -> Any:
        """Return one part of the bench's client renderer.

        Args:
            name: name of the part; see `ClientRenderer.parts`.
            values: settings as in `run`.
            style: language, theme and scale.
            host: the host to run on.

        Raises:
            KeyError: if there is no such part.
            ValueError: for a value that a control does not accept. Errors of the part are passed
                on.
        """
        if self.answers is None:
            raise KeyError(name)
        make = self.answers.parts[name]
        with self._read(self._validated(values), host, style.lang) as params:
            show = Show(LessonWords(self.lesson.slug, Text(style.lang)), host, style)
            part = refusing(make)(params, show)
        if name == "" and self.equations:  # the script fills in the controls
            fields = {name: Placeholder(f"{{{name}}}") for name in vars(params)}
            html = equation_rules.html(self.equations[0], fields, {"": self.prefix}, show.text)
            part = {**part, "equation": html}
        return part

    def experiment(
        self, values: Mapping[str, Any] | None = None, language: str = "en"
    ) -> SeedExperiment:
        """Return the bench's seed experiment at the given settings, without a page.

        Args:
            values: settings as in `run`.
            language: language code of the texts.

        Raises:
            ValueError: if the bench has no experiment, or none at these settings.
            PendingError: if a dependency is missing.
        """
        caller = LocalHost()
        with self._read(self._validated(values or {}), caller, language) as params:
            return self.replicated(params, caller, Style(lang=language).text)

    def replicated(self, params: Any, host: Host, text: Text) -> SeedExperiment:
        """Return the bench's seed experiment for given parameters, on a host.

        Args:
            params: instance of the declaration.
            host: the host to run on.
            text: shared texts in the reader's language.
        """
        if self.replicate is None:
            raise ValueError(f"{self.name} has no number for each seed.")
        show = Show(LessonWords(self.lesson.slug, text), host, Style(lang=text.lang))
        return refusing(self.replicate)(params, show)

    @contextmanager
    def _read(self, given: dict[str, Any], host: LocalHost, lang: str) -> Iterator[Any]:
        """Yield the bench's parameters; the host gives those of the benches that it depends on."""
        with self.lesson.read_by(host.values):
            for other in self.after:
                part = {
                    key.removeprefix(f"{other}."): given.pop(key)
                    for key in list(given)
                    if key.startswith(f"{other}.")
                }
                host.others[other] = controls.parse_params(
                    self.lesson.benches[other].declaration, part, lang=lang
                )
            yield controls.parse_params(self.declaration, given, lang=lang)

    def _validated(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the key `text` by the name of the text input that applies.

        A bench can have several text inputs, one per model; the caller need not know their names.
        """
        declared = dict(controls.controls(self.declaration))
        if "text" not in values or "text" in declared:
            return dict(values)
        given = {name: value for name, value in values.items() if name != "text"}
        own = {name: value for name, value in given.items() if name in declared}
        params = vars(controls.parse_params(self.declaration, own))
        read = [
            name
            for name, control in declared.items()
            if isinstance(control, controls.TextInput)
            and (control.when is None or control.when(params))
        ]
        return {**given, read[0] if read else "text": values["text"]}

    def run_on(
        self,
        params: Any,
        host: Host,
        text: Text,
        style: Style,
        code: bool = True,
        veiled: bool = False,
    ) -> Output:
        """Return the output for given parameters, on a host.

        Args:
            params: instance of the declaration.
            host: the host to run on.
            text: shared texts in the reader's language.
            style: language, theme and scale of the figure.
            code: True to write the script that reproduces the output.
            veiled: True to show no result.
        """
        show = Show(LessonWords(self.lesson.slug, text), host, style)
        show.veil = self.veil(style) if veiled else None
        try:
            self.body(params, show)
            self.conclude(params, show)
        except PendingError as waits:
            show.output.waits = str(waits) or show.words("hint.train")
        if code and not veiled:
            show.output.code = show.trace.source()
        return show.output
