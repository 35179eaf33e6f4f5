"""Taggers of letters and of words, trained or shipped, on the bundled sentences."""
