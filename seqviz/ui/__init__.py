"""Everything that imports Streamlit: controls, page frame, caching, export."""
