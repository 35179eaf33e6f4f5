"""Figures of tokenization: aligned strips, merges, prefix look-ups."""
