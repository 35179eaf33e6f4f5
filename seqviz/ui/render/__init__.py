"""Conversion of a bench's output to HTML, CSS, JSON and links."""
