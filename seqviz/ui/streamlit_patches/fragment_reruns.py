"""Patch: a callback adds fragments to the run instead of replacing it.

Streamlit merges messages that arrive during a run into one run. There `st.rerun(keys)` in one
callback *replaces* the run, and the requests of other callbacks are lost: a slider had moved
without its figure, or a requested bench stayed a placeholder. Unpatched, that happens. Nor does a
callback replace a page that the reader has asked for meanwhile: merged with the older request of
the callback, a navigation would lose its address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from seqviz.ui.streamlit_patches.patch import Patch

_rerun: Callable[[Sequence[str]], None] = st.rerun
_awaits_page: Callable[[], bool] = bool  # always False


def draw_besides(keys: Sequence[str]) -> None:
    """Render the fragments with these keys instead of the one whose callback this is.

    The other fragments of the run are rendered as well. In a run of the whole page the call
    returns, because that run includes all fragments.
    """
    _rerun(keys)


def draw_page() -> None:
    """Run the page again.

    The call returns where the reader has asked for a page meanwhile: that run comes next.
    """
    if not _awaits_page():
        st.rerun()


def _besides(keys: Sequence[str]) -> None:
    from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx
    from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

    context = get_script_run_ctx()
    merged = context.fragment_ids_this_run if context is not None else None
    if not merged or _is_page_requested():
        return
    try:
        st.rerun(keys)
    except RerunException as request:
        queue = request.rerun_data.fragment_id_queue
        done = {ThreadState.get().fragment_id, *queue}
        others = [item for item in merged if item not in done]
        raise RerunException(
            replace(request.rerun_data, fragment_id_queue=[*others, *queue])
        ) from None


def _is_page_requested() -> bool:
    """Return True where a run of a whole page waits, which renders everything."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx
    from streamlit.runtime.scriptrunner_utils import script_requests

    context = get_script_run_ctx()
    requests = context.script_requests if context is not None else None
    if requests is None:
        return False
    is_waiting = requests._state == script_requests.ScriptRequestType.RERUN
    return is_waiting and script_requests._is_full_app_rerun(requests._rerun_data)


def apply() -> None:
    """Apply the patch."""
    global _rerun, _awaits_page
    _rerun, _awaits_page = _besides, _is_page_requested


PATCH = Patch(
    "fragment_reruns",
    (
        "streamlit.runtime.scriptrunner:RerunException",
        "streamlit.runtime.scriptrunner:RerunData.fragment_id_queue",
        "streamlit.runtime.scriptrunner:get_script_run_ctx",
        "streamlit.runtime.scriptrunner_utils.script_requests:ScriptRequestType.RERUN",
        "streamlit.runtime.scriptrunner_utils.script_requests:_is_full_app_rerun",
        "streamlit.runtime.scriptrunner_utils.script_run_context:ScriptRunContext"
        ".fragment_ids_this_run",
        "streamlit.runtime.scriptrunner_utils.script_run_context:ThreadState.get",
        "streamlit.runtime.scriptrunner_utils.script_run_context:FragmentThreadState.fragment_id",
    ),
    apply,
    "Without it an interaction is lost where a bench comes near at the same time: `st.rerun` in a "
    "callback replaces the run, and no public API adds to it.",
)
