"""Train the tiny networks of the gate tasks: `python -m tools.train_tiny`.

With `--measure` nothing is trained; the existing cards get the numbers of `measured`.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

from seqviz.compute.gates.networks import GatedNetwork, accuracy, sequence_accuracy
from seqviz.compute.gates.tasks import TASKS, draw, majority, majority_whole
from seqviz.compute.gates.tiny import recommended, train_tiny
from seqviz.models import checkpoints
from tools.checkpoints import remeasure, write_network

SCRIPT = "tools/train_tiny.py"
FRESH = 2000  # new sequences of each length


def measured(network: GatedNetwork, length: int) -> dict[str, dict[str, Any]]:
    """Return metric and baseline on new sequences of `length` symbols and of twice that length.

    The baseline gives the most frequent answer at every step.
    """
    usual, twice = (
        draw(network.kind, n, FRESH, np.random.RandomState(12345)) for n in (length, 2 * length)
    )
    return {
        "metric": {
            "name": f"accuracy on 2,000 fresh sequences of {length} symbols",
            "value": round(accuracy(network, usual), 4),
            "twice_as_long": round(accuracy(network, twice), 4),
            "whole": round(sequence_accuracy(network, usual), 4),
            "whole_twice_as_long": round(sequence_accuracy(network, twice), 4),
        },
        "baseline": {
            "name": "the most frequent answer",
            "value": round(majority(usual), 4),
            "twice_as_long": round(majority(twice), 4),
            "whole": round(majority_whole(usual), 4),
            "whole_twice_as_long": round(majority_whole(twice), 4),
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true")
    torch.set_num_threads(1)
    only = parser.parse_args().measure
    for task in TASKS:
        for cell in ("lstm", "gru"):
            settings = recommended(task, cell)
            if only:
                name = f"{task}_{cell}"
                remeasure(name, **measured(checkpoints.load(name), settings.length))
                continue
            started = time.perf_counter()
            tiny = train_tiny(settings)
            card = {
                "data": "made by seqviz.compute.gates.tasks.draw",
                "license": "none needed",
                "settings": asdict(settings),
                **measured(tiny.network, settings.length),
                "seconds": round(time.perf_counter() - started, 1),
                "script": SCRIPT,
            }
            write_network(tiny.network, card)
            print(f"{task} {cell}: {card}")


if __name__ == "__main__":
    main()
