"""Figures of ids, vocabularies, one-hot vectors and windows."""
