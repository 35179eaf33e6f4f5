"""Benches as standalone pages without Streamlit, to be framed in slides and course pages."""
