"""Page of a lesson: `begin` returns the object that a page script builds its lesson with."""

from __future__ import annotations

import inspect
import math
import pkgutil
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import streamlit as st

from seqviz.content.search_index import plain_title
from seqviz.core import settings
from seqviz.core.code_trace import CodeTrace
from seqviz.core.i18n import Text, sections
from seqviz.core.lazy_import import refusing
from seqviz.core.paths import STATIC
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
    course,
    header,
    model_progress,
    notebook,
    plan,
    questions,
    quiz,
    steps,
    widgets,
)
from seqviz.ui.page.footer import footer
from seqviz.ui.page.fragments import fragment
from seqviz.ui.page.lazy_loading import LazyBenches
from seqviz.ui.page.page_host import PageHost, render_safely
from seqviz.ui.prerender import figure
from seqviz.ui.quota import charging
from seqviz.ui.render import css, html
from seqviz.ui.render.share_link import frame_of, page_code
from seqviz.ui.runtime import run_context
from seqviz.ui.runtime.scheduler import NOTIFY_EVERY_S, Priority
from seqviz.ui.server import static_files
from seqviz.ui.streamlit_patches import deferred_files as files
from seqviz.ui.streamlit_patches.fragment_reruns import draw_besides

MAX_PRESENTED = 3  # controls beside a figure in presenter mode
ARRIVES_WITHIN = 8.0  # seconds; the browser repeats its request after ten (`bench/lazy_load.js`)


@dataclass(frozen=True)
class BenchState:
    """Rendered state of a bench.

    Attributes:
        params: its parameters.
        others: parameters of the benches that it depends on, by name.
        layout_signature: see `ui.render.html`.
        session: weak reference, because a page is part of a reference cycle and would keep its
            session alive until a collection.
        moved: the bench has draggable controls.
        is_page_rendered: False where the browser drew the current values after a drag.
    """

    params: Any
    others: Mapping[str, Any]
    layout_signature: str | None
    session: weakref.ref[run_context.Session]
    moved: bool
    is_page_rendered: bool = True


@dataclass
class PageLesson:
    """One lesson during one run of its page.

    Attributes:
        declared: benches and exercises of the lesson.
        text: translations.
        traces: code trace of each rendered bench.
        states: state of each rendered bench.
        placed: benches in page order.
        requests: priority of benches that the browser has requested.
        render_times: `time.monotonic()` of each bench's last rendering.
        chapters: name, title and tasks of each placed bench of the core, for `bench/chapters.js`.
    """

    declared: Lesson
    text: Text
    traces: dict[str, CodeTrace] = field(default_factory=dict)
    states: dict[str, BenchState] = field(default_factory=dict)
    placed: list[str] = field(default_factory=list)
    requests: dict[str, Priority] = field(default_factory=dict)
    render_times: dict[str, float] = field(default_factory=dict)
    chapters: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.record = self.declared.record
        self.words = LessonWords(self.record.slug, self.text)
        self.lazy = LazyBenches(self.record.slug)

    @property
    def benches(self) -> dict[str, type[Any]]:
        """Declarations of the benches placed so far, by name."""
        return {name: self.declared.benches[name].declaration for name in self.placed}

    def sources(self) -> dict[str, str]:
        """Return the code of every rendered bench with its current settings, in page order."""
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
        """Return the lesson as a notebook; waits until the remaining benches are rendered."""
        files.wait_for(self.render_times.keys() >= set(self.placed))
        return notebook.build(self.record.slug, self.text, self.sources())

    def prose(self, section: str) -> None:
        """Show a named section of the lesson's Markdown."""
        st.markdown(sections(self.record.slug, self.text.lang)[section])

    def prefix(self, bench: str) -> str:
        """Return the prefix of a bench's widget keys and query parameters."""
        return self.declared.prefix(bench)

    def values(self, bench: str) -> Any:
        """Return the current parameters of a bench."""
        with self.declared.read_by(self.values):  # a slider's bound may depend on another bench
            return widgets.current(self.prefix(bench), self.declared.benches[bench].declaration)

    def dependents(self, bench: str) -> list[str]:
        """Return the benches that depend on this one."""
        return [name for name, item in self.declared.benches.items() if bench in item.after]

    def permalink(self, bench: str) -> dict[str, str]:
        """Return the query parameters that restore this bench and those that it depends on."""
        return {
            key: value
            for name in (*self.declared.benches[bench].after, bench)
            for key, value in controls.permalink(
                self.prefix(name), self.values(name), self.text.lang
            ).items()
        }

    def _address(self, bench: Bench) -> str:
        """Return the URL of a bench with its settings and its current step."""
        address = header.address(self.permalink(bench.name) | steps.link(bench))
        return f"{address}#bench-{bench.name}"

    @contextmanager
    def deeper(self, name: str, links: Sequence[str] = ()) -> Iterator[None]:
        """Fold a bench that is not part of the core, with its prose, to one line.

        It opens in place, and for a link that has settings of the bench. A link of an earlier
        edition names a tab of the page (`<code>.part`) or a bench in it.

        Args:
            name: of the bench; its title and `claim.<name>` are the line.
            links: names of tabs whose links open the card.
        """
        title, claim = self.words(f"bench.{name}"), self.words(f"claim.{name}")
        prefix = f"{self.prefix(name)}."
        is_linked = any(key.startswith(prefix) for key in st.query_params)
        is_linked = is_linked or st.query_params.get(self.prefix("part")) in (name, *links)
        is_linked = is_linked or not settings.value("SEQVIZ_GUIDED")
        is_opened = st.session_state.setdefault(f"_{prefix}card", is_linked)
        label = f"{self._picture(name)}**{title}** · {claim}"
        with st.expander(label, expanded=is_opened, key=f"card-{name}"):
            yield

    def _picture(self, name: str) -> str:
        """Return the picture of a folded bench as Markdown; empty for a bench without one.

        A bench that answers a question has a question mark.
        """
        file = f"bench/cards/{self.record.slug}_{name}_{css.theme()}.svg"
        if self.declared.benches[name].veiled_by:
            file = "bench/cards/question.svg"
        return f"![]({static_files.address(file)}) " if (STATIC / file).exists() else ""

    def more(self, section: str) -> None:
        """Show a section of the lesson's Markdown folded; its first line is a heading."""
        heading, _, body = sections(self.record.slug, self.text.lang)[section].partition("\n")
        with st.expander(heading.lstrip("# "), key=f"more-{section}"):
            st.markdown(body)

    def bench(self, name: str) -> None:
        """Place a declared bench: its figure and controls, or a placeholder until it is near."""
        bench = self.declared.benches[name]
        self.placed.append(name)
        self.lazy.register(name, bench.after)
        if name in (self.declared.core or self.declared.benches):
            self._add_chapter(bench)

        def run() -> None:
            with run_context.lesson_scope():
                self._heading(bench)
            if not self.lazy.is_visible(name):
                self._placeholder(name)
                return
            new = name not in self.render_times
            with (
                run_context.bench_run(name, new) as alone,
                charging.turn(self._rank(name, alone), self._on_queue_wait),
                self.declared.read_by(self.values),
            ):
                if self._is_drawn(bench):
                    self._draw_bench(bench)
            self.render_times[name] = time.monotonic()
            if name == self.placed[0]:
                figure.mark_current(self.record.slug, self.text.lang)

        with st.container(border=True, key=f"bench-{name}"):
            fragment(run, bench.prefix)
            classroom_panel.run_as_class(self.text, bench, self.style, header.presenting())

    def _add_chapter(self, bench: Bench) -> None:
        """Add a bench of the core to the chapters, with the predictions at it."""
        predicted = [
            *(f"predict-{item.name}" for item in bench.questions),
            *(f"sketch-{item.name}" for item in bench.sketches),
        ]
        key = f"{self.record.slug}.bench.{bench.name}"
        title = plain_title(self.text(key)) if self.text.has(key) else bench.name
        self.chapters.append(
            {"name": bench.name, "title": title, "predicted": predicted, "solved": []}
        )

    def _add_task(self, part: str, task: str) -> None:
        """Add a task to the chapter of the last placed bench, if that is part of the core."""
        if self.chapters and self.chapters[-1]["name"] == self.placed[-1]:
            self.chapters[-1][part].append(task)

    def _rank(self, name: str, is_only: bool) -> Priority:
        return self.requests.pop(name, Priority.INTERACTION) if is_only else Priority.PAGE

    def _on_queue_wait(self, before: int) -> None:
        """Show the queue position; a newer interaction of the reader ends the wait here.

        It is a toast, shown anew each time: Streamlit does not let a fragment change what it has
        already sent.
        """
        words = self.text("work.turn", position=before + 1)
        st.toast(words, icon=":material/info:", duration=round(NOTIFY_EVERY_S))

    def _heading(self, bench: Bench) -> None:
        """Show the title of a bench and the predictions about it."""
        if self.text.has(f"{self.record.slug}.bench.{bench.name}"):
            st.markdown(f"## {self.words(f'bench.{bench.name}')}")
        navigator = self.declared.navigator
        if navigator and (small := navigator.html(bench.name, self.text, self.record.slug)):
            st.html(small)
        for question in bench.questions:
            key = f"{self.record.code}.predict.{question.name}"
            with st.container(key=f"{key}.question"):
                questions.predict(self.words, key, question, bench)
        for sketch in bench.sketches:
            self._sketch(sketch.name)
        if not (bench.questions or bench.sketches):
            answered = run_context.session().answered
            questions.lift(self.text, f"{bench.prefix}.lift", set(bench.veiled_by) - answered)

    def _is_drawn(self, bench: Bench) -> bool:
        """Return False while the axes of an open drawn prediction stand for the bench."""
        if not handler.is_veiled(bench, run_context.session()):
            return True
        answered = run_context.session().answered
        keys = {f"{self.record.code}.sketch.{item.name}" for item in bench.sketches}
        return answered.issuperset(keys)

    def _has_open_question(self, bench: Bench) -> bool:
        """Return True where a step of the bench may give away an answer."""
        keys = {f"{self.record.code}.predict.{item.name}" for item in bench.questions}
        answered = run_context.session().answered
        return bool(settings.value("SEQVIZ_GUIDED")) and not answered.issuperset(
            keys | set(bench.veiled_by)
        )

    def _placeholder(self, name: str) -> None:
        height = self.style.height
        with st.container(key=f"{self.prefix(name)}.placeholder", height=height, border=False):
            st.skeleton(height)

    def _draw_bench(self, bench: Bench) -> None:
        prefix, declaration = bench.prefix, bench.declaration
        is_veiled = handler.is_veiled(bench, run_context.session())
        has_steps = bool(bench.steps) and not self._has_open_question(bench)
        chips = st.container(key=f"{prefix}.steps-row") if has_steps else None
        if not all(control.client for _, control in controls.controls(declaration)):
            stage, side = st.columns([8, 3], gap="medium")
        else:
            stage, side = st.container(), st.container()
        readouts = st.container(horizontal=True, key=f"{prefix}.readouts")
        details = st.container(key=f"{prefix}.details")
        params = widgets.draw(
            prefix,
            declaration,
            self.text,
            self.words.control,
            self.words.option,
            above=None if header.presenting() else stage,
            side=side,
            max_visible=MAX_PRESENTED if header.presenting() else None,
        )
        host = PageHost(
            prefix, self.words, stage, side, readouts, declaration, self.style, others=self.values
        )
        host.is_veiled, host.details = is_veiled, details
        host.live = None if is_veiled else self._live(bench, params, host.dark)
        show = Show(
            self.words, host, self.style, veil=bench.veil(self.style) if is_veiled else None
        )

        def attempt() -> None:
            try:
                with suppress(PendingError):  # the host shows what the bench waits for
                    bench.body(params, show)
                    bench.conclude(params, show)
            finally:
                show.trace.close()
                if not is_veiled:
                    frame = frame_of(self.record.slug, bench.name, self.text)
                    footer(host, show, lambda: self._address(bench), frame)
            if not is_veiled:
                self.traces[bench.name] = show.trace

        with stage:
            if is_veiled:
                with st.container(key=f"{prefix}.veiled"):
                    is_above = bench.questions and not header.presenting()
                    name = "veiled" if is_above else "veiled_elsewhere"
                    st.caption(self.text(f"frame.{name}"))
            questions.own_answer(self.words, bench, params)
            render_safely(attempt, self.words)
            if chips is not None:
                with chips:
                    steps.show(bench, params, show.output.step, self.words, self.text)
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
        """Figure style of this page."""
        return html.style(self.text.lang, header.presenting())

    def _live(self, bench: Bench, params: Any, dark: bool) -> dict[str, Any] | None:
        others = {self.prefix(name): self.values(name) for name in bench.after}
        params = {**others, bench.prefix: params}
        return handler.live_descriptor(bench, params, self.text.lang, header.presenting(), dark)

    def _commit_listener(self, bench: Bench) -> None:
        """Mount the commit and debounce components of a bench, which refresh its dependents."""
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
        """Apply committed values; rerender the bench unless the browser shows all of its output."""
        before = self.states[bench.name]
        taken = widgets.take(bench.prefix, bench.declaration, values)
        params = self.values(bench.name)
        steps.update(bench, params, values.get("step"))
        as_told = all(controls.equals(text, getattr(params, name)) for name, text in taken.items())
        signature = before.layout_signature
        same = signature is not None and values.get("layout_signature") == signature
        if as_told and same and widgets.frame(params) == widgets.frame(before.params):
            self.states[bench.name] = replace(before, params=params, is_page_rendered=False)
            widgets.write_links(bench.prefix, params, taken)
        else:
            draw_besides([bench.prefix])

    def _refresh_dependents(self, leader: str, rendered: Any, names: Sequence[str]) -> None:
        """Render dependents of a bench whose settings have come to rest.

        Args:
            leader: the bench.
            rendered: the settings; if others are set by now, the drag has gone on and nothing is
                rendered.
            names: dependents to render.
        """
        widgets.apply_slider_values(self.prefix(leader), self.declared.benches[leader].declaration)
        if self.values(leader) == rendered:
            self._schedule(names, Priority.DEPENDENT, f"{self.prefix(leader)}.commit")

    def _on_visible(self, names: Sequence[str]) -> None:
        """Render benches for the first time, when the reader comes near.

        A bench that is still a placeholder long after its rendering has not arrived and is rendered
        again.
        """
        lately = time.monotonic() - ARRIVES_WITHIN
        new = [
            name
            for name in names
            if name not in self.requests and self.render_times.get(name, -math.inf) < lately
        ]
        self.lazy.mark_visible(new)
        self._schedule(new, Priority.PAGE, self._near_key)

    def _open_predictions(self) -> list[str]:
        """Return the keys of the predictions that the reader has not answered in this session."""
        answered = run_context.session().answered
        keys = (key for name in self.placed for key in self.declared.benches[name].veiled_by)
        return [key for key in keys if key not in answered]

    def _on_answered(self, keys: Sequence[str]) -> None:
        """Lift the veils of predictions that this browser remembers as answered."""
        run_context.session().answered.update(keys)
        names = [
            name
            for name in self.placed
            if not set(keys).isdisjoint(self.declared.benches[name].veiled_by)
        ]
        draw_besides([self._near_key, *(self.prefix(name) for name in names)])

    def _schedule(self, names: Sequence[str], rank: Priority, heard_by: str) -> None:
        """Request the rendering of benches.

        Args:
            names: of the benches.
            rank: priority in the scheduler.
            heard_by: key of the fragment that received the request. It is rendered, too: Streamlit
                discards its last output if that was not sent yet, and later requests would get
                lost.
        """
        if names:
            self.requests |= dict.fromkeys(names, rank)
            draw_besides([heard_by, *(self.prefix(name) for name in names)])

    @property
    def _near_key(self) -> str:
        return f"{self.record.code}.lazy"

    def exercise(self, name: str) -> None:
        """Show a declared exercise whose numeric answer is checked against a computed one."""
        self._add_task("solved", f"exercise-{name}")
        with st.container(border=True):
            key = f"{self.record.code}.exercise.{name}"
            request = partial(questions.ask, self.words, key, self.declared.exercises[name])
            fragment(run_context.lesson_scope()(request), key)

    def sketch(self, name: str) -> None:
        """Show a declared prediction to draw, with its result."""
        self._add_task("predicted", f"sketch-{name}")
        with st.container(border=True):
            fragment(
                run_context.lesson_scope()(partial(self._sketch, name)),
                f"{self.record.code}.sketch.{name}",
            )

    def _sketch(self, name: str) -> None:
        key = f"{self.record.code}.sketch.{name}"
        with st.container(key=f"{key}.question"):
            questions.sketch(self.words, key, name, header.presenting())

    def code(self) -> None:
        """Show the library source of the functions that ran.

        It is sent when opened: the syntax highlighter is a sixth of all that a first visit loads.
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
        """Show five questions, the course's notes, sources, links, previous and next lesson."""
        if self.declared.exercises and not header.presenting():
            quiz.card(self.words, self.declared)
        if not header.presenting():
            components.bookmarks(f"{self.record.code}.bookmarks", self.text)
        if course.is_on():
            course.notes(self.record.slug, self.text)
        with st.expander(self.text("frame.sources"), icon=":material/menu_book:", key="sources"):
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
        link = f'<a href="#print">{self.text("frame.print")}</a>'
        printed = f'<span class="seqviz-print-link">{link} · </span>'
        parameters = header.view_parameters()
        planned = plan.link(self.record.slug, self.text, parameters)
        code = page_code(header.address({}), self.text)
        st.html(f"{printed}{planned} · {course.link(self.text, parameters)}{code}")

        key = self._near_key

        def near() -> None:
            leads = tuple(name for name in self.placed if self.declared.benches[name].leads)
            components.lazy_load(
                key, self.record.slug, tuple(self.placed), leads, button, self._on_visible,
                self._open_predictions(), self._on_answered,
                self.chapters, self.text.table("chapters"),
            )  # fmt: skip

        fragment(near, key)
        header.neighbours(self.record.slug, self.text)


# Finding the end of a function takes a millisecond, so sources are cached process-wide.
_source = cache(inspect.getsource)


def begin(declared: Lesson) -> PageLesson:
    """Show header and goal of a lesson and return its page object.

    At the address of its plan or its notes for the Chinese course these are all that is shown.
    """
    model_progress.begin()
    lesson = PageLesson(declared, header.open_page(declared.slug))
    if course.is_page() or plan.is_page():
        if plan.is_page():
            plan.page(declared.slug, lesson.text, header.view_parameters())
        else:
            course.page(declared, lesson.text, header.view_parameters())
        header.neighbours(declared.slug, lesson.text)
        st.stop()
    css.reserve(name for name, bench in declared.benches.items() if bench.questions)
    about = f"{declared.slug}.about"
    more = lesson.text(about) if lesson.text.has(about) else None
    with st.container(key="goal") if header.presenting() else nullcontext():
        st.markdown(lesson.words("goal"), help=more)
    return lesson
