"""Figures of the lessons: Plotly or Altair from arrays, without torch and Streamlit."""
