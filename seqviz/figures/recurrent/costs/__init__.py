"""Figures of the cost of a recurrent network."""
