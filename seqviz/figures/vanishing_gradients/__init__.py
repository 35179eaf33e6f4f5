"""Figures of gradients through time: norms, paths, truncation, memory."""
