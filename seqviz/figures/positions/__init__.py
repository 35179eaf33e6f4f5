"""Figures of positional information: encodings, biases, tasks."""
