"""Hyper-parameter search over two parameters: grid, random and Bayesian."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.bert_accuracy.results import METHODS

RATES = (1e-5, 1.0)  # smallest and largest learning rate
BATCHES = (16, 32, 64)
STARTUP = 4  # random trials at the start of Bayesian search


class SearchTrials(NamedTuple):
    """Trials of a search in order, with their values."""

    rate: Float[np.ndarray, "trial"]
    batch: Int[np.ndarray, "trial"]
    value: Float[np.ndarray, "trial"]


def propose(
    method: str,
    budget: int,
    seed: int,
    evaluate: Callable[[float, int], float],
    each: Callable[[SearchTrials], None] | None = None,
) -> SearchTrials:
    """Search for the learning rate and the batch size with the highest value.

    The same seed gives the same trials (of "bayes": with the same version of optuna).

    Args:
        method: "grid": every batch size with budget // 3 rates, evenly on the log scale from 1e-5
            to 1, ends included (a single rate is the middle, 0.0032); it may leave one or two
            trials of the budget. "random": rates uniform on the log scale (Bergstra and Bengio
            2012); a larger budget continues a smaller one. "bayes": optuna's tree-structured Parzen
            estimator (Bergstra et al. 2011), which draws near good trials, after 4 random ones.
        budget: maximum number of trials.
        seed: seed of the trials; not used by "grid".
        evaluate: function of rate and batch size that returns the value.
        each: called after every trial with all trials so far; may raise to end the search.

    Raises:
        ValueError: unknown method, or a budget below 3.
    """
    if method not in METHODS:
        raise ValueError(f"The method must be one of {', '.join(METHODS)}, not {method!r}.")
    if budget < len(BATCHES):
        raise ValueError(f"A search needs {len(BATCHES)} trials or more, not {budget}.")
    tried: list[tuple[float, int, float]] = []

    def attempt(rate: float, batch: int) -> float:
        value = float(evaluate(rate, batch))
        tried.append((rate, batch, value))
        if each is not None:
            each(_trials(tried))
        return value

    if method == "bayes":
        _bayes(budget, seed, attempt)
    else:
        for rate, batch in grid(budget) if method == "grid" else scattered(budget, seed):
            attempt(rate, batch)
    return _trials(tried)


def grid(budget: int) -> list[tuple[float, int]]:
    """Return the points (rate, batch) of the largest grid within the budget, rate by rate."""
    number = budget // len(BATCHES)
    low, high = np.log10(RATES)
    exponents = np.linspace(low, high, number) if number > 1 else [(low + high) / 2]
    return [(float(10**exponent), batch) for exponent in exponents for batch in BATCHES]


def scattered(budget: int, seed: int) -> list[tuple[float, int]]:
    """Return random points (rate, batch), rates uniform on the log scale.

    Args:
        budget: number of points.
        seed: seed of the points.
    """
    draws = np.random.RandomState(seed).rand(budget, 2)  # row by row: a longer list extends it
    low, high = np.log10(RATES)
    rates = 10 ** (low + (high - low) * draws[:, 0])
    batches = (draws[:, 1] * len(BATCHES)).astype(int)
    return [(float(rate), BATCHES[batch]) for rate, batch in zip(rates, batches, strict=True)]


def _bayes(budget: int, seed: int, attempt: Callable[[float, int], float]) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for _ in range(budget):
        trial = study.ask()
        rate = trial.suggest_float("rate", *RATES, log=True)
        study.tell(trial, attempt(rate, trial.suggest_categorical("batch", BATCHES)))


def _trials(tried: list[tuple[float, int, float]]) -> SearchTrials:
    rate, batch, value = zip(*tried, strict=True)
    return SearchTrials(np.array(rate), np.array(batch), np.array(value))
