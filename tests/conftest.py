"""Shape checks for the whole suite: jaxtyping annotations in `compute` are enforced by beartype."""

from jaxtyping import install_import_hook

install_import_hook("seqviz.compute", "beartype.beartype")
