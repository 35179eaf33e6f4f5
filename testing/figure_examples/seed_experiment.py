"""Examples of figures of a number over seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seqviz.compute import replicates
from seqviz.compute.replicates import Replicates
from seqviz.figures.seed_experiment.distribution import distribution_over_seeds, kinds_over_seeds
from testing.figure_examples import Example


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    result, large, item = sample(30, 12), sample(300, 300), sample(1, 1)
    theory = replicates.normal(0.794, 0.027)
    share = replicates.share_of(0.3, 50)
    return (
        Example("seeds", distribution_over_seeds, (result, "φ̂", theory), result.estimate.mean),
        Example("seeds, many", distribution_over_seeds, (large, "φ̂", theory), large.estimate.mean),
        Example("seeds, first", distribution_over_seeds, (item, "φ̂", share), item.estimate.mean),
        Example("seeds, no theory", distribution_over_seeds, (result, "φ̂"), result.estimate.mean),
        Example("seeds, alike", distribution_over_seeds, (alike(), "φ̂"), 1.0),
        Example("kinds over seeds", kinds_over_seeds, (cells(), "%"), cells()["RNN"].estimate.mean),
        Example(
            "kinds, first", kinds_over_seeds, ({"A": item, "B": item}, "%"), item.estimate.mean
        ),
    )


def sample(count: int, students: int) -> Replicates:
    """Return normal values, the first of which belong to students."""
    seeds = np.arange(1, count + 1)
    values = np.random.RandomState(3).normal(0.794, 0.027, count)
    return Replicates(seeds, values, seeds <= students)


def cells() -> dict[str, Replicates]:
    """Return two numbers that hardly vary between seeds, and one that does."""
    result = sample(30, 12)
    spread = {"RNN": (25.0, 0.8), "LSTM": (100.0, 0.0), "GRU": (90.0, 12.0)}
    unit = (result.values - 0.794) / 0.027
    return {
        name: replace(result, values=np.minimum(mean + deviation * unit, 100.0))
        for name, (mean, deviation) in spread.items()
    }


def alike() -> Replicates:
    """Return a sample with the same value at every seed."""
    return Replicates(np.arange(1, 31), np.ones(30), np.zeros(30, bool))
