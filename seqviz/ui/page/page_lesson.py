"""The frame of a lesson: what a page script talks to, from title to "next lesson"."""

from __future__ import annotations

import inspect
import math
import pkgutil
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import streamlit as st

from seqviz.core.code_trace import CodeTrace
from seqviz.core.i18n import Text, sections
from seqviz.core.lazy_import import refusing
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.host import PendingError
from seqviz.lessons.framework.lesson import Bench, Lesson
from seqviz.lessons.framework.show import Show
from seqviz.lessons.framework.words import LessonWords
from seqviz.plotting.style import Style
from seqviz.ui.live import handler
from seqviz.ui.live.live_host import LiveHost
from seqviz.ui.page import (
    classroom_panel,
    components,
    glossary,
    header,
    model_progress,
    notebook,
    questions,
    widgets,
)
from seqviz.ui.page.footer import footer
from seqviz.ui.page.fragments import fragment
from seqviz.ui.page.lazy_loading import LazyBenches
from seqviz.ui.page.page_host import PageHost, render_safely
from seqviz.ui.prerender import figure
from seqviz.ui.quota import charging
from seqviz.ui.render import html
from seqviz.ui.render.share_link import frame_of
from seqviz.ui.runtime import run_context
from seqviz.ui.runtime.scheduler import NOTIFY_EVERY_S, Priority
from seqviz.ui.streamlit_patches import deferred_files as files
from seqviz.ui.streamlit_patches.fragment_reruns import draw_besides

ARRIVES_WITHIN = 8.0  # seconds; the browser asks once more after ten (`bench/lazy_load.js`)


@dataclass(frozen=True)
class BenchState:
    """What a bench shows. others: the parameters of benches that it builds on, by name.
    layout_signature: see `ui.render.html`. moved: a hand can. is_page_rendered: else by the
    browser, under the hand of this session, which is not kept: a page refers to itself, and lives
    on until it is collected.
    """

    params: Any
    others: Mapping[str, Any]
    layout_signature: str | None
    session: weakref.ref[run_context.Session]
    moved: bool
    is_page_rendered: bool = True


@dataclass
class PageLesson:
    """One lesson during one run of its page. declared: its benches and exercises."""

    declared: Lesson
    text: Text
    traces: dict[str, CodeTrace] = field(default_factory=dict)
    states: dict[str, BenchState] = field(default_factory=dict)
    placed: list[str] = field(default_factory=list)  # benches, in the order of the page
    part: str = ""  # the one that is open when the page opens
    requests: dict[str, Priority] = field(default_factory=dict)  # by the browser, not by a hand
    render_times: dict[str, float] = field(default_factory=dict)  # when, by the monotonic clock

    def __post_init__(self) -> None:
        self.record = self.declared.record
        self.words = LessonWords(self.record.slug, self.text)
        self.lazy = LazyBenches(self.record.slug)
        self.parts = {
            bench: part for part, benches in self.declared.parts.items() for bench in benches
        }

    @property
    def benches(self) -> dict[str, type[Any]]:
        """The declaration of each bench that has its place on the page so far."""
        return {name: self.declared.benches[name].declaration for name in self.placed}

    def sources(self) -> dict[str, str]:
        """The code of every bench, in the order of the page, with the settings as they stand."""
        return {name: self._source(name) for name in self.placed if name in self.traces}

    def _source(self, name: str) -> str:
        visible = self.states.get(name)
        if visible is None or visible.is_page_rendered or (session := visible.session()) is None:
            return self.traces[name].source()
        bench = self.declared.benches[name]
        host = LiveHost(session=session, prefix=bench.prefix)
        requests = run_context.acting_as(session, self.record.slug, name)
        with requests, self.declared.read_by(visible.others.__getitem__):
            return bench.run_on(visible.params, host, self.text, self.style).code

    def notebook(self) -> bytes:
        """The lesson as a file; who asks for it has asked for the benches not drawn yet as well."""
        files.wait_for(self.render_times.keys() >= set(self.placed))
        return notebook.build(self.record.slug, self.text, self.sources())

    def prose(self, section: str) -> None:
        """A named section of the lesson's Markdown."""
        st.markdown(sections(self.record.slug, self.text.lang)[section])

    def prefix(self, bench: str) -> str:
        """The start of a bench's widget keys and permalink parameters."""
        return self.declared.prefix(bench)

    def values(self, bench: str) -> Any:
        """The parameters of a bench as they stand."""
        with self.declared.read_by(self.values):  # an end of a slider may depend on another bench
            return widgets.current(self.prefix(bench), self.declared.benches[bench].declaration)

    def dependents(self, bench: str) -> list[str]:
        """The benches that build on this one."""
        return [name for name, item in self.declared.benches.items() if bench in item.after]

    def permalink(self, bench: str) -> dict[str, str]:
        """The query parameters that bring this bench back, and those that it builds on."""
        part = {self.prefix("part"): self.parts[bench]} if bench in self.parts else {}
        return part | {
            key: value
            for name in (*self.declared.benches[bench].after, bench)
            for key, value in controls.permalink(self.prefix(name), self.values(name)).items()
        }

    def tabs(self) -> dict[str, Any]:
        """Parts of the lesson side by side; use as `with tabs["name"]:`.

        A link to a bench opens the part that it is in: it names it, or has settings of a bench in
        it.
        """
        labels = {part: self.words(f"part.{part}") for part in self.declared.parts}
        request = st.query_params.get(self.prefix("part"))
        changed = (
            self.parts.get(key.removeprefix(f"{self.record.code}.").split(".")[0])
            for key in st.query_params
            if key.startswith(f"{self.record.code}.")
        )
        request = self.parts.get(request or "", request)  # a link to a bench may name it itself
        first = request if request in labels else next(filter(None, changed), next(iter(labels)))
        key = f"{self.record.code}.tabs"
        opened = st.session_state.setdefault(f"_{key}", first)  # the hand decides from then on
        self.part = opened
        return dict(
            zip(
                labels, st.tabs(list(labels.values()), default=labels[opened], key=key), strict=True
            )
        )

    def bench(self, name: str) -> None:
        """A declared bench takes its place here: a figure with its controls."""
        bench = self.declared.benches[name]
        self.placed.append(name)
        self.lazy.register(name, is_visible=self.parts.get(name, self.part) == self.part)

        def run() -> None:
            if not self.lazy.is_visible(name):
                self._placeholder(name)
                return
            new = name not in self.render_times
            with (
                run_context.bench_run(name, new) as alone,
                charging.turn(self._rank(name, alone), self._on_queue_wait),
                self.declared.read_by(self.values),
            ):
                self._draw_bench(bench)
            self.render_times[name] = time.monotonic()
            if name == self.placed[0]:
                figure.mark_current(self.record.slug, self.text.lang)

        with st.container(border=True, key=f"bench-{name}"):
            fragment(run, bench.prefix)
            classroom_panel.run_as_class(self.text, bench, self.style, header.presenting())

    def _rank(self, name: str, is_only: bool) -> Priority:
        return self.requests.pop(name, Priority.INTERACTION) if is_only else Priority.PAGE

    def _on_queue_wait(self, before: int) -> None:
        """Says whose turn it is; a newer press of the reader ends the wait here.

        It is said anew each time, and gone by then: what a bench that runs by itself has said
        before, Streamlit does not let it change.
        """
        words = self.text("work.turn", position=before + 1)
        st.toast(words, icon=":material/info:", duration=round(NOTIFY_EVERY_S))

    def _title(self, name: str) -> None:
        if self.text.has(f"{self.record.slug}.bench.{name}"):
            st.markdown(f"## {self.words(f'bench.{name}')}")

    def _placeholder(self, name: str) -> None:
        self._title(name)
        height = self.style.height
        with st.container(key=f"{self.prefix(name)}.placeholder", height=height, border=False):
            st.skeleton(height)

    def _draw_bench(self, bench: Bench) -> None:
        prefix, declaration = bench.prefix, bench.declaration
        self._title(bench.name)
        if not all(control.client for _, control in controls.controls(declaration)):
            stage, side = st.columns([8, 3], gap="medium")
        else:
            stage, side = st.container(), st.container()
        readouts = st.container(horizontal=True, key=f"{prefix}.readouts")
        params = widgets.draw(
            prefix,
            declaration,
            self.text,
            self.words.control,
            self.words.option,
            above=stage,
            side=side,
        )
        host = PageHost(
            prefix, self.words, stage, side, readouts, declaration, self.style, others=self.values
        )
        host.live = self._live(bench, params, host.dark)
        show = Show(self.words, host, self.style)

        def attempt() -> None:
            try:
                with suppress(PendingError):  # what the bench waits for stands in its place
                    bench.body(params, show)
            finally:
                show.trace.close()
                frame = frame_of(self.record.slug, bench.name, self.text)
                footer(host, show, lambda: header.address(self.permalink(bench.name)), frame)
            self.traces[bench.name] = show.trace

        with stage:
            render_safely(attempt, self.words)
            others = {name: self.values(name) for name in bench.after}
            signature = html.layout_signature(show.output.items)
            session = weakref.ref(run_context.session())
            moved = host.live is not None
            self.states[bench.name] = BenchState(params, others, signature, session, moved)
            if host.live or bench.leads:
                drag = run_context.lesson_scope()(partial(self._commit_listener, bench))
                fragment(drag, f"{prefix}.commit")

    @property
    def style(self) -> Style:
        """How figures look on this page."""
        return html.style(self.text.lang, header.presenting())

    def _live(self, bench: Bench, params: Any, dark: bool) -> dict[str, Any] | None:
        others = {self.prefix(name): self.values(name) for name in bench.after}
        params = {**others, bench.prefix: params}
        return handler.live_descriptor(bench, params, self.text.lang, header.presenting(), dark)

    def _commit_listener(self, bench: Bench) -> None:
        """What hears of a hand that rests, and says it to the benches that build on this one."""
        prefix, visible = bench.prefix, self.states[bench.name]
        if visible.moved:
            components.drag_commit(
                f"{prefix}.commit",
                prefix,
                visible.layout_signature,
                partial(self._on_commit, bench),
            )
        if bench.leads:
            followers = [
                dependent
                for dependent in self.dependents(bench.name)
                if self.lazy.is_visible(dependent)
            ]
            follow = partial(self._refresh_dependents, bench.name, visible.params)
            components.debounce(prefix, self.permalink(bench.name), followers, follow)

    def _on_commit(self, bench: Bench, values: Mapping[str, Any]) -> None:
        """Take what a hand has set; where the browser does not show all of it, draw the bench."""
        before = self.states[bench.name]
        taken = widgets.take(bench.prefix, bench.declaration, values)
        params = self.values(bench.name)
        as_told = all(controls.equals(text, getattr(params, name)) for name, text in taken.items())
        signature = before.layout_signature
        same = signature is not None and values.get("layout_signature") == signature
        if as_told and same and widgets.frame(params) == widgets.frame(before.params):
            self.states[bench.name] = replace(before, params=params, is_page_rendered=False)
            widgets.write_links(bench.prefix, params, taken)
        else:
            draw_besides([bench.prefix])

    def _refresh_dependents(self, leader: str, rendered: Any, names: Sequence[str]) -> None:
        """Draw benches that build on one whose settings have come to rest.

        rendered: those settings. Where the hand has moved on meanwhile, it has not come to rest.
        """
        widgets.apply_slider_values(self.prefix(leader), self.declared.benches[leader].declaration)
        if self.values(leader) == rendered:
            self._schedule(names, Priority.DEPENDENT, f"{self.prefix(leader)}.commit")

    def _on_visible(self, names: Sequence[str]) -> None:
        """Draw benches for the first time: the reader comes near.

        One that still keeps its place long after it was drawn has not arrived.
        """
        lately = time.monotonic() - ARRIVES_WITHIN
        new = [
            name
            for name in names
            if name not in self.requests and self.render_times.get(name, -math.inf) < lately
        ]
        self.lazy.mark_visible(new)
        self._schedule(new, Priority.PAGE, self._near_key)

    def _schedule(self, names: Sequence[str], rank: Priority, heard_by: str) -> None:
        """Draw benches. heard_by: the fragment that was told of them, which is drawn again itself:
        what it drew last Streamlit has thrown away if it was not sent yet, and nobody would hear
        the next.
        """
        if names:
            self.requests |= dict.fromkeys(names, rank)
            draw_besides([heard_by, *(self.prefix(name) for name in names)])

    @property
    def _near_key(self) -> str:
        return f"{self.record.code}.lazy"

    def predict(self, name: str, **values: object) -> None:
        """A question to answer before looking, with its reveal."""
        key = f"{self.record.code}.predict.{name}"
        with st.container(border=True, key=f"{key}.question"):
            request = partial(questions.predict, self.words, key, name, values)
            fragment(run_context.lesson_scope()(request), key)

    def exercise(self, name: str) -> None:
        """A declared task with a number as its answer, checked against a computed one."""
        with st.container(border=True):
            key = f"{self.record.code}.exercise.{name}"
            request = partial(questions.ask, self.words, key, self.declared.exercises[name])
            fragment(run_context.lesson_scope()(request), key)

    def sketch(self, name: str) -> None:
        """A declared prediction that is drawn, with its result."""
        key = f"{self.record.code}.sketch.{name}"
        with st.container(border=True, key=f"{key}.question"):
            request = partial(questions.sketch, self.words, key, name, header.presenting())
            fragment(run_context.lesson_scope()(request), key)

    def code(self) -> None:
        """The source of the functions that ran, as they stand in the library.

        Sent when it is opened: what colors it is a sixth of all that a first visit loads.
        """

        key = f"{self.record.code}.source"

        def panel() -> None:
            opened = st.expander(
                self.text("frame.source"), icon=":material/code:", key=key, on_change="rerun"
            )
            if not opened.open:
                return
            with opened:
                for function in self.declared.code:
                    render_safely(partial(show, function), self.words)

        def show(payload: Callable[..., Any] | str) -> None:
            function = (
                refusing(pkgutil.resolve_name)(payload) if isinstance(payload, str) else payload
            )
            st.caption(f"`{function.__module__}.{function.__name__}`")
            st.code(_source(function), language="python")

        fragment(panel, key)

    def end(self) -> None:
        """What the texts say and which they are, sources, the notebook, previous and next."""
        self._texts()
        st.markdown(glossary.five_texts(self.text))
        self.prose("sources")
        button = f"{self.record.code}.notebook"
        st.download_button(
            self.text("frame.notebook"),
            self.notebook,
            file_name=f"{self.record.slug}.ipynb",
            mime="application/x-ipynb+json",
            icon=":material/menu_book:",
            key=button,
            on_click="ignore",
        )
        st.html(f'<a href="#print">{self.text("frame.print")}</a>')

        key = self._near_key

        def near() -> None:
            leads = tuple(name for name in self.placed if self.declared.benches[name].leads)
            components.lazy_load(
                key, self.record.slug, tuple(self.placed), leads, button, self._on_visible
            )

        fragment(near, key)
        header.neighbours(self.record.slug, self.text)

    def _texts(self) -> None:
        rows = self.text.items(f"{self.record.slug}.texts.rows")
        with st.expander(self.text("frame.texts"), icon=":material/menu_book:"):
            st.markdown(self.words("texts.intro"))
            own = f"{self.record.slug}.texts.columns"
            heads = self.text.items(own if self.text.has(own) else "frame.texts_columns")
            head = "| " + " | ".join(heads) + " |\n|---|---|---|\n"
            st.markdown(head + "\n".join(map(_row, rows)))


# Finding where a function ends takes a millisecond: once for the whole class.
_source = cache(inspect.getsource)


def _row(cells: Sequence[str]) -> str:
    """A line of a Markdown table; a bar within a cell, as in P(x | y), does not end it."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def begin(declared: Lesson) -> PageLesson:
    """Title, language and presenter switches, what the lesson answers and what it needs."""
    model_progress.begin()
    lesson = PageLesson(declared, header.open_page(declared.slug))
    st.markdown(lesson.words("goal"))
    return lesson
