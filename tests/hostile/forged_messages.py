"""What somebody can say to a page by hand: any state of any widget, in the form of the protocol.

`Room` is one lesson without its figures: all that its declarations give a hand to hold (controls,
clicks on charts, questions, the header), drawn in this process. It hears messages as a session of
the server hears them, with callbacks, and is drawn again only where a test asks for it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import streamlit as st
from hypothesis import strategies
from streamlit.components.v2.bidi_component import main
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX, WStates
from streamlit.testing.v1 import AppTest

from seqviz import lessons
from seqviz.lessons.framework import output
from seqviz.lessons.framework.controls import (
    Choice,
    Control,
    SelectSlider,
    Slider,
    TextInput,
    controls,
)
from seqviz.lessons.framework.words import LessonWords
from seqviz.ui.page import components, header, questions, quiz, widgets
from seqviz.ui.page.page_host import PageHost
from seqviz.ui.render import clicks
from seqviz.ui.streamlit_patches import component_state, widget_states
from tests.hostile import adversarial_inputs

EVENTS = "__events"
EMPTY = b'{"data": [], "layout": {}}'
HUGE = 10**400


def page(slug, created):
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    from tests.hostile import forged_messages

    created(get_script_run_ctx())
    forged_messages.draw(slug)


def draw(slug: str) -> None:
    """Header, benches without their figures, exercises and questions of a lesson."""
    text = header.open_page(slug)
    words = LessonWords(slug, text)
    declared = getattr(lessons, slug).lesson
    for bench in declared.benches.values():
        prefix, declaration = bench.prefix, bench.declaration
        widgets.draw(
            prefix, declaration, text, words.control, words.option, st.container(), st.container()
        )
        for number, click_bindings in enumerate(clickable(declaration)):
            notify = clicks.on_pick(prefix, declaration, click_bindings)
            components.chart(f"{prefix}.chart.{number}", EMPTY, "", "", notify)
        existing = dict(controls(declaration))
        host = PageHost(prefix, words, *(st.container() for _ in range(3)), declaration)
        if all(control.client for control in existing.values()):
            start = vars(declaration())
            report = clicks.partial(clicks.apply_browser_values, prefix, declaration)
            components.sinusoid(f"{prefix}.live", start, start, {}, report)
        for name in (n for n, c in existing.items() if isinstance(c, Slider) and c.low == 1):
            if isinstance(existing[name].default, int):
                host.emit(output.TokenPicker(name, name, [f"w{n}" for n in range(5)], 1))
                break
        components.debounce(prefix, {}, list(declared.benches), lambda names: None)
    if text.has(f"{slug}.control.csv.label"):
        host.upload("csv")
        host.pick("column", ("a", "b"), 0)
    positions = tuple(declared.benches)
    nothing = lambda names: None  # noqa: E731
    components.lazy_load(
        "near", declared.record.slug, positions, (), "whole", nothing, ["predict.x"], nothing,
        [], {},
    )  # fmt: skip
    for exercise in declared.exercises.values():
        questions.ask(words, f"{declared.record.code}.exercise.{exercise.name}", exercise)
    quiz.show_round(words, f"{declared.record.code}.quiz", declared)
    for name in declared.sketches:
        questions.sketch(words, f"{declared.record.code}.sketch.{name}", name, presenting=False)
    for name, question in declared.questions.items():
        questions.predict(words, f"predict.{name}", question, declared.benches[question.bench])


def clickable(declaration: type[Any]) -> Iterator[output.ClickBindings]:
    """All that a click could do on a figure of a bench with these controls."""
    declared = dict(controls(declaration))
    numbers = [
        name
        for name, c in declared.items()
        if isinstance(c, Slider | SelectSlider) and not c.client
    ]
    views = [(n, c.options[-1]) for n, c in declared.items() if isinstance(c, Choice) and c.above]
    for pair in pairwise(numbers):
        yield output.ClickBindings(picks=pair, opens=views[0] if views else None)
    for name in (name for name, control in declared.items() if isinstance(control, TextInput)):
        yield output.ClickBindings(toggles=(name, "yx"))


class Room:
    """context: what the browser says of itself. before: what it says with its first message.
    kinds: of each widget by its id, the field in which the page hears of it;
    at_first: of those that were there before anything was said.
    """

    def __init__(
        self,
        slug: str,
        context: Mapping[str, Any] | None = None,
        before: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.slug = slug
        self.benches = getattr(lessons, slug).lesson.benches
        self.app = AppTest.from_function(
            page, kwargs={"slug": slug, "created": self._made}, default_timeout=120
        )
        self.app.context.update(context or {})
        self.run(before or {})
        self.at_first = dict(self.kinds)

    def _made(self, context: Any) -> None:
        self.context = context

    @property
    def state(self) -> Any:
        return self.context.session_state._state

    @property
    def kinds(self) -> dict[str, str]:
        existing = self.state._new_widget_state.widget_metadata
        visible = [id for id in sorted(existing) if {id, component_of(id)} & self.shown]
        return {id: existing[id].value_type for id in visible}

    @property
    def ids(self) -> dict[str, str]:
        """By the key of a widget; with EVENTS behind it: where its events arrive."""
        return {key_of(id) + EVENTS * (EVENTS in id): id for id in self.kinds}

    def run(self, states: Mapping[str, Mapping[str, Any]]) -> None:
        """The page hears this and is drawn."""
        self.app._run(message(states))
        self.drawn()
        self.shown = self.context.shared.widget_ids_this_run.snapshot()

    def drawn(self) -> None:
        assert not self.app.exception, self.app.exception
        assert not self.app.error, self.app.error

    def hear(self, states: Mapping[str, Mapping[str, Any]]) -> None:
        """The page hears this; what it would do before it is drawn."""
        self.context.shared.reset()
        with self.here():
            self.state.on_script_will_rerun(message(states))

    @contextmanager
    def here(self) -> Iterator[None]:
        """Within: this thread is one of the page."""
        thread, before = threading.current_thread(), get_script_run_ctx(suppress_warning=True)
        add_script_run_ctx(thread, self.context)
        try:
            yield
        finally:
            add_script_run_ctx(thread, before) if before else delattr(
                thread, "streamlit_script_run_ctx"
            )

    def values(self) -> dict[str, tuple[Control, Any]]:
        """Every parameter by its key: its control, and its value as a bench would get it."""
        with self.here():
            return {
                f"{bench.prefix}.{name}": (control, getattr(values, name))
                for bench in self.benches.values()
                for values in [widgets.current(bench.prefix, bench.declaration)]
                for name, control in controls(bench.declaration)
            }


@contextmanager
def patched() -> Iterator[None]:
    """Within: states are heard as the served app hears them."""
    with pytest.MonkeyPatch.context() as retained:  # puts back what is replaced
        for name in ("make_bidi_component_presenter", "deserialize_trigger_list"):
            retained.setattr(main, name, getattr(main, name))
        for name in ("__getitem__", "set_widget_from_proto"):
            retained.setattr(WStates, name, getattr(WStates, name))
        component_state.PATCH.put()
        widget_states.apply()
        yield


def component_of(id: str) -> str:
    """The component whose events arrive under this id."""
    return id.removeprefix(f"{STREAMLIT_INTERNAL_KEY_PREFIX}_").removesuffix(EVENTS)


def key_of(id: str) -> str:
    """The key that the page gave a widget; of its events as well."""
    return component_of(id).split("-", 2)[2]


def message(states: Mapping[str, Mapping[str, Any]]) -> WidgetStates:
    return WidgetStates(widgets=[WidgetState(id=id, **value) for id, value in states.items()])


def event(name: str, value: object) -> dict[str, str]:
    """As a component says it."""
    return {"json_trigger_value": json.dumps([{"event": name, "value": value}])}


# What is no JSON, or more than a reader of it takes.
RAW = (
    "", "{", "nul", "[" * 5_000, '{"a":' * 5_000, "NaN", "-Infinity", "9" * 5_000, "1e999",
    '"\\ud800"', '{"__proto__": {"x": 1}}', '[{"event": "pick"}]', '{"event": 5}', "[[]]", "[null]",
    '[{"event": "pick", "value": {"x": 1e308, "y": -1e308}}, {"event": "pick"}]', '"pick"', "7",
)  # fmt: skip
leaves = strategies.one_of(
    strategies.none(),
    strategies.booleans(),
    strategies.sampled_from((HUGE, -HUGE, 0.5, -0.0, 1e308, -1e308, 5e-324, 2**63, 3, 1)),
    strategies.floats(),
    adversarial_inputs.junk,
    strategies.sampled_from(adversarial_inputs.HALF_PAIRS),
)
names = strategies.sampled_from(("x", "y", "event", "value", "__proto__", "constructor", ""))
anything = strategies.recursive(
    leaves,
    lambda inner: strategies.one_of(
        strategies.lists(inner, max_size=4), strategies.dictionaries(names, inner, max_size=4)
    ),
    max_leaves=8,
)
locations = strategies.fixed_dictionaries({"x": leaves, "y": leaves})
EVENT_NAMES = (
    "pick",
    "value",
    "commit",
    "visible",
    "answered",
    "settings",
    "theme",
    "no such event",
)


def said(parameters: tuple[str, ...]) -> strategies.SearchStrategy[str]:
    """Events as a component would tell them, with values that none has."""
    settings = strategies.dictionaries(strategies.sampled_from(parameters), anything, max_size=6)
    value = strategies.one_of(anything, locations, settings, adversarial_inputs.junk)
    item = strategies.fixed_dictionaries(
        {"event": strategies.sampled_from(EVENT_NAMES), "value": value}
    )
    payload = strategies.lists(strategies.one_of(item, anything), min_size=1, max_size=4)
    return strategies.one_of(payload.map(json.dumps), item.map(json.dumps))


texts = adversarial_inputs.texts.map(lambda text: text[:5_000])
floats = strategies.one_of(strategies.floats(), strategies.sampled_from((1e308, -0.0, 2.0**63)))
integers = strategies.integers(-(2**63), 2**63 - 1)
file = strategies.fixed_dictionaries(
    {"file_id": texts, "name": texts, "size": strategies.integers(0, 2**63 - 1)}
)


@cache
def fields(parameters: tuple[str, ...]) -> dict[str, strategies.SearchStrategy[Any]]:
    """Field of a widget's state -> what may stand in it; parameters: names in JSON."""

    def data(values: strategies.SearchStrategy[Any]) -> strategies.SearchStrategy[Any]:
        return strategies.fixed_dictionaries({"data": strategies.lists(values, max_size=3)})

    raw = strategies.sampled_from(RAW)
    return {
        "trigger_value": strategies.booleans(),
        "bool_value": strategies.booleans(),
        "double_value": floats,
        "int_value": integers,
        "string_value": texts,
        "double_array_value": data(floats),
        "int_array_value": data(integers),
        "string_array_value": data(texts),
        "json_value": strategies.one_of(raw, anything.map(json.dumps), said(parameters)),
        "json_trigger_value": strategies.one_of(raw, said(parameters)),
        "bytes_value": strategies.binary(max_size=50),
        "string_trigger_value": texts.map(lambda text: {"data": text}),
        "chat_input_value": texts.map(lambda text: {"data": text}),
        "file_uploader_state_value": strategies.lists(file, max_size=3).map(
            lambda files: {"uploaded_file_info": files}
        ),
    }


@strategies.composite
def forged(draw: strategies.DrawFn, kind: str, parameters: tuple[str, ...]) -> dict[str, Any]:
    """A state for a widget that hears of `kind`: three of four times of that kind."""
    existing = fields(parameters)
    if draw(strategies.integers(0, 3)):
        return {kind: draw(existing[kind])}
    other = draw(strategies.sampled_from(tuple(existing)))
    return {other: draw(existing[other])}
