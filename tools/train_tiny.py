"""Train the tiny networks whose gates have a known job: `python -m tools.train_tiny`."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict

import numpy as np
import torch

from seqviz.compute.gates.networks import accuracy
from seqviz.compute.gates.tasks import ANSWERS, TASKS, draw
from seqviz.compute.gates.tiny import recommended, train_tiny
from tools.checkpoints import write_network

SCRIPT = "tools/train_tiny.py"
FRESH = 2000  # sequences, as long as in training, and twice as long


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    torch.set_num_threads(1)
    for task in TASKS:
        for cell in ("lstm", "gru"):
            settings = recommended(task, cell)
            started = time.perf_counter()
            found = train_tiny(settings)
            seconds = time.perf_counter() - started
            usual, twice = (
                accuracy(found.network, draw(task, n, FRESH, np.random.RandomState(12345)))
                for n in (settings.length, 2 * settings.length)
            )
            card = {
                "data": "made by seqviz.compute.gates.tasks.draw",
                "license": "none needed",
                "settings": asdict(settings),
                "metric": {
                    "name": f"accuracy on 2,000 fresh sequences of {settings.length} symbols",
                    "value": round(usual, 4),
                    "twice_as_long": round(twice, 4),
                },
                "baseline": {"name": "guessing", "value": round(1 / len(ANSWERS[task]), 4)},
                "seconds": round(seconds, 1),
                "script": SCRIPT,
            }
            write_network(found.network, card)
            print(f"{task} {cell}: {usual:.4f}, twice as long {twice:.4f}, {seconds:.1f} s")


if __name__ == "__main__":
    main()
