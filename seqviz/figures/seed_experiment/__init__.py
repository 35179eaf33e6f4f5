"""Figures of one number over many random seeds."""
