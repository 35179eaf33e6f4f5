"""Figures of interpretability: logit attribution, lenses, ablation, induction."""
