"""The bundled character GRU on windows of held-out sentences: in order, shuffled, or reset."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gates.encoding import END, UNKNOWN
from seqviz.compute.text.windows import carried
from seqviz.compute.text.windows.carried import Carried
from seqviz.data.reviews import characters_split
from seqviz.jobs import Report, no_progress
from seqviz.models.checkpoints import load

LENGTHS = (5, 10, 20, 50, 100)
ROWS = 32
CHARACTERS = 50_000


def read_windows(
    network: str,
    lengths: tuple[int, ...] = LENGTHS,
    rows: int = ROWS,
    characters: int = CHARACTERS,
    seed: int = 0,
    report: Report = no_progress,
) -> Carried:
    """Run `carried.compare` on the first characters of the held-out sentences (a job).

    The sentences are joined by line breaks, as in training.

    Args:
        network: name of the network.
        lengths: window lengths in characters.
        rows: rows of a batch.
        characters: number of characters.
        seed: random seed.
        report: progress callback; receives the share done as both of its arguments.
    """
    result = load(network)
    anchor = {symbol: k for k, symbol in enumerate(result.symbols)}
    text = END.join(characters_split()[1])[:characters]
    ids = np.array([anchor.get(item, anchor[UNKNOWN]) for item in text])
    return carried.compare(result, ids, lengths, rows, seed, lambda share: report(share, share))
