"""How often taggers are wrong on sentences that are held out, by wiring, seed and true tag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.tagging.letters import TAGS, WIRINGS

_Z95 = 1.959963984540054  # the 0.975 quantile of the normal distribution
_T95 = {2: 12.7062, 3: 4.30265, 4: 3.18245, 5: 2.77645}  # Student's t, 0.975, by how many seeds


class Estimate(NamedTuple):
    """Per 100 letters, with the 95 % intervals over sentences and over seeds (nan of one seed)."""

    value: float
    sentences: tuple[float, float]
    seeds: tuple[float, float]

    @property
    def clear(self) -> bool:
        """Whether neither interval holds zero."""
        ends = (self.sentences, self.seeds)
        return all(low > 0 or high < 0 for low, high in ends if not np.isnan(low))


@dataclass(frozen=True)
class Compared:
    """Wrong tags of the held-out sentences.

    letters: with a tag, by true tag (`TAGS`) and sentence. wrong: of each wiring
    (`WIRINGS`). majority: wrong when every letter gets the commonest tag; alone: when each gets
    the commonest tag of its own symbol. ahead: how many signs the backward cell of "bi" reads at
    most; cut: wrong then. widths: units of a layer in a direction. seconds: of a processor core,
    for one training.
    """

    task: str
    letters: Int[np.ndarray, "tag sentence"]
    wrong: Int[np.ndarray, "wiring seed tag sentence"]
    majority: Int[np.ndarray, "tag sentence"]
    alone: Int[np.ndarray, "tag sentence"]
    ahead: Int[np.ndarray, "ahead"]
    cut: Int[np.ndarray, "ahead seed tag sentence"]
    widths: Int[np.ndarray, "wiring"]
    parameters: Int[np.ndarray, "wiring"]
    seconds: Float[np.ndarray, "wiring seed"]

    @property
    def sentences(self) -> int:
        """That were held out."""
        return self.letters.shape[1]

    @property
    def seeds(self) -> int:
        """Trainings of each network."""
        return self.wrong.shape[1]

    def many(self, tag: str | None = None) -> int:
        """Letters with this true tag, or with any."""
        return int(self._of(self.letters, tag).sum())

    def error(self, wiring: str, tag: str | None = None) -> Estimate:
        """Of 100 letters with this true tag, how many a network tags wrongly."""
        return self._estimate(self.wrong[WIRINGS.index(wiring)], tag)

    def by_seed(self, wiring: str, tag: str | None = None) -> Float[np.ndarray, "seed"]:
        """The same, of each seed."""
        return self._by_seed(self.wrong[WIRINGS.index(wiring)], tag)

    def better(self, wiring: str, than: str = "uni", tag: str | None = None) -> Estimate:
        """How many fewer a network tags wrongly than another one, on the same letters."""
        one, other = (self.wrong[WIRINGS.index(name)] for name in (wiring, than))
        return self._estimate(other - one, tag)

    def error_cut(self, ahead: int, tag: str | None = None) -> Estimate:
        """Of "bi", when its backward cell reads no more than so many signs ahead."""
        return self._estimate(self.cut[self.ahead.tolist().index(ahead)], tag)

    def beyond(self, ahead: int) -> Estimate:
        """How many more are wrong than with all that stands to the right."""
        return self._estimate(self.cut[self.ahead.tolist().index(ahead)] - self.wrong[2], None)

    def baseline(self, name: str, tag: str | None = None) -> float:
        """Of 100 letters, how many "majority" or "alone" gets wrong."""
        wrong = self._of(getattr(self, name), tag)
        return 100 * float(wrong.sum()) / self.many(tag)

    def _of(self, counts: np.ndarray, tag: str | None) -> np.ndarray:
        """[..., sentence]: of one true tag, or of all together."""
        found: np.ndarray = counts.sum(-2) if tag is None else counts[..., TAGS.index(tag), :]
        return found

    def _by_seed(self, counts: np.ndarray, tag: str | None) -> np.ndarray:
        found: np.ndarray = 100 * self._of(counts, tag).sum(-1) / self.many(tag)
        return found

    def _estimate(self, counts: np.ndarray, tag: str | None) -> Estimate:
        """A ratio of sums: its variance over sentences is that of the residuals (Cochran 1977)."""
        each = self._of(counts, tag).mean(0)
        letters = self._of(self.letters, tag)
        value = float(each.sum() / letters.sum())
        n = int((letters > 0).sum())
        left = each - value * letters
        half = _Z95 * float(np.sqrt((left**2).sum() * n / max(n - 1, 1)) / letters.sum())
        seeds = self._by_seed(counts, tag)
        several = len(seeds) > 1
        spread = seeds.std(ddof=1) / np.sqrt(len(seeds)) if several else np.nan
        off = _T95.get(len(seeds), _Z95) * float(spread)
        value *= 100
        return Estimate(value, (value - 100 * half, value + 100 * half), (value - off, value + off))
