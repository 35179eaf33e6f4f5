"""Loading of a pretrained model on first use, with progress and a stop button.

Several benches may need the same model. One of them shows the progress; the page reruns when the
model is loaded. Loading has its own queue, so no training waits for a download.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import streamlit as st

from seqviz import jobs
from seqviz.lessons.framework.error_messages import to_message
from seqviz.models import pretrained, ready
from seqviz.models.registry import model as record_of
from seqviz.ui.page.fragments import fragment
from seqviz.ui.page.job_progress import ACTIVE, POLL_SECONDS, progress_row
from seqviz.ui.render.job_state import client_id, device_of, session_id
from seqviz.ui.streamlit_patches.fragment_reruns import draw_page

if TYPE_CHECKING:
    from seqviz.ui.page.bench_view import BenchView

QUEUE = "models"


def wait_for(view: BenchView, model: str, text: str | None, other: str) -> str | None:
    """Return the device of a model that has read this text, or will within a second.

    Otherwise return None, and the bench shows what it waits for. Of several benches that wait for
    one model, the first shows progress and buttons, the others a sentence. Raises the errors of
    `ready.is_ready`.
    """
    leaders = _leaders()
    if ready.is_ready(model, text, other):
        if leaders.get(model) == view.prefix:
            del leaders[model]
        return device_of(model)
    requested: dict[str, Any] = {"model": model, "text": text, "other": other, "device": QUEUE}
    queue = jobs.queue_for(QUEUE)
    job = queue.find(ready.load_job, **requested)
    if job is not None and job.state == "done" and pretrained.loaded(model):
        # It was read before and its entry evicted since: this run reads it again.
        return device_of(model)
    stopped = f"_{model}.stopped"
    failed = job is not None and job.state == "failed"
    if leaders.setdefault(model, view.prefix) != view.prefix:
        missing = failed or st.session_state.get(stopped)
        with view.stage:
            state = "work.model_stopped" if missing else "work.model_above"
            st.info(view.text(state, model=record_of(model).title))
        return None
    if failed or st.session_state.get(stopped):
        _offer(view, requested, stopped, job if failed else None)
        return None
    try:  # an equal request of another client is the same job
        job = queue.submit(ready.load_job, owner=session_id(), group=client_id(), **requested)
    except jobs.QueueFullError as full:
        with view.stage:
            st.warning(view.text("problem.queue_full", waiting=full.waiting))
        return None
    _progress(view, model, job, stopped)
    return None


def begin() -> None:
    """Forget the leading benches at the start of a page run."""
    _leaders().clear()


def _leaders() -> dict[str, str]:
    """Return, by model, the bench that shows its progress."""
    result: dict[str, str] = st.session_state.setdefault("_leaders", {})
    return result


def _progress(view: BenchView, model: str, job: jobs.Job[str], stopped: str) -> None:
    me, text, title = session_id(), view.text, record_of(model).title
    job.heartbeat(me)

    def stop() -> None:
        job.unsubscribe(me)
        st.session_state[stopped] = True

    def poll() -> None:
        if job.state not in ACTIVE:
            return draw_page()
        job.heartbeat(me)
        stage = job.trail[-1] if job.trail else "load"
        size = f"{ready.size(model) / 1e6:,.0f}"
        label = text(f"work.model_{stage}", model=title, size=size)
        progress_row(view, job.fraction, f"{label} {100 * job.fraction:.0f}%", "stop", stop)
        st.skeleton(view.style.height)

    with view.stage:
        fragment(poll, f"{view.prefix}.model", every=POLL_SECONDS)


def _offer(
    view: BenchView, request: dict[str, Any], stopped: str, former: jobs.Job[str] | None
) -> None:
    """Show why there is no model, and a button to try again."""

    def again() -> None:
        st.session_state.pop(stopped, None)
        with contextlib.suppress(jobs.QueueFullError):  # the page offers it again
            jobs.queue_for(QUEUE).submit(
                ready.load_job, owner=session_id(), group=client_id(), **request
            )

    with view.stage, st.container(height=view.style.height, border=False):
        if former is None:
            st.info(view.text("work.model_stopped", model=record_of(request["model"]).title))
        elif isinstance(former.error, ValueError):
            st.warning(to_message(former.error, view.words), icon=":material/info:")
        else:  # logged by the queue
            st.error(view.text("frame.failed"), icon=":material/error:")
        st.button(
            view.text("work.again"), icon=":material/refresh:", type="primary",
            key=f"{view.prefix}.again", on_click=again,
        )  # fmt: skip
