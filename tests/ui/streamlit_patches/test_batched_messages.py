"""A browser says at once what happens at once, and names one fragment: all of it is heard."""

from __future__ import annotations

import json
from unittest.mock import Mock

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.state import SessionState

from seqviz.ui.streamlit_patches import batched_messages
from testing.protocol import ProtocolClient, run_async


def near(student: ProtocolClient, _: str) -> WidgetState:
    message = json.dumps([{"event": "visible", "value": ["by_hand", "fit"]}])
    return WidgetState(id=student.widgets["ar.lazy"].events, json_trigger_value=message)


def answer(student: ProtocolClient, question: str) -> WidgetState:
    request = student.widgets[f"ar.predict.{question}"]
    return WidgetState(id=request.id, string_value=request.message.options[1])


def onward(student: ProtocolClient, name: str) -> WidgetState:
    return WidgetState(id=student.widgets[f"go.{name}"].id, trigger_value=True)


def stands(student: ProtocolClient, control: str) -> WidgetState:
    """A control says where it stands, as each does when it has been drawn."""
    payload = student.widgets[f"ar.process.{control}"]
    return WidgetState(id=payload.id, bool_value=payload.message.default)


def at_once(server, *happened, by="ar.lazy") -> ProtocolClient:
    """Somebody in a lesson to whom this happens; the message names the fragment of one of it.

    widgets: what is drawn then.
    """

    async def visit() -> ProtocolClient:
        async with ProtocolClient(server.url, "ar_fitting") as student:
            await student.open()
            states, fragment = [item(student, name) for item, name in happened], student.widgets[by]
            student.widgets.clear()
            await student.ask(states, fragment.fragment)
            assert student.errors == []
            return student

    return run_async(visit())


def test_batched_messages_draw_only_nearby_bench(server):
    student = at_once(server, (stands, "shuffle"), (near, ""))
    assert "ar.fit.chart" in student.widgets
    assert "ar.process.chart" not in student.widgets
    assert student.said == []


@pytest.mark.parametrize("by", ["ar.lazy", "ar.predict.decay"])
def test_batched_messages_reveal_answer_with_nearby_bench(server, by):
    """The bench of the question is drawn with its answer, and no further one."""
    student = at_once(server, (near, ""), (answer, "decay"), by=by)
    charts = {key for key in student.widgets if key.endswith(".chart")}
    assert charts == {"ar.process.chart", "ar.fit.chart"}
    assert len(student.said) == 1


def test_batched_messages_reveal_two_answers(server):
    happened = (answer, "decay"), (answer, "bias")
    assert len(at_once(server, *happened, by="ar.predict.decay").said) == 2


def test_batched_messages_open_next_lesson_with_nearby_bench(server):
    student = at_once(server, (near, ""), (onward, "next"))
    assert "tx.lazy" in student.widgets


@pytest.mark.parametrize(
    ("events", "is_automatic"),
    [
        (["ar.lazy__events"], True),
        (["ar.lazy__events", "ar.process.debounce__events"], True),
        (["ar.process.commit__events"], False),
        (["ar.lazy__events", "go.next"], False),
        ([], False),
    ],
)
def test_batched_messages_without_reader_are_automatic(monkeypatch, events, is_automatic):
    """Merged with such a one, the request of Back remains one of Back."""
    received = []
    monkeypatch.setattr(AppSession, "request_rerun", lambda _, state: received.append(state))
    batched_messages.apply()
    widgets = [WidgetState(id=name, json_trigger_value="[]") for name in events]
    message = ClientState(widget_states=WidgetStates(widgets=widgets))
    AppSession.request_rerun(Mock(_session_state=SessionState()), message)
    assert [state.is_auto_rerun for state in received] == [is_automatic]
