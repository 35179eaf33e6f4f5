"""Corpora, n-gram models and networks of the lesson "Language models"."""
