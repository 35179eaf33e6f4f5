"""The front door: one live bench, and the lessons in teaching order."""

import streamlit as st

from seqviz.ui.page import header, home

text = header.open_page("home")
st.markdown(text("home.goal"))
home.bench(text)
home.bookmarks(text)
home.search(text)
home.cards(text)
