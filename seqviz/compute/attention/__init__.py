"""Attention: stages with the texts' numbers, masks, scaling, and measures of heads."""
