"""Benchmarks: `python -m benchmarks.<name>` prints a table and, last, one line of JSON."""
