"""Accuracy with its uncertainty: systems compared sentence by sentence on the same test set."""
