"""Figures of the Transformer block: its tensors, norms, masks, depth, and what it costs."""
