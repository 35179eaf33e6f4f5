"""Figures of how well a frozen or tuned encoder answers."""
