"""Patch: ignore rerun requests for fragments of a page that was left.

A message may arrive while the server switches to another page: `st.switch_page` is a new run.
Streamlit skips a fragment that no longer exists, but only after it has told the browser that a run
of the previous page has begun. The browser attributes that to the page it shows, and clears it.

Where the next page is requested but has not begun, Streamlit would also merge the two requests into
a run of the previous page and take the reader back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from streamlit.runtime.scriptrunner import RerunData, ScriptRunner


def apply() -> None:
    """Apply the patch."""
    from streamlit.runtime.scriptrunner import ScriptRunner
    from streamlit.runtime.scriptrunner_utils.script_requests import (
        ScriptRequests,
        ScriptRequestType,
    )

    run, request = ScriptRunner._run_script, ScriptRequests._request_rerun_locked

    def unless_gone(runner: ScriptRunner, rerun_data: RerunData) -> None:
        queue = rerun_data.fragment_id_queue
        if not queue or any(map(runner._fragment_storage.contains, queue)):
            run(runner, rerun_data)

    def unless_left(requests: ScriptRequests, rerun_data: RerunData) -> bool:
        waits = requests._state == ScriptRequestType.RERUN
        elsewhere = rerun_data.page_script_hash != requests._rerun_data.page_script_hash
        if waits and elsewhere and (rerun_data.fragment_id or rerun_data.fragment_id_queue):
            return True
        return request(requests, rerun_data)

    ScriptRequests._request_rerun_locked = unless_left  # type: ignore[assignment, method-assign]
    ScriptRunner._run_script = unless_gone  # type: ignore[assignment, method-assign]


PATCH = Patch(
    "late_fragments",
    (
        "streamlit.runtime.scriptrunner:RerunData.fragment_id_queue",
        "streamlit.runtime.scriptrunner:ScriptRunner._run_script",
        "streamlit.runtime.fragment:MemoryFragmentStorage.contains",
        "streamlit.runtime.scriptrunner_utils.script_requests:ScriptRequestType.RERUN",
        "streamlit.runtime.scriptrunner_utils.script_requests:ScriptRequests._request_rerun_locked",
    ),
    apply,
    "Without it a reader who uses a widget and then opens the next lesson sometimes finds it "
    "empty or is taken back. No public API rejects a run.",
)
