"""A lesson page: its benches, widgets, dialogs, header and home."""
