"""Vectors of words: tables, maps, analogies, counted and learned from neighbors, in a sentence."""
