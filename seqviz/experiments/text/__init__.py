"""Text to numbers, measured on tokenizers and word vectors of pretrained models."""
