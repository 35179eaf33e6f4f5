"""Gates of trained networks: run them, look at them, force them, read them by other texts."""
