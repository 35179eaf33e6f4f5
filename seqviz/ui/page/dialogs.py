"""Buttons that open a dialog; Streamlit allows one dialog per run."""

from __future__ import annotations

import streamlit as st

_LAST = "_panel"  # session key: the button pressed last


def asked_for(label: str, icon: str, key: str) -> bool:
    """Show a tertiary button; return True where its dialog opens.

    Of several buttons pressed before a run, the last one counts.
    """
    pressed = st.button(label, icon=icon, type="tertiary", key=key, on_click=ask_for, args=(key,))
    return pressed and st.session_state.get(_LAST) == key


def ask_for(key: str) -> None:
    """Let the dialog of this button take precedence."""
    st.session_state[_LAST] = key
