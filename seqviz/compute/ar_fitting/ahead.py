"""Multi-step forecast errors of a trained network, a line, the true rule and the mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.ar_fitting.forecasting import iterate
from seqviz.compute.ar_fitting.networks import AHEAD, NetworkFit
from seqviz.compute.ar_fitting.nonlinear import Rule
from seqviz.compute.ar_fitting.process import Coefficients, as_coefficients, read_only
from seqviz.core.units import Count
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class AheadErrors:
    """Mean squared errors 1 ... H steps ahead from common origins; arrays of shape (step,).

    Attributes:
        network: errors of the network with its own forecasts fed back.
        line: errors of the line, likewise.
        rule: errors of the true rule without its noise, likewise.
        level: errors of the mean of the training values, which is the forecast at every step.
        origins: number of origins.
    """

    network: Float[np.ndarray, "step"]
    line: Float[np.ndarray, "step"]
    rule: Float[np.ndarray, "step"]
    level: Float[np.ndarray, "step"]
    origins: int

    @property
    def useful(self) -> Count:
        """Number of steps, from the first on, for which the network is better than the mean."""
        worse = self.network >= self.level
        return float(np.argmax(worse) if worse.any() else worse.size)

    def ends(self) -> Facts:
        """State the errors at the first and the last step, and where the network is useful."""
        steps, useful = len(self.network), int(self.useful)
        start = max(useful, 1)
        return Facts(
            "all" if useful == steps else {0: "none", 1: "one"}.get(useful, "some"),
            steps=steps, origins=self.origins, useful=useful, rest=steps - start,
            later=int((self.network < self.level)[start:].sum()), first=float(self.network[0]),
            last=float(self.network[-1]), rule=float(self.rule[-1]), line=float(self.line[-1]),
            level=float(self.level[-1]),
        )  # fmt: skip


def errors_ahead(
    done: NetworkFit, line: Coefficients, intercept: float, rule: Rule | Coefficients
) -> AheadErrors:
    """Compare a network with a line and the true rule over its own origins.

    A series counts as 0 before its first value, as in `simulate`.

    Args:
        done: the trained network.
        line: coefficients of the least squares fit.
        intercept: its intercept.
        rule: the true process, as a `Rule` or as coefficients.

    Raises:
        ValueError: if there is no origin.
    """
    if not done.origins.size:
        raise ValueError("The series is too short to forecast so far ahead.")
    values = np.concatenate(([0.0], done.targets))  # the first value is only an input
    true = (
        _of_rule(rule, values, done.origins)
        if isinstance(rule, Rule)
        else _of_line(rule, 0.0, values, done.origins)
    )
    straight = _of_line(line, intercept, values, done.origins)
    mean = np.full_like(true, done.targets[: done.train_end].mean())
    arrivals = done.observed()
    network, best, truth, level = (
        read_only(((arrivals - created) ** 2).mean(axis=0))
        for created in (done.ahead, straight, true, mean)
    )
    return AheadErrors(network, best, truth, level, done.origins.size)


def _of_rule(
    rule: Rule, values: Float[np.ndarray, "time"], origins: Int[np.ndarray, "origin"]
) -> Float[np.ndarray, "origin step"]:
    steps = [rule.next(values[origins])]
    while len(steps) < AHEAD:
        steps.append(rule.next(steps[-1]))
    return np.column_stack(steps)


def _of_line(
    coefficients: Coefficients,
    intercept: float,
    values: Float[np.ndarray, "time"],
    origins: Int[np.ndarray, "origin"],
) -> Float[np.ndarray, "origin step"]:
    phi = as_coefficients(coefficients)
    padded = np.concatenate((np.zeros(phi.size), values))
    newest_first = padded[origins[:, None] + phi.size - np.arange(phi.size)]
    return iterate(newest_first, phi, intercept, AHEAD)
