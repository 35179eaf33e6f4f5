"""How often taggers are wrong on sentences that are held out, by wiring, seed and true tag."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.recurrent.tagging.letters import TAGS, WIRINGS
from seqviz.core.units import Share
from seqviz.stats.estimate import Estimate, mean_ci, ratio_ci
from seqviz.stats.facts import Facts


class ErrorRate(NamedTuple):
    """Per 100 letters: estimates over sentences and over seeds (nan ends of one seed)."""

    sentences: Estimate
    seeds: Estimate

    @property
    def value(self) -> float:
        """The value that both estimate."""
        return float(self.sentences.mean)

    @property
    def verdict(self) -> str:
        """ "more" or "less" where neither interval holds zero, else "null"."""
        one_seed = np.isnan(self.seeds.low)
        clear = one_seed or self.seeds.is_significant
        return self.sentences.verdict if clear else "null"

    def __abs__(self) -> ErrorRate:
        """Return a difference without its sign."""
        return ErrorRate(abs(self.sentences), abs(self.seeds))


@dataclass(frozen=True)
class LetterCounts:
    """Letters of the held-out sentences that have a tag, by true tag (`TAGS`) and sentence."""

    task: str
    letters: Int[np.ndarray, "tag sentence"]

    @property
    def sentences(self) -> int:
        """That were held out."""
        return self.letters.shape[1]

    def many(self, tag: str | None = None) -> int:
        """Letters with this true tag, or with any."""
        return int(self._of(self.letters, tag).sum())

    def _of(self, counts: np.ndarray, tag: str | None) -> np.ndarray:
        """[..., sentence]: of one true tag, or of all together."""
        values: np.ndarray = counts.sum(-2) if tag is None else counts[..., TAGS.index(tag), :]
        return values

    def _by_seed(self, counts: np.ndarray, tag: str | None) -> np.ndarray:
        values: np.ndarray = 100 * self._of(counts, tag).sum(-1) / self.many(tag)
        return values

    def _estimate(self, counts: np.ndarray, tag: str | None) -> ErrorRate:
        """Over sentences as a ratio of sums, over seeds by Student's t."""
        each, letters = self._of(counts, tag).mean(0), self._of(self.letters, tag)
        return ErrorRate(100 * ratio_ci(each, letters, source="sentences"),
                         mean_ci(self._by_seed(counts, tag), source="seeds"))  # fmt: skip


@dataclass(frozen=True)
class Compared(LetterCounts):
    """Wrong tags of the held-out sentences.

    wrong: of each wiring (`WIRINGS`). majority: wrong when every letter gets the commonest tag;
    alone: when each gets the commonest tag of its own symbol. ahead: how many signs the backward
    cell of "bi" reads at most; cut: wrong then, though it was trained with all. widths: units of a
    layer in a direction. seconds: of a processor core, for one training.
    """

    wrong: Int[np.ndarray, "wiring seed tag sentence"]
    majority: Int[np.ndarray, "tag sentence"]
    alone: Int[np.ndarray, "tag sentence"]
    ahead: Int[np.ndarray, "ahead"]
    cut: Int[np.ndarray, "ahead seed tag sentence"]
    widths: Int[np.ndarray, "wiring"]
    parameters: Int[np.ndarray, "wiring"]
    seconds: Float[np.ndarray, "wiring seed"]

    @property
    def seeds(self) -> int:
        """Trainings of each network."""
        return self.wrong.shape[1]

    def of_first(self, seeds: int) -> Compared:
        """The same of the first so many seeds."""
        return replace(self, wrong=self.wrong[:, :seeds], cut=self.cut[:, :seeds],
                       seconds=self.seconds[:, :seeds])  # fmt: skip

    def error(self, wiring: str, tag: str | None = None) -> ErrorRate:
        """Of 100 letters with this true tag, how many a network tags wrongly."""
        return self._estimate(self.wrong[WIRINGS.index(wiring)], tag)

    def by_seed(self, wiring: str, tag: str | None = None) -> Float[np.ndarray, "seed"]:
        """The same, of each seed."""
        return self._by_seed(self.wrong[WIRINGS.index(wiring)], tag)

    def better(self, wiring: str, than: str = "uni", tag: str | None = None) -> ErrorRate:
        """How many fewer a network tags wrongly than another one, on the same letters."""
        item, other = (self.wrong[WIRINGS.index(name)] for name in (wiring, than))
        return self._estimate(other - item, tag)

    def error_cut(self, ahead: int, tag: str | None = None) -> ErrorRate:
        """Of "bi", when its backward cell reads no more than so many signs ahead."""
        return self._estimate(self.cut[self.ahead.tolist().index(ahead)], tag)

    def baseline(self, name: str, tag: str | None = None) -> float:
        """Of 100 letters, how many "majority" or "alone" gets wrong."""
        wrong = self._of(getattr(self, name), tag)
        return 100 * float(wrong.sum()) / self.many(tag)

    def errors(self) -> Facts:
        """State how many of 100 letters every network and both guesses get wrong."""
        wirings = {wiring: self.error(wiring).value for wiring in WIRINGS}
        return Facts(**wirings, alone=self.baseline("alone"), majority=self.baseline("majority"),
                     sentences=self.sentences, seeds=self.seeds)  # fmt: skip

    def gain(self, wiring: str) -> Facts:
        """State how many fewer letters a network tags wrongly than "uni"."""
        gap = self.better(wiring)
        return Facts(
            gap.verdict, wrong=self.error(wiring).value, uni=self.error("uni").value,
            difference=gap if gap.verdict == "null" else abs(gap), sentences=self.sentences,
            seeds=self.seeds,
        )  # fmt: skip

    def by_tag(self, tag: str) -> Facts:
        """State what both directions change on letters with this true tag."""
        return Facts(
            self.better("bi", "uni", tag).verdict, uni=self.error("uni", tag).value,
            bi=self.error("bi", tag).value, many=self.many(tag),
        )  # fmt: skip

    def sizes(self) -> Facts:
        """State parameters and units of every network, and the seconds of one training."""
        units = zip(WIRINGS, self.parameters.tolist(), self.widths.tolist(), strict=True)
        sizes = {f"{name}_{key}": n for name, *both in units
                 for key, n in zip(("size", "units"), both, strict=True)}  # fmt: skip
        return Facts(**sizes, least=self.seconds.min(), most=self.seconds.max())


@dataclass(frozen=True)
class TrainedAhead(LetterCounts):
    """Wrong tags of networks of both directions that learned with so many signs ahead.

    ahead: how many the backward cell reads at most, in training as in use. wrong: then; of the
    seeds that `Compared` begins with. seconds: of a processor core, for one training.
    """

    ahead: Int[np.ndarray, "ahead"]
    wrong: Int[np.ndarray, "ahead seed tag sentence"]
    seconds: Float[np.ndarray, "ahead seed"]

    @property
    def seeds(self) -> int:
        """Trainings of each network."""
        return self.wrong.shape[1]

    def error(self, ahead: int) -> ErrorRate:
        """Of 100 letters, how many a network tags wrongly."""
        return self._estimate(self._at(ahead), None)

    def by_seed(self, ahead: int) -> Float[np.ndarray, "seed"]:
        """The same, of each seed."""
        return self._by_seed(self._at(ahead), None)

    def beyond(self, ahead: int, compared: Compared) -> ErrorRate:
        """How many more are wrong than with all that stands to the right; of the same seeds."""
        return self._estimate(self._at(ahead) - compared.wrong[2], None)

    def gained(self, ahead: int, compared: Compared) -> Share:
        """What so many signs bring, of all that the right side brings; of the same seeds."""
        none, some = (self._at(item).sum() for item in (0, ahead))
        return float((none - some) / (none - compared.wrong[2].sum()))

    def reach(self, ahead: int, compared: Compared) -> Facts:
        """State what so many signs ahead give, in training or only in use; of the same seeds."""
        more, wrong = self.beyond(ahead, compared), self.error(ahead).value
        cut = compared.error_cut(ahead).value
        return Facts(
            more.verdict, ahead=ahead, seeds=self.seeds, wrong=wrong, difference=abs(more), cut=cut,
            apart=cut - wrong, bi=compared.error("bi").value, uni=compared.error("uni").value,
            none=self.error(0).value, share=self.gained(ahead, compared),
        )  # fmt: skip

    def _at(self, ahead: int) -> np.ndarray:
        values: np.ndarray = self.wrong[self.ahead.tolist().index(ahead)]
        return values
