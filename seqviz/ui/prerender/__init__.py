"""Shell and first figure of a page, shown before Streamlit connects."""
