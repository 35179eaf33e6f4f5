"""Attention: its stages on a small sentence, with the texts' numbers, and why scores are scaled."""
