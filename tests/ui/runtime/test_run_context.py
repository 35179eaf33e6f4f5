"""Whose lesson it is that runs in a thread."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

PAGE = """
import streamlit as st
from seqviz.ui.runtime import run_context

with run_context.page("gates"):
    pass
st.session_state.around = run_context.lesson()
with run_context.lesson_scope():
    st.session_state.question = run_context.lesson()
with run_context.page("attention"), run_context.lesson_scope():
    st.session_state.within = run_context.lesson()
"""


def test_lesson_scope_restores_lesson_of_fragment():
    """A fragment that reruns on its own belongs to the lesson of its page."""
    state = AppTest.from_string(PAGE).run().session_state
    assert (state.around, state.question, state.within) == ("none", "gates", "attention")


def test_page_keeps_session_state_between_visits():
    state = (
        AppTest.from_string("""
import streamlit as st
from seqviz.ui.runtime import run_context

for slug in ("gates", "none", "gates"):
    with run_context.page(slug):
        st.session_state[f"seen.{slug}"] = dict(st.session_state)
        st.session_state["ga.watch.step"] = 40
with run_context.page("gates"):  # the same visit
    st.session_state.kept = st.session_state["ga.watch.step"]
""")
        .run()
        .session_state
    )
    assert state["seen.none"]["ga.watch.step"] == 40
    assert state["seen.gates"]["ga.watch.step"] == 40
    assert state.kept == 40
