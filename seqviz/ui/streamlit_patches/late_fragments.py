"""A run of fragments that are no more is no run.

A message may come while the server goes on to another page, of which it finds out only at the end:
`st.switch_page` is a new run. Streamlit skips a fragment that it no longer has, but has told the
browser by then that a run of the page that was left has begun. The browser takes that for the page
it shows, and empties it.

Nor does a message of the page that is left call the reader back to it: where the next page has been
asked for and has not begun, Streamlit would merge the two into a run of the page that is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqviz.ui.streamlit_patches.patch import Patch

if TYPE_CHECKING:
    from streamlit.runtime.scriptrunner import RerunData, ScriptRunner


def apply() -> None:
    """From now on, in this process."""
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
    "Who presses, and then goes on to the next lesson, would now and then find it empty, or be led "
    "back. There is no public way to refuse a run.",
)
