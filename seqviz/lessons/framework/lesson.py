"""A lesson as data: its benches, what builds on what, its exercises. Pages put it on screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float

from seqviz.compute.replicates import Theory
from seqviz.content import catalog
from seqviz.core.i18n import Text
from seqviz.core.lazy_import import refusing
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.drawn_prediction import DrawnPrediction
from seqviz.lessons.framework.host import Host, LocalHost, PendingError
from seqviz.lessons.framework.output import Output, Source
from seqviz.lessons.framework.show import Show
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.style import Style

P = TypeVar("P")
Body = Callable[[Any, Show], None]
_reader: ContextVar[Callable[[str], Any] | None] = ContextVar("reader", default=None)


def read_params(bench: str, declaration: type[P]) -> P:
    """Return the parameters of another bench of the lesson as they stand; outside a run, defaults.

    declaration: the class of that bench's parameters.
    """
    reader = _reader.get()
    params: P = declaration() if reader is None else reader(bench)
    return params


@dataclass(frozen=True)
class Exercise:
    """A task with a number as its answer, checked against a computed one.

    cases: for each variant the values of the question's sentence, which are the arguments of
    `answer`. within: what is let pass beside the answer, absolute, or as a share of it.
    """

    name: str
    cases: tuple[Mapping[str, Any], ...]
    answer: Callable[..., float]
    within: float = 0.0
    share: float = 0.0

    def variant_of(self, variant: int) -> tuple[Mapping[str, Any], float, float]:
        """The k-th variant: values of the question, the answer, and the tolerance."""
        case = self.cases[variant % len(self.cases)]
        answer = float(refusing(self.answer)(**case))
        return case, answer, self.within + self.share * abs(answer)


@dataclass(frozen=True)
class ClientRenderer:
    """What answers a moving hand in the browser, in place of the server.

    script: a module of `assets/static`, without its ending (`live.js` says what it has). parts:
    functions of the parameters and a `Show`, each of which gives what can be written as JSON, and
    notes, which stand for their HTML; the script is made with that of `parts[""]` and may ask for
    the others. needs: the controls on which these depend; for another value of them they travel
    again.
    """

    script: str
    parts: Mapping[str, Callable[[Any, Show], Any]]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class SeedExperiment:
    """A number of a bench at its settings, once for each random seed: a class runs a seat each.

    values: of these seeds in this order; each follows from its own seed alone. quantity: its name
    and unit, in the reader's language, as plain words. settings: one sentence that says at which.
    theory: the distribution of one replicate beside these values; None where there is none.
    at_once: seeds that take less than a second together; of long work, seeds of one job.
    kinds: plain names of several numbers of each seed, which are then a row of `values` (there is
    no theory of them). long: `values` is a `partial` of a module's function that takes `report` as
    well, and is computed in the queue of long work.
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

    parts: names of benches that stand in tabs side by side, by the name of the tab. code: functions
    whose source the page shows; "module:name" is imported only then.
    """

    slug: str
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    code: tuple[Callable[..., Any] | str, ...] = ()
    benches: dict[str, Bench] = field(default_factory=dict)
    exercises: dict[str, Exercise] = field(default_factory=dict)
    sketches: dict[str, DrawnPrediction] = field(default_factory=dict)

    @property
    def record(self) -> catalog.LessonRecord:
        """Its line in the table of contents."""
        return catalog.lesson(self.slug)

    def bench(
        self,
        name: str,
        declaration: type[P],
        after: Sequence[str] = (),
        leads: bool = False,
        answers: ClientRenderer | None = None,
        replicate: Replicate | None = None,
    ) -> Callable[[Body], Bench]:
        """Decorate `def f(params, show)`: a figure with its controls.

        `after` names benches whose parameters this one reads; each of those says `leads=True`. A
        change there redraws this one as soon as the hand has left the slider. answers: in the
        browser, with what `body` shows. replicate: what a class runs here, each seat its own seed.
        """

        def decorate(body: Body) -> Bench:
            self.benches[name] = Bench(
                self, name, declaration, refusing(body), tuple(after), leads, answers, replicate
            )
            return self.benches[name]

        return decorate

    def exercise(self, name: str, **keys: Any) -> Exercise:
        """Declare an exercise; see `Exercise`."""
        self.exercises[name] = Exercise(name, **keys)
        return self.exercises[name]

    def sketch(self, name: str, **keys: Any) -> DrawnPrediction:
        """Declare a prediction that is drawn; see `Sketch`."""
        self.sketches[name] = DrawnPrediction(name, **keys)
        return self.sketches[name]

    def prefix(self, bench: str) -> str:
        """The start of a bench's widget keys and permalink parameters."""
        return f"{self.record.code}.{bench}"

    def values(self, bench: str) -> Any:
        """The parameters of another bench as they stand (for a bench that builds on it)."""
        return read_params(bench, self.benches[bench].declaration)

    @contextmanager
    def read_by(self, reader: Callable[[str], Any]) -> Iterator[None]:
        """Within: `values` gives what `reader(bench)` gives."""
        token = _reader.set(reader)
        try:
            yield
        finally:
            _reader.reset(token)


@dataclass(frozen=True, eq=False)
class Bench:
    """A figure with its controls. declaration: a dataclass of `controls`, its parameters."""

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
        """The start of its widget keys and permalink parameters."""
        return self.lesson.prefix(self.name)

    def __call__(self, **values: Any) -> Output:
        """What it shows at these settings; see `run`."""
        return self.run(values)

    def run(
        self,
        values: Mapping[str, Any] | None = None,
        language: str = "en",
        style: Style | None = None,
        host: LocalHost | None = None,
        train: bool = False,
        code: bool = True,
    ) -> Output:
        """Figure, read-outs, notes and code at these settings, without a page.

        values: of its parameters by name (`text`: the first that it reads), and of a bench that it
        builds on as "<bench>.<name>"; the others have their defaults. train: long work whose result
        did not come with the app is done now. code: whether the script is written. Raises
        ValueError for a value that the control does not have, and what the body raises.
        """
        given = self._validated(values or {})
        view = style or Style(lang=language)
        source = Source(self, dict(given), view.lang)
        caller = host or LocalHost(train=train)
        with self._read(given, caller) as params:
            output = self.run_on(params, caller, Text(view.lang), view, code)
        output.source = source
        return output

    def part(self, name: str, values: Mapping[str, Any], style: Style, host: LocalHost) -> Any:
        """A part of what answers in the browser; values as of `run`. Raises what it raises.

        KeyError for a part that there is not.
        """
        if self.answers is None:
            raise KeyError(name)
        make = self.answers.parts[name]
        with self._read(self._validated(values), host) as params:
            show = Show(LessonWords(self.lesson.slug, Text(style.lang)), host, style)
            return refusing(make)(params, show)

    def experiment(
        self, values: Mapping[str, Any] | None = None, language: str = "en"
    ) -> SeedExperiment:
        """What a class runs here, without a page; values as of `run`.

        Raises ValueError where this bench has none, or none at these settings, and PendingError.
        """
        caller = LocalHost()
        with self._read(self._validated(values or {}), caller) as params:
            return self.replicated(params, caller, Style(lang=language).text)

    def replicated(self, params: Any, host: Host, text: Text) -> SeedExperiment:
        """The same with these parameters on a host."""
        if self.replicate is None:
            raise ValueError(f"{self.name} has no number for each seed.")
        show = Show(LessonWords(self.lesson.slug, text), host, Style(lang=text.lang))
        return refusing(self.replicate)(params, show)

    @contextmanager
    def _read(self, given: dict[str, Any], host: LocalHost) -> Iterator[Any]:
        """Its parameters, while a host gives those of the benches that it builds on."""
        with self.lesson.read_by(host.values):
            for other in self.after:
                part = {
                    key.removeprefix(f"{other}."): given.pop(key)
                    for key in list(given)
                    if key.startswith(f"{other}.")
                }
                host.others[other] = controls.parse_params(
                    self.lesson.benches[other].declaration, part
                )
            yield controls.parse_params(self.declaration, given)

    def _validated(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values, with `text` for the one sentence that is read beside the others.

        A bench may have several, one for each model; who has a text need not know their names.
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
        self, params: Any, host: Host, text: Text, style: Style, code: bool = True
    ) -> Output:
        """What it shows with these parameters on a host."""
        show = Show(LessonWords(self.lesson.slug, text), host, style)
        try:
            self.body(params, show)
        except PendingError as waits:
            show.output.waits = str(waits) or show.words("hint.train")
        if code:
            show.output.code = show.trace.source()
        return show.output
