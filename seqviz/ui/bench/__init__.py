"""A bench: its controls, its figure, and what stands around it."""
