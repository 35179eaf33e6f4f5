"""Sequence tagging with recurrent networks: word boundaries and parts of speech."""
