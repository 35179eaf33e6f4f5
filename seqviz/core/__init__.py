"""What every package may import: errors, settings, paths, units, words, hashing and file writes."""
