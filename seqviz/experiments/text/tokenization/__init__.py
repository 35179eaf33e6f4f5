"""Bundled vocabularies, vocabularies of models, and a tokenizer trained on the reviews."""
