"""Train the shipped network that reads a window of words: `python -m tools.train_window`.

The numbers on its card are those of the file in half precision.
"""

from __future__ import annotations

import argparse
import dataclasses
from dataclasses import replace

import numpy as np
import torch

from seqviz.compute.language_models.window_training import BATCH, WindowSettings
from seqviz.data.reviews import SOURCE
from seqviz.experiments.language_models.corpora import corpus
from seqviz.experiments.language_models.window import TrainedWindow, held_out, train_window
from seqviz.models import checkpoints
from tools.checkpoints import write_arrays

SCRIPT = "tools/train_window.py"
SETTINGS = WindowSettings(words=5_000, updates=2_000)


def ship(trained: TrainedWindow, settings: WindowSettings) -> None:
    """Write a trained network in half precision, with its card."""
    arrays = {part: getattr(trained.network, part) for part in checkpoints.WINDOW_ARRAYS}
    halved = {part: array.astype(np.float16).astype(np.float32) for part, array in arrays.items()}
    network = replace(trained.network, **halved)
    bits = held_out(corpus("en", "words", settings.words), network.bits)
    card = {
        "kind": "window",
        "data": "movie reviews and editorials, 95% of the sentences; the commonest words",
        "license": "data MIT: " + SOURCE,
        "settings": {**dataclasses.asdict(settings), "batch": BATCH},
        "metric": {"name": "bits per word, held-out sentences", "value": round(bits.mean, 4)},
        "baseline": {"name": "frequencies of words", "value": round(trained.alone.mean, 4)},
        "unknown": round(trained.unknown, 4),
        "seconds": round(trained.seconds),
        "script": SCRIPT,
        "parameters": network.parameters,
    }
    write_arrays(checkpoints.WINDOW, arrays, {"kind": "window"}, network.words, card, np.float16)
    print(f"{bits.mean:.4f} bits per word, frequencies {trained.alone.mean:.4f}")


def progress(record: object, fraction: float | None = None) -> None:
    """Print a record of the training."""
    print(record, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=SETTINGS.updates)
    settings = replace(SETTINGS, updates=parser.parse_args().updates)
    torch.set_num_threads(1)

    ship(train_window(settings, progress), settings)


if __name__ == "__main__":
    main()
