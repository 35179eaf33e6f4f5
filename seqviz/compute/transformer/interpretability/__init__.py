"""Interpretability of a Transformer: logit attribution, lenses, ablation, induction heads."""
