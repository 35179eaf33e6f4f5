"""Measurements of word vectors: bundled GloVe, tables and layers of MiniLM, reviews."""
