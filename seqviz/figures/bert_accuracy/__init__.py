"""Figures of the accuracy of frozen and fine-tuned encoders."""
