"""Positional encodings: sinusoidal, learned, rotary, relative, and what order does to attention.

Everything here needs only numpy and computes in float64.
"""
