"""Figures of the Transformer block: tensors, norms, masks, depth, and cost."""
