"""Patch: a callback adds fragments to the run instead of replacing it.

Streamlit merges messages that arrive during a run into one run. There `st.rerun(keys)` in one
callback *replaces* the run, and the requests of other callbacks are lost: a slider had moved
without its figure, or a requested bench stayed a placeholder. Unpatched, that happens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from seqviz.ui.streamlit_patches.patch import Patch

_rerun: Callable[[Sequence[str]], None] = st.rerun


def draw_besides(keys: Sequence[str]) -> None:
    """Render the fragments with these keys instead of the one whose callback this is.

    The other fragments of the run are rendered as well. In a run of the whole page the call
    returns, because that run includes all fragments.
    """
    _rerun(keys)


def _besides(keys: Sequence[str]) -> None:
    from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx
    from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

    context = get_script_run_ctx()
    merged = context.fragment_ids_this_run if context is not None else None
    if not merged:
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


def apply() -> None:
    """Apply the patch."""
    global _rerun
    _rerun = _besides


PATCH = Patch(
    "fragment_reruns",
    (
        "streamlit.runtime.scriptrunner:RerunException",
        "streamlit.runtime.scriptrunner:RerunData.fragment_id_queue",
        "streamlit.runtime.scriptrunner:get_script_run_ctx",
        "streamlit.runtime.scriptrunner_utils.script_run_context:ScriptRunContext"
        ".fragment_ids_this_run",
        "streamlit.runtime.scriptrunner_utils.script_run_context:ThreadState.get",
        "streamlit.runtime.scriptrunner_utils.script_run_context:FragmentThreadState.fragment_id",
    ),
    apply,
    "Without it an interaction is lost where a bench comes near at the same time: `st.rerun` in a "
    "callback replaces the run, and no public API adds to it.",
)
