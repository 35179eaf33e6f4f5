"""Small models, and those that the tests of `seqviz.models` use."""

from tests.models.conftest import cache, few_layers, head, put, shallow, tiny_files

__all__ = ["cache", "few_layers", "head", "put", "shallow", "tiny_files"]
