"""Preparation of a CUDA device before the first visitor: crossover sizes and captured passes.

A card that is not in the shipped table (`placement`) is measured once, within `MAX_SECONDS`, and
its row is kept in the cache folder. A training that was not measured stays on the CPU. Entry point:
`prepare`.
"""

from __future__ import annotations

import datetime
import importlib
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from seqviz.core.atomic_write import atomic_write
from seqviz.models import device, placement

MAX_SECONDS = 10.0  # for all rows
# Updates of two trainings. Their difference leaves out the set-up, the capture and the test.
FEW_UPDATES, MANY_UPDATES = 8, 24
TEXTS = ("So", "Music is what feelings sound like. " * 3)  # lengths for which passes are captured
GRAPH_DEVICE = "cuda"  # the kind of device whose passes are captured
N_TOKENS = 3  # written: a pass is captured at its third call
log = logging.getLogger(__name__)


class Trial(NamedTuple):
    """A short training whose time is measured.

    Attributes:
        function: key of `placement.TABLE`.
        sizes: sizes that the app offers, ascending.
        keywords: returns the arguments for (size, updates).
    """

    function: str
    sizes: tuple[int, ...]
    keywords: Callable[[int, int], dict[str, Any]]


def _series(size: int, updates: int) -> dict[str, Any]:
    from seqviz.compute.ar_fitting import replicate_paths
    from seqviz.compute.ar_fitting.network_settings import NetworkSettings

    return {
        "values": replicate_paths(0.8, 200, 2)[0],
        "settings": NetworkSettings("lstm", hidden=size, epochs=updates),
    }


def _recall(size: int, updates: int) -> dict[str, Any]:
    from seqviz.compute.vanishing_gradients.recall import RecallSettings

    return {"settings": RecallSettings(hidden=size, updates=updates)}


def _gates(size: int, updates: int) -> dict[str, Any]:
    from seqviz.compute.gates.tiny import TinySettings

    return {"settings": TinySettings(hidden=size, updates=updates)}


def _order(size: int, updates: int) -> dict[str, Any]:
    from seqviz.compute.positions.tiny import OrderSettings

    return {"settings": OrderSettings(length=6, encodings=("rotary",), runs=size, updates=updates)}


TRIALS = (
    Trial("seqviz.compute.gates.tiny.train_tiny", (32, 64, 256), _gates),
    Trial("seqviz.compute.positions.tiny.training.train", (1, 3, 5), _order),
    Trial("seqviz.compute.ar_fitting.networks.fit_network", (16, 64), _series),
    Trial("seqviz.compute.vanishing_gradients.recall.comparison.compare", (16, 32, 64), _recall),
)


def prepare(models: Sequence[str]) -> None:
    """Measure a card that is not in the table, and capture passes of loaded models.

    Nothing happens without a CUDA device. A failure is logged, and small trainings stay on the CPU.

    Args:
        models: names of models in memory.
    """
    chosen = device.choose()
    if chosen.kind != "cuda":
        return
    try:
        if placement.measured().crossover is None:
            write_crossovers(chosen.name, measure(chosen.kind))
        for name in models:
            capture(name)
    except Exception:  # errors of drivers have no common class
        log.exception("accelerator_start: not measured")


def seconds_per_update(trial: Trial, size: int, location: str) -> float:
    """Return the seconds of one update of a training.

    Args:
        trial: the training.
        size: its size.
        location: torch device type.
    """
    module, function = trial.function.rsplit(".", 1)
    train = getattr(importlib.import_module(module), function)
    seconds = []
    for updates in (FEW_UPDATES, MANY_UPDATES):
        keywords = trial.keywords(size, updates)
        started = time.perf_counter()
        train(**keywords, device=location)
        seconds.append(time.perf_counter() - started)
    return max(seconds[1] - seconds[0], 0.0) / (MANY_UPDATES - FEW_UPDATES)


def measure(
    location: str,
    seconds: Callable[[Trial, int, str], float] = seconds_per_update,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, int | None]:
    """Return the crossover size by row, for the rows for which there was time.

    Args:
        location: torch device type of the accelerator.
        seconds: `seconds_per_update`.
        clock: returns seconds.
    """
    result: dict[str, int | None] = {}
    ends = clock() + MAX_SECONDS
    for trial in TRIALS:
        cpu: dict[int, float] = {}
        there: dict[int, float] = {}
        for size in trial.sizes:
            if clock() >= ends:
                return result
            there[size] = seconds(trial, size, location)
            cpu[size] = seconds(trial, size, "cpu")
        result[placement.TABLE[trial.function].row] = placement.crossover(cpu, there)
    return result


def write_crossovers(name: str, sizes: Mapping[str, int | None]) -> None:
    """Write the crossovers of a card to the cache folder, beside those of other cards.

    Args:
        name: name of the card.
        sizes: crossover size by row.
    """
    today = str(datetime.date.today())
    row = {"name": name, "date": today, "crossover": dict(sizes), "largest": None}
    path = placement.own_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [item for item in placement.saved_rows(path) if item["name"] != name]
    with atomic_write(path) as created:
        created.write_text(json.dumps([*rows, row], indent=1) + "\n", "utf-8")
    placement.table.cache_clear()
    log.info("accelerator_start: %s measured: %s", name, dict(sizes))


def capture(name: str) -> None:
    """Run passes of a loaded model often enough that their graphs are captured.

    Args:
        name: name of the model.
    """
    from seqviz.models import cuda_graphs, forward_cache, pretrained, texts

    model = pretrained.load(name)
    if model.device != GRAPH_DEVICE or model.tokenizer is None:
        return
    for text in TEXTS:
        tokens = texts.tokens(model, text)
        for _ in range(cuda_graphs.WARM_UP + 1):
            forward_cache.forward(model, tokens)
        if model.card.kind == "decoder":
            model.run(_write, tokens.ids)


def _write(network: Any, location: str, ids: Any) -> None:
    from seqviz.models.kv_tree import ROOT, KVCacheTree

    tree = KVCacheTree(network, location, ids)
    nodes = [ROOT]
    for _ in range(N_TOKENS):
        nodes = tree.extend(nodes, [int(ids[-1])])[0]
