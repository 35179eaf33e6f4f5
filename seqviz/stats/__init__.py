"""Intervals of means, ratios and proportions."""
