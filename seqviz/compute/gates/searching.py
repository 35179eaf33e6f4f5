"""Search for a unit that follows a property of texts: permutation test and a second text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gates import activations
from seqviz.compute.gates.activations import correlation, feature
from seqviz.compute.gates.observation import Observation
from seqviz.core.units import Share

FEATURES = tuple(name for name in activations.FEATURES if name != "position")
BEYOND = 0.05  # significance level of both tests; a share from here on is chance


@dataclass(frozen=True)
class UnitSearch:
    """Correlations of all units with a property of the text, on two texts.

    Attributes:
        first: observation of the text on which the unit is searched.
        second: observation of the other text.
        name: the property, one of `activations.FEATURES`.
        correlation: Pearson's r on the first text.
        scored: Pearson's r on the second text.
        best: null of the search: largest |r| of any unit per circular shift of the property along
            the first text.
        alone: |r| of the unit that was found, per circular shift along the second text.
        varies: True where the property varies, on the first and on the second text; where it does
            not, every r is 0.
    """

    first: Observation
    second: Observation
    name: str
    correlation: Float[np.ndarray, "hidden"]
    scored: Float[np.ndarray, "hidden"]
    best: Float[np.ndarray, "shift"]
    alone: Float[np.ndarray, "shift_2"]
    varies: tuple[bool, bool]

    @property
    def order(self) -> Int[np.ndarray, "hidden"]:
        """Units, from 0, by |r| on the first text."""
        return np.argsort(-np.abs(self.correlation), kind="stable")

    @property
    def unit(self) -> int:
        """Number of the unit that was found, from 1."""
        return int(self.order[0]) + 1

    @property
    def r_found(self) -> float:
        """Correlation of that unit on the first text."""
        return float(self.correlation[self.unit - 1])

    @property
    def r_scored(self) -> float:
        """Correlation of that unit on the second text."""
        return float(self.scored[self.unit - 1])

    @property
    def by_chance(self) -> Share:
        """Share of shifts at which some unit does as well as the one that was found."""
        return _as_good(self.best, self.r_found)

    @property
    def alone_by_chance(self) -> Share:
        """Share of shifts at which that unit does as well on the second text."""
        return _as_good(self.alone, self.r_scored)

    @property
    def median_best(self) -> float:
        """Median of `best`."""
        return float(np.median(self.best)) if self.best.size else 0.0

    @property
    def verdict(self) -> str:
        """Result of the search: "constant", "chance", "lost" or "holds".

        "chance": a search may find such an r by chance; "lost": not on the second text, or with the
        other sign.
        """
        if not all(self.varies):
            return "constant"
        if self.by_chance >= BEYOND:
            return "chance"
        same = self.r_found * self.r_scored > 0 and self.alone_by_chance < BEYOND
        return "holds" if same else "lost"


def comes_back(name: str, pieces: Sequence[str]) -> bool:
    """Return True where a property falls again within a text.

    A property that only grows, such as the position, becomes two ramps under a circular shift;
    shifts then do not show what a search finds by chance.

    Args:
        name: one of `activations.FEATURES`.
        pieces: symbols of the text.
    """
    return bool((np.diff(feature(name, pieces)) < 0).any())


def search(first: Observation, second: Observation, name: str) -> UnitSearch:
    """Find the unit that follows a property best on one text, and score it on another.

    The null is that of circular shifts: the property keeps its runs and its frequency, but not its
    place.

    Args:
        first: observation of the text to search on.
        second: observation of the other text, by the same network and of the same gate or state.
        name: the property, one of `activations.FEATURES`.

    Raises:
        ValueError: the observations are of two networks or two gates.
    """
    if (first.network, first.symbol) != (second.network, second.symbol):
        raise ValueError("Both texts are read by one network, and one gate or state is compared.")
    given, other = (feature(name, item.pieces) for item in (first, second))
    result, scored = correlation(first.values, given), correlation(second.values, other)
    unit = int(np.argsort(-np.abs(result), kind="stable")[0])
    shifted = np.abs(_shifted(first.values, given))
    alone = np.abs(_shifted(second.values[:, [unit]], other))
    varies = bool(np.ptp(given) > 0), bool(np.ptp(other) > 0)
    return UnitSearch(
        first, second, name, result, scored, shifted.max(axis=1, initial=0), alone[:, 0], varies
    )


def _shifted(
    values: Float[np.ndarray, "time units"], given: Float[np.ndarray, "time"]
) -> Float[np.ndarray, "shift units"]:
    """Return Pearson's r of each unit with the property rotated by 1, 2, ... steps."""
    steps = len(given)
    around = (np.arange(steps)[None, :] - np.arange(1, max(steps, 1))[:, None]) % max(steps, 1)
    a = (values - values.mean(axis=0)).astype(float)
    b = given - given.mean()
    scale = np.sqrt((a**2).sum(axis=0) * (b**2).sum())
    return np.where(scale > 0, b[around] @ a / np.where(scale > 0, scale, 1), 0.0)


def _as_good(null: Float[np.ndarray, "shift"], r: float) -> float:
    """Return the share of shifts that reach |r|; the observed place counts, so it is never 0."""
    return float((1 + (null >= abs(r) - 1e-12).sum()) / (1 + len(null)))
