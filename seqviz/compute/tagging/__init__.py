"""Tagging: a tag for each character of a text."""
