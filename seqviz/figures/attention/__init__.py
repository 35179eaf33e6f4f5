"""Figures of attention: maps, heads, and the way of one query step by step."""
