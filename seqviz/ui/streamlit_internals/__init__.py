"""What reaches into Streamlit's private names, in one place."""
