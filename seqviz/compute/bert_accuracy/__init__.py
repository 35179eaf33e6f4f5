"""Accuracy with intervals: systems compared sentence by sentence on the same test set."""
