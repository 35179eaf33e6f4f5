"""Ids, vocabularies and windows of the bundled texts, read by bundled and pretrained networks."""
