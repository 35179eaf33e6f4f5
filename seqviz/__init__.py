"""Sequence models you can touch: mathematics, figures and lessons."""

from seqviz.core import deprecated

deprecated.install()
