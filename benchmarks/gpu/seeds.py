"""Trainings on the device against those on the CPU, over seeds.

A training adds up rounding, so one run on another device ends elsewhere. What must not differ is
the distribution over seeds. Each row trains the same networks from the same seeds on both, compares
the two samples of a result with a Kolmogorov-Smirnov test, and states how far the runs of one seed
are apart beside how far seeds are apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import ks_2samp

from benchmarks.gpu.machine import CPU, Machine, precision
from seqviz.compute.ar_fitting import replicate_paths
from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.ar_fitting.networks import fit_network
from seqviz.compute.gates.tiny import TinySettings, train_tiny
from seqviz.compute.positions.tiny import OrderSettings, train
from seqviz.compute.transformer.learning import StackSettings
from seqviz.compute.transformer.pair import PairSettings
from seqviz.compute.transformer.pair_training import train_pair
from seqviz.compute.transformer.stack_training import train_stacks
from seqviz.compute.vanishing_gradients.recall import RecallSettings, compare

SEEDS, FEW = 12, 3  # number of seeds on a GPU, and without one
P_VALUE = 0.05  # smallest p-value, times the number of rows, at which two samples do not differ


@dataclass(frozen=True)
class SeedDifference:
    """Results of one training for the same seeds on the CPU and on the device.

    Attributes:
        result: name of the number that is compared.
        cpu: the number for each seed on the CPU.
        device: the number for each seed on the device.
        same_seed: median |device - CPU| of a seed.
        seeds: standard deviation over seeds on the CPU.
        p: p-value of the two-sample Kolmogorov-Smirnov test.
    """

    result: str
    cpu: list[float]
    device: list[float]
    same_seed: float
    seeds: float
    p: float


def seed_difference(result: str, cpu: list[float], device: list[float]) -> SeedDifference:
    """Compare the results of two devices for the same seeds.

    Args:
        result: name of the number.
        cpu: the number for each seed on the CPU.
        device: the number for each seed on the device.

    Raises:
        ValueError: if a number is not finite, as nothing can be compared then.
    """
    both = np.array([cpu, device], float)
    if not np.isfinite(both).all():
        raise ValueError("a training ended without a finite result")
    return SeedDifference(
        result,
        [float(value) for value in cpu],
        [float(value) for value in device],
        float(np.median(np.abs(both[1] - both[0]))),
        float(both[0].std(ddof=1)),
        float(ks_2samp(both[0], both[1]).pvalue),
    )


def row(name: str, machine: Machine) -> SeedDifference:
    """Train the networks of a row on both devices, in float32."""
    result, work = TRAININGS[name]
    seeds = range(FEW if machine.small else SEEDS)
    samples = []
    for place in (CPU, machine.place):
        with precision("float32", place):
            samples.append([work(place, machine.small, seed) for seed in seeds])
    return seed_difference(result, *samples)


def tasks(machine: Machine) -> dict[str, Callable[[], SeedDifference]]:
    """Return the comparison of each training by name of the row."""
    return {f"seeds: {name}": partial(row, name, machine) for name in TRAININGS}


def smallest_p(rows: dict[str, Any]) -> float:
    """Return the smallest p-value, times the number of rows, at most 1 (Bonferroni); nan without.

    Args:
        rows: rows of a run by name; those that are no `SeedDifference` are left out.
    """
    values = [item.p for item in rows.values() if isinstance(item, SeedDifference)]
    return min(1.0, len(values) * min(values)) if values else math.nan


def _updates(small: bool) -> int:
    return 3 if small else 60


def _gates(place: str, small: bool, seed: int) -> float:
    settings = TinySettings(updates=_updates(small), length=8, seed=seed)
    return float(train_tiny(settings, device=place).accuracy[-1])


def _recall(place: str, small: bool, seed: int) -> float:
    settings = RecallSettings(delay=5, cells=("lstm",), updates=_updates(small), seed=seed)
    return float(compare(settings, device=place).loss[-1, -1])


def _order(place: str, small: bool, seed: int) -> float:
    settings = OrderSettings(
        length=6, encodings=("learned",), updates=_updates(small) // 3, runs=1, seed=seed
    )
    return float(train(settings, device=place).test.mean[0])


def _stacks(place: str, small: bool, seed: int) -> float:
    settings = StackSettings(blocks=2, updates=_updates(small) // 3, warm_up=5, runs=1, seed=seed)
    return float(np.ravel(train_stacks(settings, device=place).loss)[-1])


def _pair(place: str, small: bool, seed: int) -> float:
    settings = PairSettings(seed=seed, updates=_updates(small) // 3)
    return float(train_pair(settings, device=place).loss[-1, 0])


def _network(place: str, small: bool, seed: int) -> float:
    settings = NetworkSettings("lstm", 4, epochs=_updates(small), train=0.7, seed=seed)
    return float(fit_network(replicate_paths(0.8, 200, 2)[0], settings, device=place).train_mse)


TRAININGS: dict[str, tuple[str, Callable[[str, bool, int], float]]] = {
    "gates, LSTM": ("accuracy", _gates),
    "recall, LSTM": ("loss", _recall),
    "order of letters": ("accuracy", _order),
    "stacks of blocks": ("loss", _stacks),
    "encoder and decoder": ("loss", _pair),
    "AR network, LSTM": ("mean squared error", _network),
}
