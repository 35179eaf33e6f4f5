"""Figures of a model taken apart: sums of parts, layers, and what is missed without them."""
