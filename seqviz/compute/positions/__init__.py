"""Positional encodings: sinusoidal, learned, rotary, relative; effect of order on attention.

All modules need only numpy and compute in float64.
"""
