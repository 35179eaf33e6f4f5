"""Load tests of a class under attack: `python -m benchmarks.hostile`."""
