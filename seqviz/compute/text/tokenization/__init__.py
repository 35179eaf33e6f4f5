"""How a text is cut into pieces: characters, bytes, words, WordPiece, byte-pair merges."""
