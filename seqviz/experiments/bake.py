"""Downloads before a course: the default models and the sentence vectors.

Runs as `python -m seqviz bake` and when the container image is built.
"""

from __future__ import annotations

import sys

from seqviz.experiments.bert_accuracy import features
from seqviz.models import __main__ as models
from seqviz.models import store
from seqviz.models.registry import DEFAULTS, OTHERS, allowed, model


def bake() -> int:
    """Download and verify the models of the lessons and compute the sentence vectors.

    Returns:
        Exit status: 0 on success, else nonzero with the error printed.
    """
    offered = {record.name for record in allowed()}
    names = [name for name in DEFAULTS.values() if name in offered]
    names += [record.name for record in OTHERS]
    failed = max((models.fetch(name) or models.verify(name) for name in names), default=0)
    if failed or DEFAULTS["encoder"] not in names:
        return failed
    encoder = DEFAULTS["encoder"]
    features.make(encoder)
    folder = store.cache() / "features"
    if not all(any(folder.glob(f"{encoder}-{part}-*.npz")) for part in features.SPLITS):
        print(f"The sentence vectors could not be written to {folder}.", file=sys.stderr)
        return 1
    print(f"{model(encoder).title}: sentence vectors in {folder}")
    return 0
