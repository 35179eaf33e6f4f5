"""Fragments that a callback asks for are drawn besides what else the reader has asked for.

Streamlit merges the messages that come from one reader while it draws into one run. There
`st.rerun(keys)` in the callback of one *replaces* the run, and with it what the others wanted: a
slider had moved and its figure not, or a bench that had been asked for stayed grey. Unpatched, that
happens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from seqviz.ui.streamlit_patches.patch import Patch

_rerun: Callable[[Sequence[str]], None] = st.rerun


def draw_besides(keys: Sequence[str]) -> None:
    """In the callback of a fragment: draw the fragments with these keys instead of it.

    What the run was to draw besides that fragment, it draws. Where the run is of the whole page,
    the call returns, as all of these are in it.
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
    """From now on, in this process."""
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
    "A press would be lost where a bench comes near at the same time: `st.rerun` in a callback "
    "replaces the run, and there is no public way to add to it.",
)
