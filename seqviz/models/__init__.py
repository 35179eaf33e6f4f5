"""Pretrained models and the device that computes."""
