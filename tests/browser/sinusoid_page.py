"""A page with the drawing of sinusoidal encodings alone: for test_browser_sinusoid.py."""

from __future__ import annotations

import json

import streamlit as st

from seqviz.ui import behavior, export, looks
from seqviz.ui.header import presenting

BENCH = "sample.wave"
VALUES = {
    "positions": 64,
    "d_model": 64,
    "base": 10000.0,
    "layout": "interleaved",
    "position": 5,
    "dimension": 6,
}
LINKED = {**VALUES, "positions": 37, "d_model": 9, "base": 750.0, "layout": "halves"}
WORDS = {
    "positions": "Positions",
    "d_model": "Dimensions d",
    "base": "Base",
    "layout": "Sines and cosines",
    "interleaved": "In turn",
    "halves": "In halves",
    "position": "Position p",
    "dimension": "Dimension j",
    "axis_position": "Position p",
    "axis_dimension": "Dimension j",
    "value": "Value",
    "size": "{positions} positions, {d_model} dimensions",
    "join": "; ",
    "some_positions": "one position in {every} shown",
    "some_dimensions": "{shown} dimensions shown",
    "dimension_is": "Dimension {dimension}: ",
    "value_at": "at p = {position}: ",
    "wavelength": "wavelength {wavelength}",
    "clocks": "Position {position} on {pairs} clocks, fast to slow",
    "some_clocks": "Position {position} on {shown} of {pairs} clocks, fast to slow",
    "no_clock": "One sine and no cosine: no clock",
    "cell": "p = {position}, j = {dimension}: {value}",
    "alt": "Dimension {dimension} of {d_model} is {formula}, {wavelength}; at {position}: {value}.",
    "table": "Encoding of position {position}",
}

state = st.session_state
state.setdefault("values", VALUES | json.loads(st.query_params.get("values", "{}")))
state.setdefault("reports", 0)


def take(values) -> None:
    state["values"] = dict(values)
    state["reports"] += 1


def link() -> None:
    state["values"] = LINKED


class Named:
    """As much of a bench as the Export panel asks for."""

    prefix = BENCH

    @staticmethod
    def text(key: str) -> str:
        return key


st.set_page_config(layout="wide")
looks.apply(presenting())
st.title("Waves")
st.button("Follow a link", on_click=link)
with st.container(border=True), st.container(key=f"{BENCH}.figure"):
    behavior.sinusoid(f"{BENCH}.live", state["values"], WORDS, take)
st.text(f"{state['reports']} reports: {json.dumps(state['values'])}")
export.files_panel(Named, None)
