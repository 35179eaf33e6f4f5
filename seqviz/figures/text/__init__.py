"""Figures of the lesson "Text to numbers"."""
