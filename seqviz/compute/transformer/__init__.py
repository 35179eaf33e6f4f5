"""The Transformer block: normalization, masks, depth, and what it costs."""
