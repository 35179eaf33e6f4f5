"""Text as numbers: tokenization, training windows, and word vectors."""
