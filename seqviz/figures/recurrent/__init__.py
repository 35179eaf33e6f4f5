"""Figures of the lesson "RNN"."""
