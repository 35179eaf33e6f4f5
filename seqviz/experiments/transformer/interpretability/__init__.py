"""Interpretability of a pretrained model: attribution, lenses by layer, ablation."""
