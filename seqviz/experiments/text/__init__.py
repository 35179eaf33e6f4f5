"""Tokenizers and word vectors of pretrained models, measured."""
