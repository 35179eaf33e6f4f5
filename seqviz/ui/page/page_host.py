"""`PageHost`: host of a bench on a page, with its layout, models, jobs and uploads."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from seqviz.core.i18n import escape_markdown
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.host import FigureCall, PendingError, TrainingResult, shipped
from seqviz.models import forward_cache, placement
from seqviz.ui.page import job_progress, model_progress
from seqviz.ui.page.bench_view import BenchView
from seqviz.ui.quota import charging
from seqviz.ui.render import css
from seqviz.ui.render.server_host import ServerHost
from seqviz.ui.runtime import run_context

R = TypeVar("R")
log = logging.getLogger(__name__)


@dataclass
class PageHost(ServerHost, BenchView):
    """Host of a bench on a page.

    Attributes:
        others: returns the parameters of another bench of the page by name.
        is_veiled: the question of the bench is not answered.
    """

    others: Callable[[str], Any] = lambda bench: None
    is_veiled: bool = False

    @property
    def dark(self) -> bool:
        """True where the reader's theme is dark."""
        return css.theme() == "dark"

    def values(self, bench: str) -> Any:
        """Return the current parameters of another bench."""
        return self.others(bench)

    def model(self, name: str, text: str | None, other: str) -> str:
        """Return the device of a model, after loading it with progress.

        Raises PendingError while it loads, and MessageError("token_limit") where the student has
        used up the tokens.
        """
        if text is not None and not forward_cache.is_cached(name, text, other):
            charging.read(text, other, model=name)
        if (position := model_progress.wait_for(self, name, text, other)) is None:
            raise PendingError
        return position

    def training_result(
        self, function: Callable[..., R], keywords: Mapping[str, Any], so_far: FigureCall | None
    ) -> TrainingResult[R] | None:
        """Return the job's result, or the shipped one with a button that recomputes it."""
        result = shipped(function, keywords)
        if self.is_veiled:  # a training would show its figure
            return result
        job = job_progress.show_job(self, function, keywords, so_far, rerun=result is not None)
        if job is not None:
            return TrainingResult(
                job.result, job.seconds, job.where or placement.named(job.device, job.note)
            )
        return result

    def upload(self, name: str) -> bytes | None:
        """Show the uploader and return the student's file, if any.

        The file stays in the session. After a visit to another lesson the uploader is empty: a line
        names the file in use, and a button removes it.
        """
        files, key = run_context.session().files, f"{self.prefix}.{name}"

        def remove() -> None:
            files.pop(key, None)

        def on_change() -> None:
            if not st.session_state.get(key):  # removed by the reader
                remove()

        with self.side:
            file = st.file_uploader(
                self.words(f"control.{name}.label"),
                type=["csv", "txt", "tsv"],
                key=key,
                help=self.words(f"control.{name}.help"),
                on_change=on_change,
            )
            if file is not None:
                files[key] = run_context.UploadedFile(file.name, bytes(file.getvalue()))
            elif key in files:
                st.caption(self.text("frame.file_in_use", name=escape_markdown(files[key].name)))

                def remove() -> None:
                    files.pop(key, None)

                st.button(
                    self.text("frame.file_remove"), key=f"{key}.remove", type="tertiary",
                    icon=":material/close:", on_click=remove,
                )  # fmt: skip
        return files[key].content if key in files else None

    def pick(self, name: str, options: Sequence[str], first: int) -> str:
        """Show a menu among the controls and return the choice."""
        with self.side:
            label = self.words(f"control.{name}.label")
            key = f"{self.prefix}.{name}"
            chosen = str(st.selectbox(label, options, first, key=key, persist_state="session"))
            run_context.session().picks[key] = chosen
            return chosen


def render_safely(body: Callable[[], None], words: Callable[..., str]) -> None:
    """Run a bench; an error becomes one sentence in its place, and the page stays intact."""
    try:
        body()
    except ValueError as refusal:
        st.warning(to_message(refusal, words), icon=":material/info:")
    except Exception:
        log.exception("page: a bench failed")
        st.error(words("frame.failed"), icon=":material/error:")
