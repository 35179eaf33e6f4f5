"""Language models by counting, and a network that reads a window of words."""
