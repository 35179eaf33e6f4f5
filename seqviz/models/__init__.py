"""Pretrained models and the device that computes: weights and nothing else."""
