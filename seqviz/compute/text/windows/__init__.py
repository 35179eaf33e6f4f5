"""From a text to what a network is trained on: vocabulary, ids, one-hot vectors, windows."""
