"""A message of a page that is left does not lead the reader back to it."""

from __future__ import annotations

import pytest
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests

from seqviz.ui.streamlit_patches import late_fragments


@pytest.fixture(autouse=True)
def _patched(monkeypatch):
    for of, name in ((ScriptRunner, "_run_script"), (ScriptRequests, "_request_rerun_locked")):
        monkeypatch.setattr(of, name, getattr(of, name))  # restored afterwards
    late_fragments.apply()


def merged(*rerun_data: RerunData) -> RerunData:
    requests = ScriptRequests()
    assert all(map(requests.request_rerun, rerun_data))
    return requests.on_scriptrunner_ready().rerun_data


def test_late_fragment_does_not_join_run_of_next_page():
    onward = RerunData("lang=zh", page_script_hash="next", is_history_navigation=True)
    late = RerunData("lang=en", page_script_hash="left", fragment_id="rests")
    assert merged(onward, late) == onward
    assert merged(onward, late, late) == onward


def test_rerun_merge_keeps_same_page_fragments_and_navigation():
    first, second = (RerunData(page_script_hash="here", fragment_id=name) for name in "ab")
    assert merged(first, second).fragment_id_queue == ["a", "b"]
    there = RerunData(page_script_hash="there")
    assert merged(first, there).page_script_hash == "there"
    assert merged(there, RerunData(page_script_hash="here")).page_script_hash == "here"
