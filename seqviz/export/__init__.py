"""Benches outside the app: notebook widgets, room reports, figures from the command line."""
