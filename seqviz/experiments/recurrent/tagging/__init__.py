"""Taggers of letters and words, trained or shipped, on the bundled sentences."""
