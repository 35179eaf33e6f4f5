"""Sequence models you can touch: mathematics, figures and lessons."""
