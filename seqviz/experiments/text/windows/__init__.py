"""Ids, vocabularies and windows of the bundled texts, with bundled and pretrained networks."""
