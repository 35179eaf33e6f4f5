"""Figures of attention: maps, heads, and the computation of one query step by step."""
