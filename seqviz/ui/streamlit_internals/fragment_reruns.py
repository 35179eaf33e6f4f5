"""Fragments that a callback asks for are drawn besides what else the reader has asked for.

Streamlit merges the messages that come from one reader while it draws into one run. There
`st.rerun(keys)` in the callback of one *replaces* the run, and with it what the others wanted: a
slider had moved and its figure not, or a bench that had been asked for stayed grey.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState


def draw_besides(keys: Sequence[str]) -> None:
    """In the callback of a fragment: draw the fragments with these keys instead of it.

    What the run was to draw besides that fragment, it draws. Where the run is of the whole page,
    the call returns, as all of these are in it.
    """
    context = get_script_run_ctx()
    merged = context.fragment_ids_this_run if context is not None else None
    if not merged:
        return
    try:
        st.rerun(keys)
    except RerunException as asked:
        queue = asked.rerun_data.fragment_id_queue
        done = {ThreadState.get().fragment_id, *queue}
        others = [one for one in merged if one not in done]
        raise RerunException(
            replace(asked.rerun_data, fragment_id_queue=[*others, *queue])
        ) from None
