"""Text to numbers: tokenization, windows of a text, and word vectors."""
