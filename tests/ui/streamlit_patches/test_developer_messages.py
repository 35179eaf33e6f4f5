"""A visitor's message that only a developer would send changes nothing and is not answered."""

from __future__ import annotations

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession

from seqviz.ui.streamlit_patches import developer_messages


class Session(AppSession):
    """It has nothing that could answer."""

    def __init__(self) -> None:
        pass

    def __del__(self) -> None:
        pass

    def handle_backmsg_exception(self, e: BaseException) -> None:
        raise e


@pytest.mark.parametrize("name", ["load_git_info", "clear_cache", "set_run_on_save"])
def test_developer_message_is_ignored_without_reply(monkeypatch, name):
    for existing in developer_messages.NAMES:
        monkeypatch.setattr(AppSession, existing, getattr(AppSession, existing))  # is put back
    developer_messages.apply()
    sent = []
    monkeypatch.setattr(AppSession, "_enqueue_forward_msg", lambda _, msg: sent.append(msg))
    Session().handle_backmsg(BackMsg(**{name: True}))
    assert sent == []
