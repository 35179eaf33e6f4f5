"""A decoder that writes (greedily, by draws, with beams, as a tree), and what it expects."""
