"""Figures of readouts from the states of a recurrent network."""
