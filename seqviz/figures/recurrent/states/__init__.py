"""Figures of what is read off the states of a recurrent network."""
