"""Computations with torch and numpy; results are frozen dataclasses of numpy arrays."""
