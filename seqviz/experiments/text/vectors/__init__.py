"""Vectors of words measured: bundled GloVe, tables and layers of MiniLM, reviews."""
