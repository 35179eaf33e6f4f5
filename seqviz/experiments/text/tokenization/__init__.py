"""Vocabularies that came with the app or with a model, and a tokenizer trained on the reviews."""
