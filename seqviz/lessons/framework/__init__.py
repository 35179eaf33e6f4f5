"""Building blocks of a bench: declared parameters, a body, and its output as data."""
