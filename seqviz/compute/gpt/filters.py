"""Logits processors as in transformers, in any order: temperature, top-k, top-p, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.gpt.draw import log_probabilities, order, probabilities

ORDER = ("penalty", "temperature", "top_k", "top_p", "min_p", "typical")  # order of transformers
Scores = Float[np.ndarray, "vocabulary"]


@dataclass(frozen=True)
class Chain:
    """Chain of logits processors; each is off at its default.

    Attributes:
        penalty: repetition penalty; positive scores of tokens seen before are divided by it,
            negative ones multiplied (Keskar et al., 2019).
        temperature: divisor of the scores.
        top_k: number of highest scores kept, and ties with the last of them; 0 keeps all.
        top_p: nucleus; keeps the fewest likeliest tokens with at least this total probability
            (Holtzman et al., 2020).
        min_p: keeps tokens with at least this share of the highest probability (Nguyen et al.,
            2024).
        typical: keeps the fewest tokens with this total probability whose surprisal is nearest to
            the entropy (Meister et al., 2022).
        order: names of `ORDER`, each at most once; a filter left out is not applied.

    Raises:
        ValueError: a value is out of its range, or the order has an unknown or repeated name.
    """

    penalty: float = 1.0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    typical: float = 1.0
    order: tuple[str, ...] = ORDER

    def __post_init__(self) -> None:
        if len(set(self.order)) < len(self.order) or not set(self.order) <= set(ORDER):
            raise ValueError(f"The order names some of {', '.join(ORDER)}, each once.")
        if min(self.penalty, self.temperature) <= 0 or self.top_k < 0:
            raise ValueError("A penalty and a temperature are positive, and top-k is not negative.")
        if not all(0 <= part <= 1 for part in (self.top_p, self.min_p, self.typical)):
            raise ValueError("Top-p, min-p and typical are shares from 0 to 1.")

    def __call__(self, scores: Scores, ids: Sequence[int]) -> Scores:
        """Return the scores after all filters; -inf where a token is removed.

        Args:
            scores: scores of the vocabulary.
            ids: tokens of the prompt and the text so far.
        """
        stages = self.stages(scores, ids)
        return stages[-1][1] if stages else scores.astype(float)

    def stages(self, scores: Scores, ids: Sequence[int]) -> tuple[tuple[str, Scores], ...]:
        """Return the name of each active filter, in order, and the scores after it.

        Args:
            scores: scores of the vocabulary.
            ids: tokens of the prompt and the text so far.
        """
        now, result = scores.astype(float), []
        for name in self.order:
            if getattr(self, name) != getattr(_OFF, name):
                now = self._by(name, now, ids)
                result.append((name, now))
        return tuple(result)

    def _by(self, name: str, scores: Scores, ids: Sequence[int]) -> Scores:
        if name == "penalty":
            return penalized(scores, ids, self.penalty)
        if name == "temperature":
            return scores / self.temperature
        retained = {
            "top_k": lambda: scores >= np.sort(scores)[-min(self.top_k, len(scores))],
            "top_p": lambda: _nucleus(scores, self.top_p),
            "min_p": lambda: _at_least(scores, self.min_p),
            "typical": lambda: _typical(scores, self.typical),
        }[name]()
        return np.where(retained, scores, -np.inf)


_OFF = Chain()


def penalized(scores: Scores, ids: Sequence[int], penalty: float) -> Scores:
    """Return the scores with the repetition penalty, once for each distinct token of `ids`.

    Args:
        scores: scores of the vocabulary.
        ids: tokens seen before.
        penalty: see `Chain`.
    """
    observed = np.unique(np.asarray(ids, int))
    changed, old = scores.copy(), scores[observed]
    changed[observed] = np.where(old < 0, old * penalty, old / penalty)
    return changed


def count_kept(scores: Scores) -> int:
    """Return the number of tokens that are not removed."""
    return int(np.isfinite(scores).sum())


def _nucleus(scores: Scores, mass: float) -> np.ndarray:
    ranked = order(scores)
    likely = probabilities(scores)[ranked]
    retained = np.zeros(len(scores), bool)
    retained[ranked[np.cumsum(likely) - likely < mass]] = True
    retained[ranked[0]] = True
    return retained


def _at_least(scores: Scores, share: float) -> np.ndarray:
    likely = probabilities(scores)
    return np.asarray(likely >= share * likely.max())


def _typical(scores: Scores, mass: float) -> np.ndarray:
    logs = log_probabilities(scores)
    likely = np.exp(logs)
    expected = -(likely * np.where(likely > 0, logs, 0.0)).sum()
    far = np.abs(-logs - expected)
    nearest = np.argsort(far, kind="stable")
    last = min(int((np.cumsum(likely[nearest]) < mass).sum()), len(scores) - 1)
    return np.asarray(far <= far[nearest[last]])
