"""What the page does in the browser by itself, and then tells the server: two small scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import streamlit as st

from seqviz.text import ASSETS
from seqviz.ui import looks


def watch_theme(lang: str) -> None:
    """Run the page again when the reader switches the theme, so that every chart is repainted.

    Charts carry the theme's name (`Show.chart`): Streamlit repaints a chart only when it differs.
    The script also tells the browser the language of the page, for its voice and its fonts.
    """
    _component("theme")(
        key="theme",
        data={"theme": looks.theme(), "lang": lang},
        on_theme_change=lambda: None,
        height=0,
    )


def settle(prefix: str, settings: Mapping[str, str], follow: Callable[[], None]) -> None:
    """Call `follow` when the settings of a bench have not changed for a quarter of a second."""
    _component("settle")(
        key=f"{prefix}.settle",
        data={"bench": prefix, "settings": json.dumps(settings)},
        on_settled_change=follow,
        height=0,
    )


@cache
def _component(name: str) -> Any:
    return st.components.v2.component(
        f"seqviz_{name}",
        html="<span></span>",
        js=(ASSETS / "static" / f"{name}.js").read_text("utf-8"),
    )
