"""Figures of the Transformer block and of what it is made of."""
