"""The first figure of a page, rendered before Streamlit connects."""
