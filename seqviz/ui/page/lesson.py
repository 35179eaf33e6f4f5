"""The frame of a lesson: what a page script talks to, from title to "next lesson"."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, TypeVar

import streamlit as st

from seqviz import catalog
from seqviz.code_trace import Recipe
from seqviz.figures.grammar.style import LIVE, Style
from seqviz.models import registry
from seqviz.text import Text, sections
from seqviz.ui.bench import controls, widgets
from seqviz.ui.bench.lazy import LazyBenches
from seqviz.ui.bench.show import Show, guarded
from seqviz.ui.page import header, notebook
from seqviz.ui.server import run_context
from seqviz.ui.shared import components
from seqviz.ui.shared.caching import cached
from seqviz.ui.shared.draw_queue import Rank, draw_queue
from seqviz.ui.streamlit_internals import deferred_files as files
from seqviz.ui.streamlit_internals.fragment_reruns import draw_besides

P = TypeVar("P")
ARRIVES_WITHIN = 8.0  # seconds; the browser asks once more after ten (`assets/static/near.js`)


@dataclass
class Lesson:
    """One lesson during one run of its page."""

    record: catalog.Lesson
    text: Text
    benches: dict[str, type[Any]] = field(default_factory=dict)
    dependents: dict[str, list[str]] = field(default_factory=dict)
    recipes: dict[str, Recipe] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)
    part: str = ""  # the one that is open when the page opens
    asked: dict[str, Rank] = field(default_factory=dict)  # by the browser, not by a hand
    drawn: dict[str, float] = field(default_factory=dict)  # when, by the monotonic clock

    def __post_init__(self) -> None:
        self.lazy = LazyBenches(self.record.slug)

    def words(self, key: str, /, **values: object) -> str:
        """A sentence of this lesson, else the shared one of the same name."""
        sentence = self.text.first(f"{self.record.slug}.{key}", key)
        return sentence.format(**values) if values else sentence

    def sources(self) -> dict[str, str]:
        """The code of every bench, in the order of the page, with the settings as they stand."""
        return {name: self.recipes[name].source() for name in self.benches if name in self.recipes}

    def notebook(self) -> bytes:
        """The lesson as a file; who asks for it has asked for the benches not drawn yet as well."""
        files.wait_for(self.drawn.keys() >= self.benches.keys())
        return notebook.build(self.record.slug, self.text, self.sources())

    def prose(self, section: str) -> None:
        """A named section of the lesson's Markdown."""
        st.markdown(sections(self.record.slug, self.text.lang)[section])

    def prefix(self, bench: str) -> str:
        """The start of a bench's widget keys and permalink parameters."""
        return f"{self.record.code}.{bench}"

    def values(self, bench: str) -> Any:
        """The parameters of another bench as they stand (for a bench that builds on it)."""
        return widgets.current(self.prefix(bench), self.benches[bench])

    def shows(self, bench: str, **values: object) -> bool:
        """Whether another bench is drawn, and these of its parameters have these values.

        What it loads then, it shows the progress of: others that need the same only wait.
        """
        return self.lazy.reached(bench) and values.items() <= vars(self.values(bench)).items()

    def permalink(self, bench: str) -> dict[str, str]:
        """The query parameters that bring this bench back, and those that it builds on."""
        sources = [other for other, users in self.dependents.items() if bench in users]
        part = {self.prefix("part"): self.parts[bench]} if bench in self.parts else {}
        return part | {
            key: value
            for name in (*sources, bench)
            for key, value in controls.permalink(self.prefix(name), self.values(name)).items()
        }

    def tabs(self, parts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Parts of the lesson side by side, each with the names of its benches.

        Use as `with tabs["name"]:`. A link to a bench opens the part that it is in: it names it, or
        has settings of a bench in it.
        """
        self.parts |= {bench: part for part, benches in parts.items() for bench in benches}
        labels = {part: self.words(f"part.{part}") for part in parts}
        asked = st.query_params.get(self.prefix("part"))
        changed = (
            self.parts.get(key.removeprefix(f"{self.record.code}.").split(".")[0])
            for key in st.query_params
            if key.startswith(f"{self.record.code}.")
        )
        first = asked if asked in labels else next(filter(None, changed), next(iter(labels)))
        key = f"{self.record.code}.tabs"
        opened = st.session_state.setdefault(f"_{key}", first)  # the hand decides from then on
        self.part = opened
        return dict(
            zip(
                labels, st.tabs(list(labels.values()), default=labels[opened], key=key), strict=True
            )
        )

    def bench(
        self, name: str, declaration: type[P], after: Sequence[str] = (), leads: bool = False
    ) -> Callable[[Callable[[P, Show], None]], None]:
        """Decorate `def f(params, show)`: a figure with its controls.

        `after` names benches whose parameters this one reads; each of those says `leads=True`. A
        change there redraws this one as soon as the hand has left the slider.
        """
        self.benches[name] = declaration
        for other in after:
            self.dependents.setdefault(other, []).append(name)

        self.lazy.begin(name, shown=self.parts.get(name, self.part) == self.part)

        def place(body: Callable[[P, Show], None]) -> None:
            def run() -> None:
                if not self.lazy.reached(name):
                    self._keep_place(name)
                    return
                new = name not in self.drawn
                with (
                    run_context.drawing(name, new) as alone,
                    draw_queue().turn(self._rank(name, alone)),
                ):
                    self._draw_bench(name, declaration, body, leads)
                self.drawn[name] = time.monotonic()

            with st.container(border=True, key=f"bench-{name}"):
                st.fragment(run, key=self.prefix(name))()

        return place

    def _rank(self, name: str, alone: bool) -> Rank:
        return self.asked.pop(name, Rank.PRESS) if alone else Rank.PAGE

    def _title(self, name: str) -> None:
        if self.text.has(f"{self.record.slug}.bench.{name}"):
            st.markdown(f"##### {self.words(f'bench.{name}')}")

    def _keep_place(self, name: str) -> None:
        self._title(name)
        height = _style(self.text.lang).height
        with st.container(key=f"{self.prefix(name)}.waiting", height=height, border=False):
            st.skeleton(height)

    def _draw_bench(
        self, name: str, declaration: type[P], body: Callable[[P, Show], None], leads: bool
    ) -> None:
        prefix = self.prefix(name)
        self._title(name)
        if not all(control.client for _, control in controls.controls(declaration)):
            stage, side = st.columns([8, 3], gap="medium")
        else:
            stage, side = st.container(), st.container()
        readouts = st.container(horizontal=True, key=f"{prefix}.readouts")
        params = widgets.draw(
            prefix,
            declaration,
            self.text,
            self._control_words,
            self._option_name,
            above=stage,
            side=side,
        )
        show = Show(
            prefix,
            self.text,
            self.words,
            self._option_name,
            stage,
            side,
            readouts,
            link=lambda: header.address(self.permalink(name)),
            style=_style(self.text.lang),
            declaration=declaration,
        )

        def attempt() -> None:
            body(params, show)
            show.recipe.close()
            self.recipes[name] = show.recipe

        with stage:
            guarded(attempt, self.words)
        if leads:
            followers = [one for one in self.dependents.get(name, ()) if self.lazy.reached(one)]
            follow = partial(self._follow, name, params)
            components.settle(prefix, self.permalink(name), followers, follow)

    def _follow(self, leader: str, shown: Any, names: Sequence[str]) -> None:
        """Draw benches that build on one whose settings have come to rest.

        shown: those settings. Where the hand has moved on meanwhile, it has not come to rest.
        """
        if self.values(leader) == shown:
            self._ask(names, Rank.FOLLOWING)

    def _come(self, names: Sequence[str]) -> None:
        """Draw benches for the first time: the reader comes near.

        One that still keeps its place long after it was drawn has not arrived.
        """
        lately = time.monotonic() - ARRIVES_WITHIN
        new = [
            name
            for name in names
            if name not in self.asked and self.drawn.get(name, -math.inf) < lately
        ]
        self.lazy.reach(new)
        self._ask(new, Rank.PAGE)

    def _ask(self, names: Sequence[str], rank: Rank) -> None:
        if names:
            self.asked |= dict.fromkeys(names, rank)
            draw_besides([self.prefix(name) for name in names])

    def _control_words(self, name: str) -> tuple[str, str | None]:
        label = self.words(f"control.{name}.label")
        try:
            return label, self.words(f"control.{name}.help")
        except KeyError:
            return label, None

    def _option_name(self, name: str, option: str) -> str:
        if name == "model":  # a teacher may allow others than those that we have words for
            record = registry.model(option)
            return self.text(
                "frame.model", title=record.title, kind=self.text(f"frame.{record.kind}")
            )
        return self.text.first(f"{self.record.slug}.option.{name}.{option}", f"option.{option}")

    def predict(self, name: str, **values: object) -> None:
        """A question to answer before looking, with its reveal."""

        def ask() -> None:
            words = f"{self.record.slug}.predict.{name}"
            options = self.text.items(f"{words}.options")
            key = f"{self.record.code}.predict.{name}"
            st.markdown(f"**{self.text('frame.predict')}** {self.text(f'{words}.question')}")
            chosen = st.radio(
                self.text("frame.predict"), range(len(options)), index=None, key=key,
                format_func=options.__getitem__, label_visibility="collapsed",
            )  # fmt: skip
            if chosen is None:
                return
            right = chosen == int(self.text(f"{words}.answer"))
            verdict = self.text("frame.right" if right else "frame.wrong")
            (st.success if right else st.info)(
                f"**{verdict}** {self.text(f'{words}.reveal', **values)}"
                if values
                else f"**{verdict}** {self.text(f'{words}.reveal')}"
            )

        with st.container(border=True):
            st.fragment(ask, key=f"{self.record.code}.predict.{name}.fragment")()

    def exercise(
        self,
        name: str,
        pose: Callable[[int], tuple[dict[str, object], float, float]],
    ) -> None:
        """A task with a number as its answer, checked against a computed one.

        `pose(k)` gives, for the k-th variant, the values of the question's sentence, the right
        answer and the tolerance, once for the whole class: a function of the page's top level. A
        new variant can be asked for as often as one likes.
        """

        def ask() -> None:
            words = f"{self.record.slug}.exercise.{name}"
            key = f"{self.record.code}.exercise.{name}"
            variant = st.session_state.setdefault(f"{key}.variant", 0)
            values, answer, tolerance = cached(pose)(variant).result
            st.markdown(
                f"**{self.text('frame.exercise')}** {self.text(f'{words}.question', **values)}"
            )
            row = st.container(horizontal=True, vertical_alignment="bottom")
            with row:
                given = st.number_input(
                    self.text("frame.answer"), value=None, key=f"{key}.{variant}",
                    format="%.4g", width=220,
                )  # fmt: skip
                st.button(
                    self.text("frame.another"), key=f"{key}.next", type="tertiary",
                    icon=":material/refresh:",
                    on_click=lambda: st.session_state.update({f"{key}.variant": variant + 1}),
                )  # fmt: skip
            if given is None:
                return
            if abs(given - answer) <= tolerance:
                st.success(
                    f"**{self.text('frame.right')}** "
                    f"{self.text(f'{words}.right', answer=f'{answer:.4g}', **values)}"
                )
            else:
                st.info(f"**{self.text('frame.not_yet')}** {self.text(f'{words}.hint', **values)}")

        with st.container(border=True):
            st.fragment(ask, key=f"{self.record.code}.exercise.{name}.fragment")()

    def code(self, *functions: Callable[..., Any]) -> None:
        """The source of the functions that ran, as they stand in the library."""
        with st.expander(self.text("frame.source"), icon=":material/code:"):
            for function in functions:
                st.caption(f"`{function.__module__}.{function.__name__}`")
                st.code(_source(function), language="python")

    def end(self) -> None:
        """What the texts say, sources, the notebook, previous and next."""
        self._texts()
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

        def near() -> None:
            key = f"{self.record.code}.near"
            components.near(key, tuple(self.benches), tuple(self.dependents), button, self._come)

        st.fragment(near, key=f"{self.record.code}.near.fragment")()
        header.neighbours(self.record.slug, self.text)

    def _texts(self) -> None:
        rows = self.text.items(f"{self.record.slug}.texts.rows")
        with st.expander(self.text("frame.texts"), icon=":material/menu_book:"):
            st.markdown(self.words("texts.intro"))
            head = "| " + " | ".join(self.text.items("frame.texts_columns")) + " |\n|---|---|---|\n"
            st.markdown(head + "\n".join(map(_row, rows)))


# Finding where a function ends takes a millisecond: once for the whole class.
_source = cache(inspect.getsource)


def _row(cells: Sequence[str]) -> str:
    """A line of a Markdown table; a bar within a cell, as in P(x | y), does not end it."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _style(lang: str) -> Style:
    """Charts in the theme's colors; larger for the lecture hall."""
    if header.presenting():
        return Style(LIVE, lang, height=525, scale=1.25)
    return Style(LIVE, lang)


def begin(slug: str) -> Lesson:
    """Title, language and presenter switches, what the lesson answers and what it needs."""
    record = catalog.lesson(slug)
    text = header.open_page(slug)
    lesson = Lesson(record, text)
    st.markdown(lesson.words("goal"))
    return lesson
