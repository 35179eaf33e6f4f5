"""Training data from a text: vocabulary, ids, one-hot vectors, windows."""
