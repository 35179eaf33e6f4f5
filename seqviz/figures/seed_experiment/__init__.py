"""Figures of one number at many random seeds."""
