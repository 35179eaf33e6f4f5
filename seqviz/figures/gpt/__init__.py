"""Figures of a decoder that writes: distributions, texts, trees, and what they cost."""
