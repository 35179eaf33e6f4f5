"""Figures of what a model knows of places: encodings, biases, tasks."""
