"""Arrays in, Plotly figures and Altair charts out. Never torch, never Streamlit."""
