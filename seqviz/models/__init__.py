"""Pretrained models: weights, tokenizers, forward passes, and the device that computes them."""
