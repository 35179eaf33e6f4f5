"""A click on a figure sets two controls; what is no place on it sets none."""

from __future__ import annotations

import math

import pytest
from streamlit.testing.v1 import AppTest

WORDS = (math.nan, math.inf, -math.inf, None, True, "3", [1.0], 10**400, -(10**400))


def page() -> None:
    """Two sliders, and a picture on which the session's `place` is clicked."""
    from dataclasses import dataclass

    import streamlit as st

    from seqviz.lessons.framework.controls import slider
    from seqviz.lessons.framework.output import ClickBindings
    from seqviz.ui.render.clicks import on_pick

    @dataclass(frozen=True)
    class Two:
        earlier: int = slider(1, 50, 7)
        share: float = slider(0.0, 1.0, 0.5, 0.05)

    st.slider("earlier", 1, 50, 7, key="b.earlier")
    st.slider("share", 0.0, 1.0, 0.5, 0.05, key="b.share")
    st.text_input("pairs", "1.2", key="b.pairs")
    move = on_pick("b", Two, ClickBindings(picks=("earlier", "share")))
    toggle = on_pick("b", None, ClickBindings(toggles=("pairs", "xy")))
    st.button("move", key="move", on_click=lambda: move(*st.session_state.place))
    st.button("toggle", key="toggle", on_click=lambda: toggle(*st.session_state.place))


@pytest.fixture
def clicked():
    """`clicked(place, kind)`: what the controls are after a click there."""
    app = AppTest.from_function(page)
    app.session_state["place"] = (0, 0)
    app.run()

    def click(x: object, y: object, kind: str = "move") -> list[object]:
        app.session_state["place"] = (x, y)
        app.button(kind).click().run()
        assert not app.exception
        return [app.session_state[f"b.{name}"] for name in ("earlier", "share", "pairs")]

    return click


def test_on_pick_ignores_invalid_coordinates(clicked):
    for word in WORDS:
        assert clicked(word, word) == clicked(word, word, "toggle") == [7, 0.5, "1.2"], word
        assert clicked(1, word, "toggle") == [7, 0.5, "1.2"], word
    assert clicked(math.nan, 0.31) == [7, 0.3, "1.2"]  # the other one is a place


def test_on_pick_clamps_to_figure_edge(clicked):
    assert clicked(1e300, -1e300) == [50, 0.0, "1.2"]
    assert clicked(12.4, 0.26) == [12, 0.25, "1.2"]
    assert clicked(1e300, 1, "toggle") == clicked(-1, 2, "toggle") == [12, 0.25, "1.2"]
    assert clicked(3, 4, "toggle") == [12, 0.25, "1.2 3.4"]
    assert clicked(1.1, 1.9, "toggle") == [12, 0.25, "3.4"]
