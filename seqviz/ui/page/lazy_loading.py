"""Which benches of a lesson are drawn: the first at once, the others when the reader comes near.

Half of the work of opening a lesson, and half of what a reader's session holds, went into benches
below the window's edge and in closed tabs, where many readers never come. The browser tells which
ones are next (`assets/static/bench/lazy_load.js`); what has been drawn once stays drawn.
"""

from __future__ import annotations

import streamlit as st

KEY = "_reached"  # in the session's state


class Switch:
    """Whether benches wait until a browser asks for them.

    Where a browser is sure to (`ui.app.application`); a page that is run without one, as in the
    tests, is drawn whole.
    """

    on = False


LAZY = Switch()


class LazyBenches:
    """The benches of one lesson that this reader has reached."""

    def __init__(self, slug: str) -> None:
        self._slug = slug
        self._begun = False

    def register(self, name: str, is_visible: bool) -> None:
        """A bench takes its place on the page, or in a tab that is closed.

        The first one that is shown is seen without scrolling.
        """
        if is_visible and not self._begun:
            self._begun = True
            self.mark_visible([name])

    def mark_visible(self, names: list[str]) -> None:
        """These are drawn from now on, as long as the reader stays in this lesson."""
        st.session_state[KEY] = (self._slug, self._reached() | frozenset(names))

    def is_visible(self, name: str) -> bool:
        """Whether this one is drawn."""
        return not LAZY.on or name in self._reached()

    def _reached(self) -> frozenset[str]:
        slug, names = st.session_state.get(KEY, (self._slug, frozenset()))
        return names if slug == self._slug else frozenset()
