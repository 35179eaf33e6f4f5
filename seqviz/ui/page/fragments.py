"""Fragments: parts of a page that Streamlit reruns without the rest."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def fragment(draw: Callable[[], None], key: str, *, every: float | None = None) -> None:
    """Run `draw` now, and again as a fragment.

    Streamlit identifies a fragment by function name and position on the page, which are the same on
    every lesson: a message of the page just left would rerun a fragment of the next page. The key
    therefore becomes part of the function's name.

    Args:
        draw: renders the fragment.
        key: unique within the app, such as "ar.process".
        every: seconds between automatic reruns.
    """
    draw.__qualname__ = f"{draw.__qualname__}.{key}"
    st.fragment(draw, key=key, run_every=every)()
