"""A bench: one figure with its controls, in one keyed fragment, so a slider reruns only its bench.

`Show` is what a bench function talks to. It runs computations (cached, timed and recorded) and
draws figures over the common footer (`footer`); what stands around them is in `place`, and where a
click on them goes in `clicks`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from seqviz.data import precomputed
from seqviz.figures.grammar.style import Style
from seqviz.models import device, forward_cache
from seqviz.ui.bench import job_progress, model_progress
from seqviz.ui.bench.clicks import on_pick, take
from seqviz.ui.bench.footer import BROWSER, COMPUTED, Provenance, duration, footer
from seqviz.ui.bench.place import Place
from seqviz.ui.shared import limits
from seqviz.ui.shared.caching import cached, drawn
from seqviz.ui.shared.limits import Turn, metered
from seqviz.ui.shared.problems import sentence

__all__ = ["BROWSER", "COMPUTED", "Provenance", "Show", "duration", "guarded"]

R = TypeVar("R")
log = logging.getLogger(__name__)


@dataclass
class Show(Place):
    """One bench during one run: what it computes, draws and says.

    shared: nothing had to be computed for it so far: the class has been here before.
    """

    turn: Turn = field(default_factory=Turn)
    shared: bool = True

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
        with self.turn.counted():
            found = cached(metered(function))(*args, **keywords)
        self.seconds += found.seconds
        self.shared = self.shared and found.kept
        self.recipe.record(function, args, keywords, found.result, name)
        return found.result

    def own(self, function: Callable[[bytes], R], content: bytes) -> R:
        """Read a student's own file: not for the cache that the class shares, but it counts."""
        with self.turn.counted():
            return metered(function)(content)

    def figure(
        self,
        draw: Callable[..., Figure],
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
        picture = drawn(draw, args, {**keywords, "style": self.style}, self.shared)
        spoken = {**keywords, **({"style": Style(lang=self.text.lang)} if self.foreign else {})}
        self.recipe.record(draw, args, spoken, picture.chart, "figure")
        with self.stage:
            self.chart(picture, on_pick(self.prefix, self.declaration, picks, opens, toggles))
            footer(self, picture.chart, provenance)

    def live(
        self,
        component: Callable[..., None],
        values: dict[str, Any],
        words: Mapping[str, str],
        draw: Callable[..., Figure],
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
                report = partial(take, self.prefix, self.declaration)
                component(f"{self.prefix}.live", values, words, report)
            footer(self, chart, BROWSER)

    @property
    def foreign(self) -> bool:
        """Whether the code has to name the language of the figure."""
        return self.text.lang != Style().lang

    def ready(
        self, model: str, text: str | None = None, other: str = "", leads: bool = False
    ) -> bool:
        """Whether a pretrained model is here and has read the text, if there is one.

        Else the bench says what it waits for. Of several benches with the same model one `leads`:
        it shows the progress. Raises Problem("token_limit") where this student has had too much
        read.
        """
        if leads and text is not None and not forward_cache.known(model, text, other):
            limits.read(text, other)
        return model_progress.wait_for(self, model, text, other, leads)

    def measured(
        self,
        function: Callable[..., R],
        progress: job_progress.Progress | None = None,
        /,
        *,
        name: str,
        **keywords: Any,
    ) -> tuple[R | None, Provenance]:
        """As `job`, but what came with the app for these very arguments is there at once.

        Returns the result and where it is from. With a shipped one, a button computes it anew;
        until that is done the shipped one stays.
        """
        there = precomputed.find(function, keywords) is not None
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
        found = precomputed.find(function, keywords)
        if found is None:
            return None, COMPUTED
        self.recipe.record(precomputed.result, (function.__name__,), keywords, found.result, name)
        note = f"{found.date} · {found.device} · {duration(found.seconds)}"
        return found.result, Provenance("precomputed", note)

    def job(
        self,
        function: Callable[..., R],
        progress: job_progress.Progress | None,
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
        progress: job_progress.Progress | None,
        name: str,
        keywords: Mapping[str, Any],
        anew: bool,
    ) -> R | None:
        job = job_progress.watch(self, function, keywords, progress, anew)
        if job is None:
            return None
        result: R = job.result
        self.seconds += job.seconds
        self.device = device.choose().name
        self.recipe.record(function, (), keywords, result, name)
        return result


def guarded(body: Callable[[], None], words: Callable[..., str]) -> None:
    """Run a bench; what goes wrong becomes one sentence in its place, and the page stays whole."""
    try:
        body()
    except ValueError as refusal:
        st.warning(sentence(refusal, words), icon=":material/info:")
    except Exception:
        log.exception("a bench failed")
        st.error(words("frame.failed"), icon=":material/error:")
