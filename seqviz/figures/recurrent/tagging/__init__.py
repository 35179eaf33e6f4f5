"""Figures of taggers: errors, look-ahead, and one tagged sentence."""
