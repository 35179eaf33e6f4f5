"""A page with the drawing of sinusoidal encodings alone: for test_browser_sinusoid.py."""

from __future__ import annotations

import json

import streamlit as st
from sinusoid_sample import BENCH, LINKED, VALUES, WORDS

from seqviz.ui.page import components, export
from seqviz.ui.page.header import presenting
from seqviz.ui.render import css

state = st.session_state
state.setdefault("values", VALUES | json.loads(st.query_params.get("values", "{}")))
state.setdefault("reports", 0)


def take(values) -> None:
    state["values"] = dict(values)
    state["reports"] += 1


def link() -> None:
    state["values"] = LINKED


st.set_page_config(layout="wide")
css.apply(presenting())
st.title("Waves")
st.button("Follow a link", on_click=link)
with st.container(border=True), st.container(key=f"{BENCH}.figure"):
    components.sinusoid(f"{BENCH}.live", state["values"], VALUES, WORDS, take)
st.text(f"{state['reports']} reports: {json.dumps(state['values'])}")
export.files_panel(lambda key: key, BENCH, None)
