"""The Transformer block: its norms, its masks, its data flow, its depth and what it costs."""
