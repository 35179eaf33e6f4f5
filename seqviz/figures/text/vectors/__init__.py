"""Figures of word vectors."""
