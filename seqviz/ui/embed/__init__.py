"""A bench in a page of its own, without Streamlit's: to be framed in slides and course pages."""
