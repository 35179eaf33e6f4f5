"""Lazy rendering: the first bench and those it depends on at once, others when they are near.

Half of the work of opening a lesson, and half of a session's memory, went into benches below the
fold and in closed cards, which many readers never reach. The browser reports which benches are near
(`assets/static/bench/lazy_load.js`); a rendered bench stays rendered.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

KEY = "_reached"  # in the session state


class Switch:
    """Flag: True where benches wait for a browser's request.

    The server sets it (`ui.app.application`); without a browser, as in tests, all benches render.
    """

    on = False


LAZY = Switch()


class LazyBenches:
    """Benches of one lesson that this reader has reached."""

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self._begun = False

    def register(self, name: str, after: Sequence[str] = ()) -> None:
        """Register a bench; the first one is marked as reached, with those that it depends on.

        Args:
            name: of the bench.
            after: names of the benches that it depends on; they are close by on the page.
        """
        if not self._begun:
            self._begun = True
            self.mark_visible([name, *after])

    def mark_visible(self, names: list[str]) -> None:
        """Render these benches from now on, while the reader stays in this lesson."""
        st.session_state[KEY] = (self._slug, self._reached() | frozenset(names))

    def is_visible(self, name: str) -> bool:
        """Return True where the bench is rendered."""
        return not LAZY.on or name in self._reached()

    def _reached(self) -> frozenset[str]:
        slug, names = st.session_state.get(KEY, (self._slug, frozenset()))
        return names if slug == self._slug else frozenset()
