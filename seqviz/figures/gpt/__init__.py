"""Figures of text generation by a decoder: distributions, texts, trees, and cost."""
