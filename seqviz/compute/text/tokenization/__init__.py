"""Tokenization: characters, bytes, words, WordPiece, byte-pair encoding."""
