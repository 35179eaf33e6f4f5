"""Figures of the lesson "Language models"."""
