"""Figures of LAC, a tagger of Chinese characters."""
