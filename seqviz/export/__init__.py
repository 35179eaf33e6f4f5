"""Benches outside the app: notebook widgets, reports of a room, figures from the command line."""
