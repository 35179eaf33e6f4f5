"""Base layer of all packages: errors, settings, paths, units, translations and file writes."""
