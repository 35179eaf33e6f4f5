"""Figures of what a recurrent network costs."""
