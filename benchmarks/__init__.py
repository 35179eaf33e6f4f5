"""Measurements: `python -m benchmarks.<name>` prints a table and, last, one JSON line."""
