"""Figures of tagging: a tag for each character of a text."""
