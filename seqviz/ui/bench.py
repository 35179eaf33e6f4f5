"""A bench: one figure with its controls, in one keyed fragment, so a slider reruns only its bench.

`Show` is what a bench function talks to. It runs computations (cached, timed and recorded), draws
figures in the common frame, and shows read-outs. The frame under each figure: where the numbers
come from and how long they took, then Data, Export, Code and Link.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import plotly.graph_objects as go
import streamlit as st

from seqviz.compute.attention import masks
from seqviz.data import measured
from seqviz.figures.colored_text import colored_text
from seqviz.figures.style import DARK, LIGHT, Style
from seqviz.models import device
from seqviz.recipe import Recipe
from seqviz.text import Text, literal
from seqviz.ui import behavior, export, looks, waiting, work
from seqviz.ui.caching import cached
from seqviz.ui.controls import Control, Slider, Steps, controls
from seqviz.ui.problems import sentence

R = TypeVar("R")
log = logging.getLogger(__name__)


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
_BADGES: dict[str, tuple[str, Any]] = {
    "live": (":material/bolt:", "green"),
    "browser": (":material/bolt:", "green"),
    "precomputed": (":material/inventory_2:", "blue"),
    "reported": (":material/menu_book:", "orange"),
}


@dataclass
class Show:
    """The stage of one bench during one run."""

    prefix: str
    text: Text
    words: Callable[..., str]
    names: Callable[[str, str], str]
    stage: Any
    side: Any
    readouts: Any
    link: Callable[[], str]
    recipe: Recipe = field(default_factory=Recipe)
    seconds: float = 0.0
    device: str = "CPU"
    style: Style = field(default_factory=Style)
    declaration: type[Any] | None = None

    def run(
        self,
        function: Callable[..., R],
        /,
        *args: Any,
        name: str,
        **keywords: Any,
    ) -> R:
        """Call a pure function of `seqviz.compute`: cached, timed, and written into the code.

        `name` is the variable that the student reads in the code.
        """
        timed = cached(function)(*args, **keywords)
        self.seconds += timed.seconds
        self.recipe.record(function, args, keywords, timed.result, name)
        return timed.result

    def figure(
        self,
        draw: Callable[..., go.Figure],
        /,
        *args: Any,
        provenance: Provenance = COMPUTED,
        picks: tuple[str, str] | None = None,
        opens: tuple[str, str] | None = None,
        toggles: tuple[str, str] | None = None,
        **keywords: Any,
    ) -> None:
        """Draw `draw(*args, style=..., **keywords)` in the common frame.

        picks: two controls of this bench. A click on a point or cell of a trace whose `meta` is
        "pick" moves the first to the clicked x and the second to the clicked y.
        opens: a control and the value that such a click gives it, such as another view.
        toggles: a control with pairs of numbers ("2.5 3.0") and the order of a pair, "xy" or "yx".
        A click puts the pair of its place in, or takes it out.
        """
        chart = draw(*args, style=self.style, **keywords)
        spoken = {**keywords, **({"style": Style(lang=self.text.lang)} if self.foreign else {})}
        self.recipe.record(draw, args, spoken, chart, "figure")
        with self.stage:
            self.chart(chart, self._on_pick(picks, opens, toggles))
            self.footer(chart, provenance)

    def live(
        self,
        component: Callable[..., None],
        values: dict[str, Any],
        words: Mapping[str, str],
        draw: Callable[..., go.Figure],
        /,
        *args: Any,
    ) -> None:
        """A drawing that answers in the browser, without the server, in the common frame.

        component: `component(key, values, words, on_change)`; it draws the controls of the bench,
        which are declared `in_browser`, and reports their values when the hand has come to rest.
        `draw(*args)` is the same picture as a figure, for the table, the files and the code.
        """
        chart = draw(*args, style=self.style)
        spoken = {"style": Style(lang=self.text.lang)} if self.foreign else {}
        self.recipe.record(draw, args, spoken, chart, "figure")
        with self.stage:
            with st.container(key=f"{self.prefix}.figure", border=False):
                component(f"{self.prefix}.live", values, words, self._take)
            self.footer(chart, BROWSER)

    def _take(self, values: Mapping[str, Any]) -> None:
        """What the browser reports, into the session, as far as it is possible at all."""
        known = dict(controls(self.declaration)) if self.declaration else {}
        for name, value in values.items():
            if name not in known:
                continue
            try:
                clean = known[name].clean(str(value))
            except (ValueError, KeyError):
                continue
            st.session_state[f"{self.prefix}.{name}"] = clean

    @property
    def foreign(self) -> bool:
        """Whether the code has to name the language of the figure."""
        return self.text.lang != Style().lang

    def chart(
        self,
        chart: go.Figure,
        on_pick: Callable[[float, float], None] | None = None,
    ) -> None:
        """The figure alone, at the height that the frame (or the presenter) gives it."""
        with st.container(key=f"{self.prefix}.figure", height=self.style.height, border=False):
            if isinstance(chart, go.Figure):
                behavior.chart(
                    f"{self.prefix}.chart",
                    chart,
                    self.text("frame.no_library"),
                    on_pick=on_pick,
                )
            else:
                st.altair_chart(
                    chart,
                    key=f"{self.prefix}.chart",
                )

    def _on_pick(
        self,
        picks: tuple[str, str] | None,
        opens: tuple[str, str] | None,
        toggles: tuple[str, str] | None,
    ) -> Callable[[float, float], None] | None:
        if toggles:
            return partial(self._toggle, *toggles)
        return partial(self._pick, picks, opens) if picks else None

    def _toggle(self, name: str, order: str, x: Any, y: Any) -> None:
        """Put a pair into a control, or take it out (before the next run, which draws it)."""
        key = f"{self.prefix}.{name}"
        if key not in st.session_state or not all(isinstance(n, int | float) for n in (x, y)):
            return
        pair = (round(x), round(y)) if order == "xy" else (round(y), round(x))
        try:
            pairs = set(masks.pairs(st.session_state[key]))
            st.session_state[key] = masks.written(tuple(sorted(pairs ^ {pair})))
        except ValueError:
            return  # what stands there is said to be wrong under the figure

    def _pick(self, names: tuple[str, str], opens: tuple[str, str] | None, *place: Any) -> None:
        """Move two controls to a place on the chart (before the next run, which draws them)."""
        if opens:
            st.session_state[f"{self.prefix}.{opens[0]}"] = opens[1]
        known = dict(controls(self.declaration)) if self.declaration else {}
        for name, number in zip(names, place, strict=True):
            key = f"{self.prefix}.{name}"
            # A control that does not apply is not there; what the browser sends may be anything.
            if key not in st.session_state or not isinstance(number, int | float):
                continue
            kind = type(st.session_state[key])
            st.session_state[key] = kind(landed(number, known.get(name)))

    def footer(self, chart: go.Figure, provenance: Provenance) -> None:
        """Badge, then the four quiet buttons. What they show is made when one is pressed."""
        panels = (
            ("data", ":material/table_chart:", lambda: export.data_panel(self, chart)),
            ("export", ":material/download:", lambda: export.files_panel(self, chart)),
            ("code", ":material/code:", lambda: export.code_panel(self)),
            ("link", ":material/link:", lambda: export.link_panel(self)),
        )
        with st.container(
            horizontal=True, key=f"{self.prefix}.footer", vertical_alignment="center"
        ):
            icon, color = _BADGES[provenance.kind]
            st.badge(self._badge(provenance), icon=icon, color=color)
            st.space("stretch")
            for name, icon, fill in panels:
                label = self.text(f"frame.{name}")
                if st.button(label, icon=icon, type="tertiary", key=f"{self.prefix}.{name}"):
                    # A dialog and not a popover: under a figure near the lower edge of the window
                    # a popover has room for two lines.
                    st.dialog(label, width="large" if name in ("data", "code") else "small")(fill)()

    def _badge(self, provenance: Provenance) -> str:
        label = self.text(f"frame.{provenance.kind}")
        if provenance.kind == "browser":
            return label
        if provenance.kind != "live":
            return f"{label} · {provenance.note}"
        return f"{label} · {duration(self.seconds)} · {self.device}"

    def metrics(self, **values: str | tuple[str, str | None]) -> None:
        """Read-outs under the figure, at most four: each a value, or a value and what it is beside.

        Label and help of each come from `metric.<name>` of the lesson's words.
        """
        with self.readouts:
            for name, shown in values.items():
                value, beside = shown if isinstance(shown, tuple) else (shown, None)
                st.metric(
                    self.words(f"metric.{name}.label"),
                    value,
                    delta=beside,
                    delta_color="off",
                    delta_arrow="off",
                    help=self.words(f"metric.{name}.help"),
                    border=True,
                    height="stretch",
                )

    def note(self, key: str, **values: object) -> None:
        """One sentence under the figure that says what this very picture shows."""
        with self.stage:
            st.markdown(self.words(f"note.{key}", **values))

    def say(self, key: str, **values: object) -> None:
        """As `note`, with a sentence that lessons share."""
        with self.stage:
            st.markdown(self.text(key, **values))

    def passage(self, pieces: Sequence[str], values: Any, **more: Any) -> None:
        """A text under the figure, each piece on a color that tells its value (`colored_text`)."""
        palette = DARK if self.dark else LIGHT  # HTML does not know the live colors
        style = Style(palette, self.text.lang)
        with self.stage:
            st.html(colored_text(pieces, values, style=style, **more))

    @property
    def dark(self) -> bool:
        """Whether the reader's page is dark."""
        return looks.theme() == "dark"

    def option(self, control: str, value: str) -> str:
        """The reader's word for an option of a control."""
        return self.names(control, value)

    def hint(self, key: str) -> None:
        """What to do next, where there is no figure yet."""
        with self.stage:
            st.info(self.words(f"hint.{key}"), icon=":material/arrow_forward:")

    def ready(
        self, model: str, text: str | None = None, other: str = "", leads: bool = False
    ) -> bool:
        """Whether a pretrained model is here and has read the text, if there is one.

        Else the bench says what it waits for. Of several benches with the same model one `leads`:
        it shows the progress.
        """
        return waiting.wait_for(self, model, text, other, leads)

    def download(self, key: str, content: Callable[[], bytes], file_name: str, mime: str) -> None:
        """A button that saves a file, made when it is pressed; `key` names its words."""
        with self.stage:
            st.download_button(
                self.words(f"download.{key}"),
                content,
                file_name,
                mime,
                key=f"{self.prefix}.{key}",
                on_click="ignore",
                type="tertiary",
                icon=":material/download:",
            )

    def page(self, html: str, height: int, alt: str) -> None:
        """A page of its own in a frame; its maker has escaped what students wrote."""
        with self.stage:
            st.iframe(html, height=height, alt=alt)

    def pieces(self, name: str, words: Sequence[str], chosen: int) -> int:
        """The words of a text to click on; a click moves the control `name` (1: the first word)."""
        key = f"{self.prefix}.{name}"
        st.session_state[f"{key}.pick"] = chosen

        def take() -> None:
            if picked := st.session_state[f"{key}.pick"]:  # a click on the chosen one takes it back
                st.session_state[key] = picked

        with self.stage:
            st.pills(
                self.words(f"control.{name}.label"),
                range(1, len(words) + 1),
                format_func=lambda place: literal(words[place - 1]),
                key=f"{key}.pick",
                on_change=take,
                label_visibility="collapsed",
                wrap=True,
            )
        return chosen

    def rows(self, key: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """A table to read under the figure; the name of each column is `column.<name>`."""
        with self.stage:
            st.dataframe(
                {self.words(f"column.{name}"): list(column) for name, column in columns.items()},
                key=f"{self.prefix}.{key}",
                hide_index=True,
                height=260,
            )

    def caption(self, sentence: str) -> None:
        """A quiet line under the figure: where the data come from."""
        with self.stage:
            st.caption(sentence)

    def upload(self, name: str) -> bytes | None:
        """A file of the student's own; None until there is one."""
        with self.side:
            file = st.file_uploader(
                self.words(f"control.{name}.label"),
                type=["csv", "txt", "tsv"],
                key=f"{self.prefix}.{name}",
                help=self.words(f"control.{name}.help"),
            )
        return bytes(file.getvalue()) if file is not None else None

    def pick(self, name: str, options: Sequence[str], first: int = 0) -> str:
        """A choice that only the data can offer, such as a column of the student's file."""
        with self.side:
            chosen = st.selectbox(
                self.words(f"control.{name}.label"), options, first, key=f"{self.prefix}.{name}"
            )
        return str(chosen)

    def measured(
        self,
        function: Callable[..., R],
        progress: work.Progress | None = None,
        /,
        *,
        name: str,
        **keywords: Any,
    ) -> tuple[R | None, Provenance]:
        """As `job`, but what came with the app for these very arguments is there at once.

        Returns the result and where it is from. With a shipped one, a button computes it anew;
        until that is done the shipped one stays.
        """
        there = measured.find(function, keywords) is not None
        result = self._job(function, progress, name, keywords, there)
        if result is None and there:
            return self.shipped(function, name=name, **keywords)
        if result is None:
            self.recipe.record(function, (), keywords, None, name)
        return result, COMPUTED

    def shipped(
        self, function: Callable[..., R], /, *, name: str, **keywords: Any
    ) -> tuple[R | None, Provenance]:
        """What came with the app for these arguments, if anything did, and where it is from."""
        found = measured.find(function, keywords)
        if found is None:
            return None, COMPUTED
        self.recipe.record(measured.result, (function.__name__,), keywords, found.result, name)
        note = f"{found.date} · {found.device} · {duration(found.seconds)}"
        return found.result, Provenance("precomputed", note)

    def job(
        self,
        function: Callable[..., R],
        progress: work.Progress | None,
        /,
        *,
        name: str,
        **keywords: Any,
    ) -> R | None:
        """Long work with these arguments: its result when done, else start, progress and cancel.

        `progress(trail)` says how to draw what has been reported so far: a figure function, its
        arguments and its keywords. The polling fragment redraws only this.
        """
        result = self._job(function, progress, name, keywords, False)
        if result is None:
            self.recipe.record(function, (), keywords, None, name)
        return result

    def _job(
        self,
        function: Callable[..., R],
        progress: work.Progress | None,
        name: str,
        keywords: Mapping[str, Any],
        anew: bool,
    ) -> R | None:
        work.watch(self, function, keywords, progress, anew)
        job = work.find(function, keywords)
        if job is None or job.state != "done":
            return None
        result: R = job.result
        self.seconds += job.seconds
        self.device = device.choose().name
        self.recipe.record(function, (), keywords, result, name)
        return result


def landed(number: float, control: Control | None) -> float:
    """The value of a control that is nearest to a number."""
    match control:
        case Slider(low=low, high=high, step=step):
            steps = round((min(high, max(low, number)) - low) / step)
            return min(high, round(low + steps * step, 10))
        case Steps(stops=stops):
            return float(min(stops, key=lambda stop: abs(stop - number)))
        case _:
            return round(number)


def duration(seconds: float) -> str:
    """Seconds as a person reads them: 120 ms, 2.4 s, 14 min."""
    if seconds < 0.001:
        return "< 1 ms"
    if seconds < 0.9995:  # what would be rounded to 1000 ms is a second
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds / 60:.0f} min"


def guarded(body: Callable[[], None], words: Callable[..., str]) -> None:
    """Run a bench; what goes wrong becomes one sentence in its place, and the page stays whole."""
    try:
        body()
    except ValueError as refusal:
        st.warning(sentence(refusal, words), icon=":material/info:")
    except Exception:
        log.exception("a bench failed")
        st.error(words("frame.failed"), icon=":material/error:")
