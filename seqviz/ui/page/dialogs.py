"""Buttons that open a dialog. Streamlit raises on a second one in a run, so one opens."""

from __future__ import annotations

import streamlit as st

_LAST = "_panel"  # in the session's state: the panel that was asked for last


def asked_for(label: str, icon: str, key: str) -> bool:
    """A quiet button; whether its dialog opens: of several pressed before a run the last one's."""
    pressed = st.button(label, icon=icon, type="tertiary", key=key, on_click=ask_for, args=(key,))
    return pressed and st.session_state.get(_LAST) == key


def ask_for(key: str) -> None:
    """The panel of this button, before those that were asked for until now."""
    st.session_state[_LAST] = key
