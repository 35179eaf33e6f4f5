"""One visitor against a class: `python -m benchmarks.hostile`."""
