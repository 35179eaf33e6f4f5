"""Job of a bench on a page: start, queue position, progress, cancel, result.

A script run never trains. It submits to the queues of `seqviz.jobs`, and a small fragment polls the
bench's job; equal settings share one job for all sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from seqviz import jobs
from seqviz.core.errors import MessageError
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.host import FigureCall
from seqviz.models import device, placement
from seqviz.ui.page.fragments import fragment
from seqviz.ui.quota import charging
from seqviz.ui.render.job_state import client_id, find_job, session_id
from seqviz.ui.runtime.result_cache import render
from seqviz.ui.streamlit_patches.fragment_reruns import draw_page

if TYPE_CHECKING:
    from seqviz.ui.page.bench_view import BenchView

POLL_SECONDS = 0.6
STREAM_SECONDS = 0.2  # between two figures of a running training
PER_WATCHER_SECONDS = 0.02  # each page draws its own figure
ACTIVE = ("queued", "running")


def show_job(
    view: BenchView,
    function: Callable[..., Any],
    keywords: Mapping[str, Any],
    so_far: FigureCall | None,
    rerun: bool = False,
) -> jobs.Job[Any] | None:
    """Show start button, queue position or progress of a job; return the job once it is done.

    What is shown stays for this run even if the job ends meanwhile, so there is one figure. While
    the job waits or runs, its own fragment polls and nothing else on the page reruns; when it ends,
    the page reruns once.

    Args:
        view: the bench on the page.
        function: of the job.
        keywords: its arguments.
        so_far: draws a figure of the partial result.
        rerun: an earlier result stays on the page until the new one is there.
    """
    text = view.text
    job = find_job(function, keywords)
    state = "none" if job is None else job.state
    view.training = "" if job is None else job.key.hex()
    if state == "done":
        return job
    if job is None or state not in ACTIVE:
        _start_button(view, function, keywords, job, rerun)
        return None
    me = session_id()
    # A page that shows the job subscribes: it may be the one that started it, reloaded.
    job.subscribe(me, client_id())
    refused = _refused(view.prefix)

    def cancel() -> None:
        job.unsubscribe(me)

    def poll() -> None:
        # A job without owners ends at its next report, which may be a slow update away.
        if job.state not in ACTIVE or not job.owners:
            if job.state == "cancelled" and job.error is not None:
                st.session_state[refused] = job.error
            return draw_page()
        job.heartbeat(me)
        position = job.position
        label = (
            text("work.queued", position=position)
            if position
            else view.words("work.running", percent=f"{100 * job.fraction:.0f}")
        )
        progress_row(view, job.fraction, label, "cancel", cancel)
        trail = job.trail
        if rerun:
            return  # the earlier figure stays
        measured = trail and getattr(trail[-1], "fraction", 1) > 0  # a first report may be empty
        if measured and so_far:
            draw, *chosen = so_far
            figure = render(draw, (trail, *chosen), {"style": view.style}, shared=False)
            view.chart(figure)
            view.replay(figure.chart)
        else:
            st.skeleton(view.style.height)  # as high as the figure to come

    with view.stage:
        streams = so_far is not None and not rerun
        every = seconds_between_polls(job.owners) if streams else POLL_SECONDS
        fragment(poll, f"{view.prefix}.job", every=every)
    return None


def seconds_between_polls(watchers: int) -> float:
    """Return the time between two figures of a running training, longer where a class watches.

    Args:
        watchers: number of pages that show the training.
    """
    return min(POLL_SECONDS, max(STREAM_SECONDS, PER_WATCHER_SECONDS * watchers))


def progress_row(
    view: BenchView, share: float, label: str, key: str, stop: Callable[[], None]
) -> None:
    """Show a progress bar with a button that stops the work.

    Args:
        view: the bench on the page.
        share: finished part, 0 to 1.
        label: text of the bar.
        key: last part of the button's key.
        stop: called by the button.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(share, label, width="stretch")
        st.button(
            view.text("work.cancel"), icon=":material/stop:", key=f"{view.prefix}.{key}",
            on_click=stop,
        )  # fmt: skip


def _start_button(
    view: BenchView,
    function: Callable[..., Any],
    keywords: Mapping[str, Any],
    former: jobs.Job[Any] | None,
    rerun: bool,
) -> None:
    """Show the start button, and why the previous job failed or was rejected."""
    refused = st.session_state.pop(_refused(view.prefix), None)
    height: Any = "content" if rerun else view.style.height
    with view.stage, st.container(height=height, border=False):
        if refused is not None:
            st.warning(to_message(refused, view.words), icon=":material/info:")
        if former is not None and isinstance(former.error, ValueError):
            st.warning(to_message(former.error, view.words), icon=":material/info:")
        elif former is not None and former.state == "failed":
            st.error(view.text("frame.failed"), icon=":material/error:")
        if not rerun:
            st.info(view.words("hint.train"), icon=":material/play_arrow:")
    with view.side:
        st.button(
            view.words("work.anew" if rerun else "work.start"),
            type="secondary" if rerun else "primary",
            icon=":material/play_arrow:",
            key=f"{view.prefix}.start",
            on_click=_start,
            args=(view.prefix, function, dict(keywords)),
            width="stretch",
        )


def _start(prefix: str, function: Callable[..., Any], keywords: Mapping[str, Any]) -> None:
    """Submit the job (callback of the start button)."""
    device.prepare_torch()
    kind = placement.of(function, keywords).kind
    refused = _refused(prefix)
    try:
        charging.check_jobs(session_id(), function)
        mine = {"owner": session_id(), "group": client_id()}
        jobs.queue_for(kind).submit(function, **mine, **keywords, device=kind)
    except MessageError as limit:
        st.session_state[refused] = limit
    except jobs.QueueFullError as full:
        st.session_state[refused] = MessageError("queue_full", waiting=full.waiting)


def _refused(prefix: str) -> str:
    """Return the session key under which a bench stores why its last start was rejected."""
    return f"{prefix}._refused"
