"""Fragments: parts of a page that Streamlit draws again without the rest."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def fragment(draw: Callable[[], None], key: str, *, every: float | None = None) -> None:
    """Draw it now, and from then on by itself.

    Streamlit knows a fragment by the function's name and its place on the page, which are the same
    on every lesson: a message of the page that a reader has just left would draw in the next one.
    So the function takes its key into its name. key: within the whole app, such as "ar.process".
    every: seconds, of one that asks for itself.
    """
    draw.__qualname__ = f"{draw.__qualname__}.{key}"
    st.fragment(draw, key=key, run_every=every)()
