"""SeqViz: lessons in a browser in which students move sliders on live sequence models."""

import streamlit as st

from seqviz import catalog
from seqviz.text import Text
from seqviz.ui import header, startup

startup.prepare()
text = Text(header.language())
st.set_page_config(page_icon="assets/static/icon.svg", layout="wide")

home = st.Page("pages/home.py", title=text("frame.map"), icon=":material/map:", default=True)
pages = {"": [home]}
for lesson in catalog.LESSONS:
    page = st.Page(f"pages/{lesson.slug}.py", title=text(f"{lesson.slug}.title"), icon=lesson.icon)
    pages.setdefault(text(f"nav.{lesson.group}"), []).append(page)
st.navigation(pages, position="top").run()
