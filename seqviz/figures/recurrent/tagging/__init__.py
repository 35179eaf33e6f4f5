"""Figures of taggers: their errors, how far they look ahead, and one sentence with its tags."""
