"""Streamlit user interface and server: pages, live responses, embeds, rooms."""
