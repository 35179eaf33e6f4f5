"""Lesson page: benches, widgets, dialogs, header and home."""
