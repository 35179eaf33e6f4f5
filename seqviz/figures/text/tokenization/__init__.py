"""Figures of cut texts: aligned strips, merges, prefixes tried."""
