"""Responses to a slider that is being dragged, without a Streamlit rerun."""
